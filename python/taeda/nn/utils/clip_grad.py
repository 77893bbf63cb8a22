"""Gradients limited in size: faces of the library's rules (taeda/nn/clip_rules.h)."""

import types

from ... import _C
from ..._core.warnings import warn


def _listed(tensors):
    return [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The p-norm over all elements of all tensors, a scalar.

    tensors: a tensor or several
    norm_type: p; 2 unless given
    error_if_nonfinite: whether NaN or infinity is a RuntimeError; False unless given

    >>> nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    return _C._optim.norm_of_all(_listed(tensors), float(norm_type), error_if_nonfinite)


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales gradients whose norm is known, in place, so that it becomes max_norm at most.

    parameters: a tensor or several
    max_norm, total_norm: scalars

    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> nn.utils.clip_grads_with_norm_([w], 1.0, torch.tensor(5.0))
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    _C._optim.scale_gradients(_listed(parameters), float(max_norm), total_norm)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients together, in place, so that their norm becomes max_norm at most; returns what it was, a scalar.

    parameters: a tensor or several
    max_norm: a scalar
    norm_type: the norm's order; 2 unless given
    error_if_nonfinite: whether NaN or infinity is a RuntimeError; False unless given

    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> nn.utils.clip_grad_norm_([w], 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    params = _listed(parameters)
    if not params and isinstance(parameters, types.GeneratorType):
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    return _C._optim.clip_gradients(params, float(max_norm), float(norm_type), error_if_nonfinite)


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """clip_grad_norm_ under an old name, with a warning.

    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> nn.utils.clip_grad_norm([w], 1.0)
    tensor(5.)
    """
    warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
         FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits every element of the gradients to [-clip_value, clip_value], in place.

    parameters: a tensor or several
    clip_value: a scalar

    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, -0.5])
    >>> nn.utils.clip_grad_value_([w], 1.0)
    >>> w.grad
    tensor([ 1.0000, -0.5000])
    """
    _C._optim.clip_grad_value_(_listed(parameters), float(clip_value))
