"""Tensors that modules register."""

import collections

from .. import _C
from .._tensor import Tensor


class _ParameterType(type(Tensor)):
    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            isinstance(instance, Tensor) and getattr(instance, "_is_param", False))


class Parameter(Tensor, metaclass=_ParameterType):
    """A tensor that is a parameter of the module that it is assigned to. Requires a gradient unless told otherwise."""

    __module__ = "torch.nn.parameter"

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _C.empty(0)
        if not isinstance(data, _C.TensorBase):
            raise RuntimeError(f"Creating a Parameter from an instance of type {type(data).__name__} requires a Tensor")
        return _C._make_subclass(cls, data, requires_grad)

    def __init__(self, data=None, requires_grad=True):
        pass

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        from .._utils import _rebuild_parameter
        return _rebuild_parameter, (self.data, self.requires_grad, collections.OrderedDict())


class _BufferType(type(Tensor)):
    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (
            isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False))


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that is a buffer of the module that it is assigned to."""

    __module__ = "torch.nn.parameter"

    def __new__(cls, data=None, *, persistent=True):
        made = (data if data is not None else _C.empty(0)).detach().requires_grad_(
            data.requires_grad if data is not None else False)
        made._is_buffer = True
        made.persistent = persistent
        return made
