"""Tensors that modules register."""

import collections

from .. import _C
from .._core.arguments import expect
from .._tensor import Tensor
from .pickles import state_of


class _Marked(type(Tensor)):
    """The type of a class to which tensors of other classes belong, too, if they bear its mark."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (isinstance(instance, Tensor) and getattr(instance, cls._mark, False))


class Parameter(Tensor, metaclass=_Marked):
    """A tensor that is a parameter of the module that it is assigned to.

    data: a tensor; an empty one unless given
    requires_grad: whether it gets a gradient; True unless given

    Shapes: the data's, whose memory it has.

    >>> nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __module__ = "torch.nn.parameter"
    __torch_function__ = _C._disabled_torch_function_impl
    _mark = "_is_param"

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _C.empty(0)
        if type(requires_grad) is not bool:
            expect("_make_subclass", "require_grad", 3, requires_grad, bool)
        if not isinstance(data, _C.TensorBase):
            raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach': a Parameter is made of a Tensor")
        if _C._has_torch_function_unary(data):  # stays of its class
            made = data.detach().requires_grad_(requires_grad)
            if type(made) is not type(data):
                raise RuntimeError(f"Creating a Parameter from an instance of type {type(data).__name__} requires that "
                                   f"detach() returns an instance of the same type, but return type {type(made).__name__} "
                                   "was found instead.")
            made._is_param = True
            return made
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
        state = state_of(self)
        arguments = self.data, self.requires_grad, collections.OrderedDict()
        return (_rebuild_parameter_with_state, (*arguments, state)) if state else (_rebuild_parameter, arguments)


_C._set_parameter_class(Parameter)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    made = _rebuild_parameter(data, requires_grad, backward_hooks)
    for name, value in (state if isinstance(state, dict) else state[0] or {}).items():
        setattr(made, name, value)
    return made


_rebuild_parameter.__module__ = _rebuild_parameter_with_state.__module__ = "taeda._utils"


class Buffer(Tensor, metaclass=_Marked):
    """A tensor that is a buffer of the module that it is assigned to: part of its state, and no parameter.

    data: a tensor; an empty one unless given
    persistent: whether state dicts have it; True unless given

    Shapes: the data's, whose memory it has.

    >>> nn.Buffer(torch.ones(2)).persistent
    True
    """

    __module__ = "torch.nn.parameter"
    _mark = "_is_buffer"

    def __new__(cls, data=None, *, persistent=True):
        made = (data if data is not None else _C.empty(0)).detach().requires_grad_(
            data.requires_grad if data is not None else False)
        made._is_buffer = True
        made.persistent = persistent
        return made


class _Uninitialized:
    """A tensor of a module that learns its shape from its first input."""

    # What may be asked of it: where it is, of which dtype, and to be elsewhere or of another.
    _ANSWERED = {"__hash__", "__repr__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char",
                 "short", "int", "long", "cuda", "cpu", "to", "get_device"}

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if type(func).__name__ == "method-wrapper" or name in cls._ANSWERED:
            return _C._disabled_torch_function_impl(func, types, args, kwargs)
        raise ValueError(f"Attempted to use an uninitialized parameter in {func}. A module that holds a torch.nn.parameter."
                         f"{cls.__name__} learns its shape from the first batch: call the module with one before anything "
                         "else is done with its parameters.")

    def materialize(self, shape, device=None, dtype=None):
        """Gives it a shape and memory; from then on it is as any other."""
        self.data = _C.empty(shape, device=device or self.data.device, dtype=dtype or self.data.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
                           "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
                           "`forward` to initialize the parameters before accessing their attributes.")

    def share_memory_(self):
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
                           "parameters before calling `module.share_memory()`.")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self.data.device, self.data.dtype)


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter without a shape yet."""

    __module__ = "torch.nn.parameter"
    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _C._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, *args, **kwargs):
        pass


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer without a shape yet."""

    __module__ = "torch.nn.parameter"
    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        made = _C._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made

    def __init__(self, *args, **kwargs):
        pass


def is_lazy(param):
    """Whether it has no shape yet."""
    return isinstance(param, _Uninitialized)
