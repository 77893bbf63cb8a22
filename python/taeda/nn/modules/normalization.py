"""Normalization over layers, groups and neighbours."""

import numbers

from ... import _C
from .. import functional as F
from .. import init
from ..._tensors.parameter import Parameter
from .module import Module

_layer_norm, _rms_norm = F.layer_norm, F.rms_norm  # others, if a program puts them there, are called


class LocalResponseNorm(Module):
    """x / (k + alpha / size * sum of squares over `size` neighbouring channels)^beta (Krizhevsky et al. 2012).

    size: how many channels count as neighbours
    alpha, beta, k: 1e-4, 0.75 and 1 unless given

    Shapes: input [N, C, *] of three dimensions or more, which the result has; fewer are a ValueError.

    >>> nn.LocalResponseNorm(2)(torch.randn(2, 4, 8)).shape
    torch.Size([2, 4, 8])
    """

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm of images, under an old name.

    size: how many channels count as neighbours
    alpha, beta, k: 1e-4, 0.75 and 1 unless given

    Shapes: input [N, C, H, W], which the result has.

    >>> nn.CrossMapLRN2d(2)(torch.randn(2, 4, 8, 8)).shape
    torch.Size([2, 4, 8, 8])
    """

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__(size, alpha, beta, k)


def _shape(given):
    return (given,) if isinstance(given, numbers.Integral) else tuple(given)


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias, each sample by itself over the last dimensions, with the biased variance
    (Ba et al. 2016, arXiv:1607.06450).

    normalized_shape: sizes of these dimensions; an int is one of them
    eps: 1e-5 unless given
    elementwise_affine: whether weight and bias are there; True unless given
    bias: whether a bias is there; True unless given

    Shapes: input [*, normalized_shape], which the result has; `weight` (ones) and `bias` (zeros) have normalized_shape.
    Other last dimensions are a RuntimeError.

    >>> nn.LayerNorm(2)(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]], grad_fn=<NativeLayerNormBackward0>)
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            self.register_parameter(name, Parameter(_C.empty(self.normalized_shape, device=device, dtype=dtype)) if wanted
                                    else None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        if F.layer_norm is not _layer_norm:
            return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)
        return _C.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions (Zhang and Sennrich 2019, arXiv:1910.07467).

    normalized_shape: sizes of these dimensions; an int is one of them
    eps: the machine epsilon of the input's dtype unless given
    elementwise_affine: whether weight is there; True unless given

    Shapes: input [*, normalized_shape], which the result has; `weight` (ones) has normalized_shape.

    >>> nn.RMSNorm(2)(torch.tensor([[3.0, 3.0]]))
    tensor([[1., 1.]], grad_fn=<RmsNormBackward0>)
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter("weight", Parameter(_C.empty(self.normalized_shape, device=device, dtype=dtype))
                                if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x):
        if F.rms_norm is not _rms_norm:
            return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)
        return _C.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over each group of channels of each sample (Wu and He 2018,
    arXiv:1803.08494).

    num_groups: how many groups; it divides num_channels, else ValueError
    num_channels: how many channels
    eps: 1e-5 unless given
    affine: whether weight and bias are there; True unless given
    bias: whether a bias is there; True unless given

    Shapes: input [N, num_channels, *], which the result has; `weight` (ones) and `bias` (zeros) [num_channels].

    >>> nn.GroupNorm(3, 6)(torch.randn(2, 6, 4)).shape
    torch.Size([2, 6, 4])
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(_C.empty(num_channels, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"
