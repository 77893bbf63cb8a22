"""Gradients limited in size."""

import math
import types

from ... import _C
from ...autograd.modes import no_grad
from ..._core.warnings import warn


def _listed(tensors):
    return [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The p-norm over all elements of all tensors, a scalar.

    tensors: a tensor or several, of any shapes
    norm_type: p; 2 unless given
    error_if_nonfinite: whether NaN or infinity is a RuntimeError; False unless given

    >>> nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    tensors, norm_type = _listed(tensors), float(norm_type)
    if not tensors:
        return _C.zeros(())
    with no_grad():
        norms = [_C._linalg.vector_norm(t, norm_type).to(tensors[0].device) for t in tensors]
        total = _C._linalg.vector_norm(_C.stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot "
                           "be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                           "`error_if_nonfinite=False`")
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales gradients whose norm is known, in place, so that it becomes max_norm at most.

    parameters: a tensor or several, of any shapes
    max_norm, total_norm: scalars

    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, 4.0])
    >>> nn.utils.clip_grads_with_norm_([w], 1.0, torch.tensor(5.0))
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    with no_grad():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp_max(1.0)
        for param in _listed(parameters):
            if param.grad is not None:
                param.grad.mul_(factor.to(param.grad.device))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients together, in place, so that their norm becomes max_norm at most; returns what it was, a scalar.

    parameters: a tensor or several, of any shapes
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
    given = _listed(parameters)
    if not given and isinstance(parameters, types.GeneratorType):
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    params = [p for p in given if p.grad is not None]
    grads = [p.grad for p in params]
    if grads and all(type(g) is type(grads[0]) and g.dtype == _C.float32 and not g.is_sparse and g.device == grads[0].device
                     for g in grads) and grads[0].is_cpu and not error_if_nonfinite:
        return _C._tensor_from(_C._optim.clip_grad_norm_(params, float(max_norm), float(norm_type), False), _C.float32, None)
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(params, max_norm, total)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """clip_grad_norm_ under an old name, with a warning; tensors of any shapes.

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

    parameters: a tensor or several, of any shapes
    clip_value: a scalar

    >>> w = torch.zeros(2, requires_grad=True)
    >>> w.grad = torch.tensor([3.0, -0.5])
    >>> nn.utils.clip_grad_value_([w], 1.0)
    >>> w.grad
    tensor([ 1.0000, -0.5000])
    """
    limit = float(clip_value)
    with no_grad():
        for param in _listed(parameters):
            if param.grad is not None:
                param.grad.clamp_(-limit, limit)
