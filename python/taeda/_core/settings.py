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
    """How tensors are printed; arguments are scalars, and those that are None stay as they are.

    precision: digits behind the point; 4 at first
    threshold: more elements than that are summarised; 1000
    edgeitems: how many are shown at each end then; 3
    linewidth: characters of a line; 80
    profile: "default", "short" or "full", which sets all of them
    sci_mode: True or False, whether numbers are written with exponents

    >>> torch.set_printoptions(precision=2)
    >>> torch.tensor([0.12345])
    tensor([0.12])
    >>> torch.set_printoptions(profile="default")
    """
    if profile is not None:
        defaults = _PROFILES.get(profile, (None, None, None, None))  # PyTorch, too, passes over other names
        precision, threshold, edgeitems, linewidth = (
            given if given is not None else standard
            for given, standard in zip((precision, threshold, edgeitems, linewidth), defaults))
    if threshold is not None and threshold == float("inf"):
        threshold = 2 ** 62
    _C._set_printoptions(precision, threshold, edgeitems, linewidth, sci_mode)


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Results are the same bits from run to run whatever this says; while it is on, memory that nobody has written to is, too.

    mode: a scalar, True or False, whether `empty` and its like fill what they make, and `resize_` what it adds, with NaN, the
        largest integer or True, unless torch.utils.deterministic.fill_uninitialized_memory is False
    warn_only: a scalar, True or False, is kept to be asked for

    >>> torch.use_deterministic_algorithms(True)
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    expect("_set_deterministic_algorithms", "mode", 1, mode, bool)
    expect("_set_deterministic_algorithms", "warn_only", None, warn_only, bool)
    _C._use_deterministic_algorithms(mode, warn_only)


def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms said. Takes no arguments.

    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    return _C.are_deterministic_algorithms_enabled()


def is_deterministic_algorithms_warn_only_enabled():
    """What use_deterministic_algorithms said of warn_only. Takes no arguments.

    >>> torch.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _C.is_deterministic_algorithms_warn_only_enabled()


def set_deterministic_debug_mode(debug_mode):
    """Accepted as use_deterministic_algorithms is. The argument is 0 or "default", 1 or "warn", 2 or "error".

    >>> torch.set_deterministic_debug_mode("default")
    """
    modes = {"default": 0, "warn": 1, "error": 2}
    if debug_mode not in (*modes, 0, 1, 2):
        modes_text = "one of `default`, `warn`, `error`" if isinstance(debug_mode, str) else "0, 1, or 2"
        raise RuntimeError(f"invalid value of debug_mode, expected {modes_text}, but got {debug_mode}")
    mode = modes.get(debug_mode, debug_mode)
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode():
    """0, 1 or 2, as set_deterministic_debug_mode said. Takes no arguments.

    >>> torch.get_deterministic_debug_mode()
    0
    """
    return 0 if not are_deterministic_algorithms_enabled() else 1 if is_deterministic_algorithms_warn_only_enabled() else 2


def set_num_threads(n):
    """How many threads an operation on the CPU uses, a scalar; not positive is a RuntimeError.

    >>> threads = torch.get_num_threads()
    >>> torch.set_num_threads(1)
    >>> torch.get_num_threads()
    1
    >>> torch.set_num_threads(threads)
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if n < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _C.set_num_threads(n)


def get_num_interop_threads():
    """How many operations run side by side, a scalar. Takes no arguments.

    >>> isinstance(torch.get_num_interop_threads(), int)
    True
    """
    return 1


def set_num_interop_threads(n):
    """Takes how many threads may run operations side by side, which changes nothing here. The argument is a number.

    >>> torch.set_num_interop_threads(1)
    """
    if n < 1:
        raise RuntimeError("Expected positive number of threads")


def set_float32_matmul_precision(precision):
    """"highest" (at first), "high" or "medium", a text: how products of floats on an accelerator round.

    >>> torch.set_float32_matmul_precision("highest")
    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    _C._set_float32_matmul_precision(precision)


def get_float32_matmul_precision():
    """What set_float32_matmul_precision said, a text. Takes no arguments.

    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return _C._get_float32_matmul_precision()


def set_flush_denormal(mode):
    """False: denormal numbers are kept, whatever the argument, a scalar, says.

    >>> torch.set_flush_denormal(False)
    False
    """
    return False


def set_warn_always(b):
    """Whether what is said once in a process is said each time; the argument is a scalar, True or False.

    >>> torch.set_warn_always(False)
    >>> torch.is_warn_always_enabled()
    False
    """
    _C._set_warn_always(b)


def is_warn_always_enabled():
    """What set_warn_always said. Takes no arguments.

    >>> torch.is_warn_always_enabled()
    False
    """
    return _C._is_warn_always()


_C._log_api_usage_once = lambda event: None  # nobody is told what programs use
_C._get_tracing_state = lambda: None  # nothing is ever traced by torch.jit

def typename(obj):
    """"torch.FloatTensor" for a tensor, else module and class.

    >>> torch.typename(torch.ones(2))
    'torch.FloatTensor'
    """
    if isinstance(obj, _C.TensorBase):
        return obj.type()
    name = getattr(obj, "__qualname__", None) or type(obj).__name__
    module = getattr(obj, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"


def is_vulkan_available():
    """False: there is no such device. Takes no arguments.

    >>> torch.is_vulkan_available()
    False
    """
    return False


def init_num_threads():
    """Nothing to do: threads are started when something needs them. Takes no arguments.

    >>> torch.init_num_threads()
    """
