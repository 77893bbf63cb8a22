"""Functions that are written in Python look for __torch_function__ only in programs that have one.

An operation of the extension looks at its arguments anyway. A function like `nn.functional.dropout` would have to do so on
top of what it does, for the few programs that override something. Instead its code is replaced, once, when a class with an
override or a mode first appears: the function stays the same object, and what it did moves to a second one behind it.
"""

import functools
import inspect
import types
import warnings

from .. import _C, _operations
from .._tensor import Tensor

# {function: what it did before} of all functions whose code was replaced.
REPLACED = {}
# Those that make tensors from data: only modes answer for them.
_MAKERS = {"tensor", "as_tensor", "asarray", "frombuffer", "from_dlpack"}
# What has nothing to answer, and what answers itself by calling others that do.
_LEFT_ALONE = {"is_tensor", "is_storage", "broadcast_shapes", "vmap", "set_default_tensor_type", "einsum", "cholesky",
               "eig", "lstsq", "matrix_rank", "qr", "solve", "symeig"}
# Those of which overrides get all arguments: the defaults filled in, and by name. Others get what was given.
_COMPLETED = set("""atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul lu
    meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive unravel_index""".split())
_NOT_COMPLETED = {"bilinear", "pixel_shuffle", "pixel_unshuffle", "adaptive_avg_pool1d", "softsign", "tanhshrink"}
_METHODS_COMPLETED = set("""backward register_hook register_post_accumulate_grad_hook split norm unique unique_consecutive lu
    unflatten share_memory_ is_shared storage __format__ __deepcopy__ __reduce_ex__ __dir__ __reversed__""".split())
_METHODS_LEFT_ALONE = {"__iter__", "__copy__", "__torch_function__", "__array_wrap__", "__init__", "__init_subclass__",
                       "_is_view"}

with warnings.catch_warnings():
    warnings.simplefilter("ignore", SyntaxWarning)
    _CALL = compile("def call(*args, **kwargs): return 'entry'(*args, **kwargs)", __file__, "exec", dont_inherit=True)
_CALL = next(c for c in _CALL.co_consts if isinstance(c, types.CodeType))


def switch_on():
    """Has all functions and methods that are written in Python look for overrides from now on."""
    from ..nn import functional as nn_functional
    for name, value in _operations.FUNCTIONS.items():
        if isinstance(value, types.FunctionType) and name not in _LEFT_ALONE and not name.startswith("_foreach_"):
            replace(value, name in _COMPLETED, only_modes=name in _MAKERS)
    for name, value in list(vars(nn_functional).items()):
        if (isinstance(value, types.FunctionType) and not name.startswith("_") and name not in _LEFT_ALONE
                and value.__module__.startswith("taeda.")):
            replace(value, name not in _NOT_COMPLETED)
    for name, value in list(vars(Tensor).items()):
        if isinstance(value, types.FunctionType) and name not in _METHODS_LEFT_ALONE:
            replace(value, name in _METHODS_COMPLETED)


def replace(function, completed=False, only_modes=False):
    """Puts a look for overrides before what a function does."""
    if function in REPLACED or function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        return
    code = function.__code__
    behind = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    behind.__kwdefaults__ = function.__kwdefaults__
    behind.__qualname__, behind.__module__, behind.__doc__ = function.__qualname__, function.__module__, function.__doc__
    REPLACED[function] = behind
    entry = _entry(function, behind, completed, only_modes)
    function.__wrapped__ = behind  # for its signature
    function.__code__ = _CALL.replace(
        co_consts=tuple(entry if c == "entry" else c for c in _CALL.co_consts), co_freevars=code.co_freevars,
        co_name=code.co_name, co_filename=code.co_filename, co_firstlineno=code.co_firstlineno,
        **({"co_qualname": code.co_qualname} if hasattr(code, "co_qualname") else {}))


def _entry(function, behind, completed, only_modes):
    if only_modes:
        def entry(*args, **kwargs):
            if _C._has_torch_function(()):
                return _C._handle_torch_function(function, (), args, kwargs)
            return behind(*args, **kwargs)
        return entry

    def entry(*args, **kwargs):
        if _C._has_torch_function_variadic(*args) or kwargs and _C._has_torch_function_variadic(*kwargs.values()):
            objects = [*_unpacked(args), *_unpacked(kwargs.values())]
            if completed:
                args, kwargs = _completed(behind, args, kwargs)
            return _C._handle_torch_function(function, objects, args, kwargs)
        return behind(*args, **kwargs)
    return entry


def _unpacked(arguments):
    for a in arguments:
        if isinstance(a, (list, tuple)):
            yield from a
        else:
            yield a


@functools.lru_cache(maxsize=None)
def _signature(function):
    return inspect.signature(function)


def _completed(function, args, kwargs):
    """(args, kwargs) with what must be given by position, and the rest by name with its defaults filled in."""
    try:
        bound = _signature(function).bind(*args, **kwargs)
    except TypeError:
        function(*args, **kwargs)  # says what is wrong with the call
        raise
    bound.apply_defaults()
    by_position, by_name = [], {}
    for parameter in _signature(function).parameters.values():
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            by_position += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            by_name.update(value)
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            by_position.append(value)
        else:
            by_name[parameter.name] = value
    return tuple(by_position), by_name
