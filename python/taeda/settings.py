"""What the process is set to: printing, determinism, the default device, precision."""

import warnings

from . import _C
from ._default_device import get_default_device, set_default_device

__all__ = ["set_printoptions", "use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
           "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
           "get_deterministic_debug_mode", "set_num_threads", "set_default_tensor_type", "set_default_device",
           "get_default_device", "get_num_interop_threads", "set_num_interop_threads", "set_float32_matmul_precision",
           "get_float32_matmul_precision", "set_flush_denormal", "compile", "typename", "set_warn_always",
           "is_warn_always_enabled"]

_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, 2 ** 62, 3, 80)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are printed; `profile` "default", "short" or "full"."""
    if profile is not None:
        defaults = _PROFILES[profile]
        precision, threshold, edgeitems, linewidth = (
            given if given is not None else standard
            for given, standard in zip((precision, threshold, edgeitems, linewidth), defaults))
    if threshold is not None and threshold == float("inf"):
        threshold = 2 ** 62
    _C._set_printoptions(precision, threshold, edgeitems, linewidth, sci_mode)


_deterministic = [False, False]


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Accepted: results are the same bits from run to run whatever this says."""
    _deterministic[:] = [bool(mode), bool(warn_only)]


def are_deterministic_algorithms_enabled():
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled():
    return _deterministic[1]


def set_deterministic_debug_mode(debug_mode):
    """0 or "default", 1 or "warn", 2 or "error": accepted as use_deterministic_algorithms is."""
    modes = {"default": 0, "warn": 1, "error": 2}
    if debug_mode not in (*modes, 0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
    mode = modes.get(debug_mode, debug_mode)
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode():
    return 0 if not _deterministic[0] else 1 if _deterministic[1] else 2


def set_default_tensor_type(t):
    """The dtype of a class like torch.DoubleTensor as the default."""
    from ._tensor import named_type
    _C.set_default_dtype(named_type(t)[0])


def set_num_threads(n):
    """How many threads an operation on the CPU uses."""
    if isinstance(n, bool) or not isinstance(n, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if n < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _C.set_num_threads(n)


def get_num_interop_threads():
    return 1


def set_num_interop_threads(n):
    if n < 1:
        raise RuntimeError("Expected positive number of threads")


def set_float32_matmul_precision(precision):
    """ "highest", "high" or "medium": how products of floats on an accelerator round."""
    _C._set_float32_matmul_precision(precision)


def get_float32_matmul_precision():
    return _C._get_float32_matmul_precision()


def set_flush_denormal(mode):
    """False: denormal numbers are kept."""
    return False


_warn_always = [False]


def set_warn_always(b):
    _warn_always[0] = bool(b)


def is_warn_always_enabled():
    return _warn_always[0]


_compile_said = []


def compile(model=None, **options):
    """Returns the function or module as it is: Taeda runs operations one by one. Said once."""
    if model is None:
        return lambda function: compile(function, **options)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if not _compile_said:
        _compile_said.append(True)
        warnings.warn("torch.compile returns its argument unchanged: Taeda has no compiler, and its eager steps need none",
                      stacklevel=2)
    return model


def typename(obj):
    """ "torch.FloatTensor" for a tensor, else module and class."""
    if isinstance(obj, _C.TensorBase):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    return f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
