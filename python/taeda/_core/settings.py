"""What the process is set to: printing, determinism, the default device, precision."""

import threading

from .. import _C
from .._operations.default_device import get_default_device, set_default_device
from .warnings import warn, warn_once

__all__ = ["set_printoptions", "use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
           "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
           "get_deterministic_debug_mode", "set_num_threads", "set_default_tensor_type", "set_default_device",
           "get_default_device", "get_num_interop_threads", "set_num_interop_threads", "set_float32_matmul_precision",
           "get_float32_matmul_precision", "set_flush_denormal", "compile", "typename", "set_warn_always",
           "is_warn_always_enabled", "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
           "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "get_device_module", "has_lapack",
           "has_mkl", "has_openmp", "has_spectral", "init_num_threads", "is_autocast_cache_enabled", "is_autocast_cpu_enabled",
           "is_autocast_enabled", "is_vulkan_available", "set_autocast_cache_enabled", "set_autocast_cpu_dtype",
           "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype"]

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
    from .arguments import expect
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


def set_default_tensor_type(t):
    """The dtype of a class like torch.DoubleTensor as the default."""
    warn_once("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
              "torch.set_default_device() as alternatives.")
    from .._tensor import named_type
    if isinstance(t, str):  # a name is looked for in the module, as PyTorch does
        name = t.rpartition(".")[2]
        import taeda
        t = getattr(taeda, name)
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


def set_warn_always(b):
    """Whether what is said once in a process is said each time."""
    _C._set_warn_always(b)


def is_warn_always_enabled():
    return _C._is_warn_always()


_C._log_api_usage_once = lambda event: None  # nobody is told what programs use
_C._get_tracing_state = lambda: None  # nothing is ever traced by torch.jit

_compile_said = []


def compile(model=None, **options):
    """Returns the function as it is, and a module within one that has PyTorch's name for it: Taeda runs operations one by one.

    Said once.
    """
    if model is None:
        return lambda function: compile(function, **options)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if not _compile_said:
        _compile_said.append(True)
        warn("torch.compile compiles nothing: Taeda has no compiler, and its eager steps need none")
    from ..nn import Module
    if isinstance(model, Module):
        from .._dynamo import OptimizedModule
        return OptimizedModule(model)
    return model


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


def get_device_module(device=None):
    """torch.cpu, torch.cuda and the like for a device, its name, or that of the accelerator where there is one."""
    import taeda
    if device is None:
        from ..accelerator import current_accelerator
        found = current_accelerator()
        name = "cpu" if found is None else found.type
    else:
        name = _C.device(device).type if not isinstance(device, _C.device) else device.type
    module = getattr(taeda, name, None)
    if module is None:
        raise RuntimeError(f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'.")
    return module


def _say_instead(call, instead):
    warn(f"torch.{call} is deprecated. Please use {instead} instead.", DeprecationWarning)


# Autocast, as those who write guards of their own set it: on this thread, until it is set again.


def is_autocast_enabled(device_type="cuda"):
    """Whether operations on the device type run under autocast."""
    return _C._amp.is_enabled(_C.device(device_type))


def set_autocast_enabled(device_type, enabled=None):
    """Switches autocast on or off for a device type; with one argument, for CUDA's."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    _C._amp.set_enabled(_C.device(device_type), bool(enabled))


def is_autocast_cpu_enabled():
    _say_instead("is_autocast_cpu_enabled()", "torch.is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled):
    _say_instead("set_autocast_cpu_enabled(enabled)", "torch.set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_dtype(device_type):
    return _C._amp.dtype(_C.device(device_type))


def set_autocast_dtype(device_type, dtype):
    """The lower precision of a device type: float16 or bfloat16."""
    _C._amp.set_dtype(_C.device(device_type), dtype)


def get_autocast_gpu_dtype():
    _say_instead("get_autocast_gpu_dtype()", "torch.get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype):
    _say_instead("set_autocast_gpu_dtype(dtype)", "torch.set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def get_autocast_cpu_dtype():
    _say_instead("get_autocast_cpu_dtype()", "torch.get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype):
    _say_instead("set_autocast_cpu_dtype(dtype)", "torch.set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def is_autocast_cache_enabled():
    """Whether casts of weights are kept, so that each is made once."""
    return _C._amp.is_cache_enabled()


def set_autocast_cache_enabled(enabled):
    _C._amp.set_cache_enabled(bool(enabled))


def clear_autocast_cache():
    """Forgets the casts of weights that this thread keeps."""
    _C._amp.clear_cache()


_nesting = threading.local()


def autocast_increment_nesting():
    """One more guard of a program's own is entered; how many there are."""
    _nesting.depth = getattr(_nesting, "depth", 0) + 1
    return _nesting.depth


def autocast_decrement_nesting():
    """One less; at 0 the guard calls clear_autocast_cache."""
    _nesting.depth = getattr(_nesting, "depth", 0) - 1
    return _nesting.depth
