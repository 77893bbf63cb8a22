"""Convolutions and linear maps with the batch norm behind them as one layer."""

import copy

from ... import _C
from ..._tensors.parameter import Parameter


def _fused(weight, bias, mean, variance, eps, scale, shift, dim):
    bias = _C.zeros_like(mean) if bias is None else bias
    scale = _C.ones_like(mean) if scale is None else scale
    shift = _C.zeros_like(mean) if shift is None else shift
    factor = scale * (variance + eps).rsqrt()
    shape = [1] * weight.dim()
    shape[dim] = -1
    return (Parameter((weight * factor.reshape(shape)).to(weight.dtype), weight.requires_grad),
            Parameter(((bias - mean) * factor + shift).to(bias.dtype), bias.requires_grad))


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of the convolution that does what a convolution and the batch norm behind it do.

    Shapes: conv_w [out, in, *] ([in, out, *] with transpose), which the weight has; all else [out] or None.

    >>> weight, bias = nn.utils.fusion.fuse_conv_bn_weights(
    ...     torch.ones(2, 1, 3), None, torch.zeros(2), torch.ones(2), 0.0, torch.full((2,), 2.0), torch.zeros(2))
    >>> weight.shape, bias
    (torch.Size([2, 1, 3]), Parameter containing:
    tensor([0., 0.]))
    """
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of the Linear that does what a Linear and the batch norm behind it do.

    Shapes: linear_w [out, in], which the weight has; all else [out] or None.

    >>> weight, bias = nn.utils.fusion.fuse_linear_bn_weights(
    ...     torch.ones(2, 1), None, torch.zeros(2), torch.ones(2), 0.0, torch.full((2,), 2.0), torch.zeros(2))
    >>> weight
    Parameter containing:
    tensor([[2.],
            [2.]])
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _fuse(layer, bn, dim):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Tracking running stats is required for fusion")
    made = copy.deepcopy(layer)
    made.weight, made.bias = _fused(made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, dim)
    return made


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that does what `conv` and `bn` do one after the other, both in the mode of evaluation, else AssertionError.

    Shapes: the convolution's.

    >>> conv, bn = nn.Conv2d(1, 2, 3).eval(), nn.BatchNorm2d(2).eval()
    >>> nn.utils.fuse_conv_bn_eval(conv, bn)(torch.ones(1, 1, 4, 4)).shape
    torch.Size([1, 2, 2, 2])
    """
    return _fuse(conv, bn, 1 if transpose else 0)


def fuse_linear_bn_eval(linear, bn):
    """A Linear that does what `linear` and `bn` do one after the other, both in the mode of evaluation, else AssertionError.

    Shapes: the Linear's.

    >>> nn.utils.fuse_linear_bn_eval(nn.Linear(3, 2).eval(), nn.BatchNorm1d(2).eval())(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fuse(linear, bn, 0)
