"""Gradients limited in size: faces of the library's rules (taeda/nn/clip_rules.h)."""

import types

from ... import _C
from ..._core.warnings import warn


def _listed(tensors):
    return [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The p-norm over all elements of all tensors, a 0-d tensor on the first one's device."""
    return _C._optim.norm_of_all(_listed(tensors), float(norm_type), error_if_nonfinite)


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales gradients whose norm is known so that it becomes max_norm at most."""
    _C._optim.scale_gradients(_listed(parameters), float(max_norm), total_norm)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients so that their norm becomes max_norm at most; returns what it was, a 0-d tensor."""
    params = _listed(parameters)
    if not params and isinstance(parameters, types.GeneratorType):
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    return _C._optim.clip_gradients(params, float(max_norm), float(norm_type), error_if_nonfinite)


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    warn("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
         FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits every element of the gradients to [-clip_value, clip_value]."""
    _C._optim.clip_grad_value_(_listed(parameters), float(clip_value))
