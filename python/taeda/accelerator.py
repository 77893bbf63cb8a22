"""torch.accelerator: the kind of device that this machine has, whatever it is called."""

from . import _C
from ._devices.functions import device_guard, functions as _functions
from ._devices.streams import Event, Graph, Stream  # noqa: F401

_device = _C._device


def current_accelerator(check_available=False):
    """The device type to use where a program names none; None where there is none. Simulated devices are not taken."""
    kind = _device.preferred_type()
    return None if kind is None else _C.device(kind)


def is_available():
    return current_accelerator() is not None


def device_count():
    kind = current_accelerator()
    return 0 if kind is None else _device.device_count(kind.type)


def _of(name):
    """A function of the accelerator's own module."""
    def call(*args, **kwargs):
        kind = current_accelerator()
        if kind is None:
            raise RuntimeError("Cannot access accelerator device when none is available.")
        return _functions(kind.type)[name](*args, **kwargs)
    call.__name__ = call.__qualname__ = name
    return call


current_device_index = current_device_idx = _of("current_device")
set_device_index = set_device_idx = _of("set_device")
get_device_capability = _of("get_device_capability")
synchronize = _of("synchronize")
current_stream = _of("current_stream")
set_stream = _of("set_stream")
empty_cache = _of("empty_cache")
get_memory_info = _of("mem_get_info")
memory_allocated = _of("memory_allocated")
max_memory_allocated = _of("max_memory_allocated")
memory_reserved = _of("memory_reserved")
max_memory_reserved = _of("max_memory_reserved")
memory_stats = _of("memory_stats")
reset_peak_memory_stats = _of("reset_peak_memory_stats")
reset_accumulated_memory_stats = _of("reset_accumulated_memory_stats")


class device_index(device_guard):
    """Makes the accelerator of that number current for a block."""

    def __init__(self, device):
        kind = current_accelerator()
        if kind is None:
            raise RuntimeError("Cannot access accelerator device when none is available.")
        super().__init__(kind.type, device)
