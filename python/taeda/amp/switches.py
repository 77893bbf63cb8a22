"""Autocast as those set it who write guards of their own: on this thread, until it is set again."""

import threading

from .. import _C
from .._core.warnings import warn

__all__ = ["autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "get_autocast_cpu_dtype",
           "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled", "is_autocast_cpu_enabled",
           "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
           "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype"]


def _say_instead(call, instead):
    warn(f"torch.{call} is deprecated. Please use {instead} instead.", DeprecationWarning)


def is_autocast_enabled(device_type="cuda"):
    """Whether operations on the device type run under autocast. The argument is a text, "cuda" by default.

    >>> torch.is_autocast_enabled("cpu")
    False
    """
    return _C._amp.is_enabled(_C.device(device_type))


def set_autocast_enabled(device_type, enabled=None):
    """Switches autocast on or off for a device type; with one argument, for CUDA's. The arguments are a text and a bool.

    >>> torch.set_autocast_enabled("cpu", True)
    >>> torch.is_autocast_enabled("cpu")
    True
    >>> torch.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    _C._amp.set_enabled(_C.device(device_type), bool(enabled))


def is_autocast_cpu_enabled():
    """Whether operations on the CPU run under autocast; deprecated. Takes no arguments.

    >>> torch.is_autocast_cpu_enabled()
    False
    """
    _say_instead("is_autocast_cpu_enabled()", "torch.is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled):
    """Switches autocast on or off for the CPU; deprecated. The argument is a bool.

    >>> torch.set_autocast_cpu_enabled(False)
    """
    _say_instead("set_autocast_cpu_enabled(enabled)", "torch.set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_dtype(device_type):
    """The dtype that autocast computes with on a device type. The argument is a text.

    >>> torch.get_autocast_dtype("cpu")
    torch.bfloat16
    """
    return _C._amp.dtype(_C.device(device_type))


def set_autocast_dtype(device_type, dtype):
    """Sets the dtype that autocast computes with on a device type. The arguments are a text and torch.float16 or
    torch.bfloat16.

    >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    _C._amp.set_dtype(_C.device(device_type), dtype)


def get_autocast_gpu_dtype():
    """The dtype that autocast computes with on CUDA devices; deprecated. Takes no arguments.

    >>> torch.get_autocast_gpu_dtype()
    torch.float16
    """
    _say_instead("get_autocast_gpu_dtype()", "torch.get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype):
    """Sets the dtype that autocast computes with on CUDA devices; deprecated. The argument is torch.float16 or torch.bfloat16.

    >>> torch.set_autocast_gpu_dtype(torch.float16)
    """
    _say_instead("set_autocast_gpu_dtype(dtype)", "torch.set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def get_autocast_cpu_dtype():
    """The dtype that autocast computes with on the CPU; deprecated. Takes no arguments.

    >>> torch.get_autocast_cpu_dtype()
    torch.bfloat16
    """
    _say_instead("get_autocast_cpu_dtype()", "torch.get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype):
    """Sets the dtype that autocast computes with on the CPU; deprecated. The argument is torch.float16 or torch.bfloat16.

    >>> torch.set_autocast_cpu_dtype(torch.bfloat16)
    """
    _say_instead("set_autocast_cpu_dtype(dtype)", "torch.set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def is_autocast_cache_enabled():
    """Whether casts of weights are kept, so that each is made once. Takes no arguments.

    >>> torch.is_autocast_cache_enabled()
    True
    """
    return _C._amp.is_cache_enabled()


def set_autocast_cache_enabled(enabled):
    """Has autocast keep its casts of weights, or not. The argument is a bool.

    >>> torch.set_autocast_cache_enabled(True)
    """
    _C._amp.set_cache_enabled(bool(enabled))


def clear_autocast_cache():
    """Forgets the casts of weights that this thread keeps. Takes no arguments.

    >>> torch.clear_autocast_cache()
    """
    _C._amp.clear_cache()


_nesting = threading.local()


def autocast_increment_nesting():
    """Notes that a guard of a program's own is entered, and returns how many there are. Takes no arguments.

    >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    (1, 0)
    """
    _nesting.depth = getattr(_nesting, "depth", 0) + 1
    return _nesting.depth


def autocast_decrement_nesting():
    """Notes that a guard of a program's own is left, and returns how many there are; at 0 the guard calls clear_autocast_cache.
    Takes no arguments.

    >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
    (1, 0)
    """
    _nesting.depth = getattr(_nesting, "depth", 0) - 1
    return _nesting.depth
