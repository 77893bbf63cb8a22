"""What the process is set to: printing, determinism, threads, precision."""

from .. import _C
from .arguments import expect

__all__ = ["are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
           "get_num_interop_threads", "has_lapack", "has_mkl", "has_openmp", "has_spectral", "init_num_threads",
           "is_deterministic_algorithms_warn_only_enabled", "is_vulkan_available", "is_warn_always_enabled",
           "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
           "set_num_threads", "set_printoptions", "set_warn_always", "typename", "use_deterministic_algorithms"]

# What the library computes with: LAPACK is looked for when something asks for it.
has_lapack, has_mkl, has_openmp, has_spectral = True, False, True, True

_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, 2 ** 62, 3, 80)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are printed; `profile` "default", "short" or "full"."""
    if profile is not None:
        defaults = _PROFILES.get(profile, (None, None, None, None))  # PyTorch, too, passes over other names
        precision, threshold, edgeitems, linewidth = (
            given if given is not None else standard
            for given, standard in zip((precision, threshold, edgeitems, linewidth), defaults))
    if threshold is not None and threshold == float("inf"):
        threshold = 2 ** 62
    _C._set_printoptions(precision, threshold, edgeitems, linewidth, sci_mode)


_deterministic = [False, False]


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Accepted: results are the same bits from run to run whatever this says."""
    expect("_set_deterministic_algorithms", "mode", 1, mode, bool)
    expect("_set_deterministic_algorithms", "warn_only", None, warn_only, bool)
    _deterministic[:] = [mode, warn_only]


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


def set_warn_always(b):
    """Whether what is said once in a process is said each time."""
    _C._set_warn_always(b)


def is_warn_always_enabled():
    return _C._is_warn_always()


_C._log_api_usage_once = lambda event: None  # nobody is told what programs use
_C._get_tracing_state = lambda: None  # nothing is ever traced by torch.jit

def typename(obj):
    """ "torch.FloatTensor" for a tensor, else module and class."""
    if isinstance(obj, _C.TensorBase):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    return f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__


def is_vulkan_available():
    return False


def init_num_threads():
    """Nothing to do: threads are started when something needs them."""
