"""torch.overrides: classes that answer calls of functions in their place, by __torch_function__.

A subclass of Tensor has `Tensor.__torch_function__` unless it has its own: the function runs as for plain tensors, and
tensors among its results become objects of the subclass. A class that is no tensor may have one, too. Modes
(TorchFunctionMode) answer every call of their thread while they are entered.
"""

import contextlib
import functools
import inspect
import types

from .. import _C
from .._C import _has_torch_function as has_torch_function
from .._C import _has_torch_function_unary as has_torch_function_unary
from .._C import _has_torch_function_variadic as has_torch_function_variadic
from .._tensor import Tensor, unwrapped_results
from .._core.warnings import warn

__all__ = ["get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function",
           "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic", "resolve_name", "is_tensor_like",
           "is_tensor_method_or_property", "wrap_torch_function", "enable_reentrant_dispatch", "TorchFunctionMode",
           "get_default_nowrap_functions", "redispatch_function"]

_C._have_functions_look()

get_default_nowrap_functions = unwrapped_results


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """What the first of `relevant_args` that answers gives for public_api(*args, **kwargs); a TypeError if none does."""
    return _C._handle_torch_function(public_api, tuple(relevant_args), args, kwargs)


def is_tensor_like(inp):
    """Whether it is a Tensor or has a class with __torch_function__."""
    return type(inp) is Tensor or hasattr(type(inp), "__torch_function__")


def wrap_torch_function(dispatcher):
    """Has a function answered by overrides of the arguments that dispatcher(*args, **kwargs) returns."""
    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)
        return wrapped
    return inner


def redispatch_function(func, args=(), kwargs=None):
    """Calls a function as the next mode, or who comes after it, answers it."""
    return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def enable_reentrant_dispatch():
    """Nothing to do: functions may be called from any override."""
    yield


# Modes


class TorchFunctionMode:
    """`with Mode():` has its `__torch_function__(self, func, types, args, kwargs)` answer every call of a function.

    While it answers it is switched off, so that it may call the function, which then goes to the mode around it.
    """

    inner = None

    def __init__(self):
        pass

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _C._push_on_torch_function_stack(self)
        return self

    def __exit__(self, *error):
        _C._pop_torch_function_stack()

    @classmethod
    def push(cls, *args, **kwargs):
        """Makes a mode, by a former name."""
        warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`")
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode():
    count = _C._len_torch_function_stack()
    return _C._get_function_stack_at(count - 1) if count else None


def _get_current_function_mode_stack():
    return [_C._get_function_stack_at(i) for i in range(_C._len_torch_function_stack())]


def _is_torch_function_mode_enabled():
    return _C._len_torch_function_stack() > 0


# Which functions there are


def _namespaces():
    import taeda
    from .. import fft, functional, linalg, special
    from ..nn import functional as nn_functional
    return {"torch": taeda, "torch.functional": functional, "torch.nn.functional": nn_functional, "torch.linalg": linalg,
            "torch.fft": fft, "torch.special": special}


_NOT_OVERRIDDEN = """arange as_tensor asarray can_cast cat_out compile empty empty_strided eye fft_fftfreq frombuffer full
    from_dlpack from_numpy get_default_dtype get_default_device get_num_threads get_rng_state hamming_window hann_window
    bartlett_window blackman_window initial_seed is_grad_enabled is_inference_mode_enabled is_storage is_tensor kaiser_window
    linspace load logspace manual_seed ones promote_types rand randint randn randperm range save scalar_tensor seed
    set_default_dtype set_default_device set_num_threads set_printoptions set_rng_state sparse_coo_tensor tensor
    tril_indices triu_indices vmap zeros broadcast_shapes fftfreq rfftfreq is_autocast_enabled""".split()


def _is_function(value):
    return isinstance(value, (types.FunctionType, types.BuiltinFunctionType))


@functools.lru_cache(maxsize=None)
def get_ignored_functions():
    """Functions that no class can answer: they take no tensors."""
    found = {getattr(space, name) for space in _namespaces().values() for name in _NOT_OVERRIDDEN
             if _is_function(vars(space).get(name))}
    return found | {getattr(Tensor, name) for name in ("__new__", "__init__", "__init_subclass__", "as_subclass", "__hash__",
                                                       "__subclasshook__", "__getattribute__", "__setattr__", "__delattr__")}


@functools.lru_cache(maxsize=None)
def _overridable():
    listed, names, ignored = {}, {}, get_ignored_functions()
    for where, space in _namespaces().items():
        for name in dir(space):
            value = vars(space).get(name)
            if not name.startswith("_") and _is_function(value) and value not in ignored and value not in names and (
                    (value.__module__ or "taeda._C").startswith(("taeda", "torch._C"))):
                listed.setdefault(where, []).append(value)
                names[value] = f"{where}.{name}"
    for name in dir(Tensor):
        value = inspect.getattr_static(Tensor, name)
        if name in ("__class__", "__dict__", "__weakref__", "__doc__", "__module__") or isinstance(
                value, (classmethod, staticmethod)):
            continue
        if isinstance(value, (types.GetSetDescriptorType, property)):
            listed.setdefault("torch.Tensor", []).append(value.__get__)
            names[value.__get__] = f"torch.Tensor.{name}.__get__"
            if isinstance(value, types.GetSetDescriptorType):
                names[value.__set__] = f"torch.Tensor.{name}.__set__"
        elif callable(value) and value not in ignored and value not in names and not hasattr(object, name):
            listed.setdefault("torch.Tensor", []).append(value)
            names[value] = f"torch.Tensor.{name}"
    return listed, names


def get_overridable_functions():
    """{namespace: functions} that classes can answer."""
    return {where: list(functions) for where, functions in _overridable()[0].items()}


def resolve_name(f):
    """The name by which a program reaches a function: "torch.add", "torch.Tensor.add"; None if it is none of torch's."""
    if isinstance(f, str):
        return f
    return _overridable()[1].get(f)


def get_testing_overrides():
    """{function: one of the same arguments that returns -1}, for tests of classes that answer everything."""
    return {function: functools.partial(_minus_one) for functions in _overridable()[0].values() for function in functions}


def _minus_one(*args, **kwargs):
    return -1


@functools.lru_cache(maxsize=None)
def _methods_of_tensor():
    return set(_overridable()[0]["torch.Tensor"]) | {
        value for value in vars(Tensor).values() if isinstance(value, types.FunctionType)} | {
        inspect.getattr_static(_C.TensorBase, name) for name in dir(_C.TensorBase)
        if callable(inspect.getattr_static(_C.TensorBase, name))}


def is_tensor_method_or_property(func):
    """Whether a function that an override was given is a method of Tensor, or the getter of an attribute."""
    return getattr(func, "__name__", "") in ("__get__", "__set__") or func in _methods_of_tensor()


def _nobody_answered(function, types):
    name = resolve_name(function) or getattr(function, "__qualname__", repr(function))
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {types}")
