"""What torch.cuda, torch.sim and torch.accelerator have in common, for one type of device each."""

import functools
import sys
import types

from .. import _C
from .._core.missing import speak_of_missing
from .._core.warnings import deprecated
from .streams import StreamContext, classes, current_device as _current_device, place

_device = _C._device


def _former_names(kind, reset, reserved, max_reserved):
    """Functions of memory by the names that they had."""
    made = {}
    for old, new in (("memory_cached", reserved), ("max_memory_cached", max_reserved)):
        text = f"`torch.{kind}.{old}` has been renamed to `torch.{kind}.{new.__name__}`"
        made[old] = deprecated(text)(new)
    for old in ("reset_max_memory_allocated", "reset_max_memory_cached"):
        text = f"torch.{kind}.{old} now calls torch.{kind}.reset_peak_memory_stats, which resets /all/ peak memory stats."
        made[old] = deprecated(text)(reset)
    return made


class DeviceProperties(types.SimpleNamespace):
    """Name, memory and size of a device."""


def _index(kind, device):
    return device if isinstance(device, int) else place(kind, device).index


class device_guard:
    """Makes a device current for a block; None or a negative number changes nothing."""

    def __init__(self, kind, device):
        self.kind, self.index = kind, -1 if device is None else _index(kind, device)

    def __enter__(self):
        self.before = _device.current_device(self.kind) if self.index >= 0 else -1
        if self.index >= 0:
            _device.set_device(_C.device(self.kind, self.index))

    def __exit__(self, *error):
        if self.before >= 0:
            _device.set_device(_C.device(self.kind, self.before))


class _Functions:
    """The functions of a device type's module; without a device they mean this thread's current one."""

    def __init__(self, kind):
        self._kind, self._classes = kind, classes(kind)
        self._stream_class = self._classes["Stream"]

    def _place(self, device):
        return place(self._kind, device)

    def is_available(self):
        """Whether there is a device."""
        return _device.is_available(self._kind)

    def device_count(self):
        return _device.device_count(self._kind)

    def current_device(self):
        """The number of this thread's current device."""
        return _current_device(self._kind)

    def set_device(self, device):
        """Makes a device current on this thread; a negative number changes nothing."""
        if not isinstance(device, int) or device >= 0:
            _device.set_device(self._place(device))

    def get_device_properties(self, device=None):
        return DeviceProperties(**_device.get_device_properties(self._kind, self._place(device).index))

    def get_device_name(self, device=None):
        return self.get_device_properties(device).name

    def get_device_capability(self, device=None):
        p = self.get_device_properties(device)
        return p.major, p.minor

    def synchronize(self, device=None):
        """Waits for all work of a device; errors of its kernels are raised here."""
        _device.synchronize(self._place(device))

    def manual_seed(self, seed):
        seed = int(seed) & 0xFFFFFFFFFFFFFFFF
        if self.is_available():
            _device.manual_seed(self._kind, seed)

    def manual_seed_all(self, seed):
        seed = int(seed) & 0xFFFFFFFFFFFFFFFF
        if self.is_available():
            _device.manual_seed_all(self._kind, seed)

    def seed(self):
        """Seeds the current device from the system's entropy."""
        self.manual_seed(_C.default_generator.seed())

    def seed_all(self):
        """Seeds all devices alike from the system's entropy."""
        self.manual_seed_all(_C.default_generator.seed())

    def initial_seed(self):
        return _device.default_generator(self._place(None)).initial_seed()

    def get_rng_state(self, device=None):
        """The state of a device's generator, a tensor of bytes on the CPU."""
        return _device.default_generator(self._place(device)).get_state()

    def get_rng_state_all(self):
        return [self.get_rng_state(i) for i in range(self.device_count())]

    def set_rng_state(self, new_state, device=None):
        _device.default_generator(self._place(device)).set_state(new_state)

    def set_rng_state_all(self, new_states):
        for i, state in enumerate(new_states):
            self.set_rng_state(state, i)

    def _figure(self, k, device):
        return _device.memory_figures(self._place(device))[k] if self.is_available() else 0

    def memory_allocated(self, device=None):
        """Bytes in live tensors."""
        return self._figure(0, device)

    def max_memory_allocated(self, device=None):
        return self._figure(1, device)

    def memory_reserved(self, device=None):
        """Bytes that the cache holds of the device."""
        return self._figure(2, device)

    def max_memory_reserved(self, device=None):
        return self._figure(3, device)

    def reset_peak_memory_stats(self, device=None):
        _device.reset_peak_memory_stats(self._place(device))

    def reset_accumulated_memory_stats(self, device=None):
        _device.reset_accumulated_memory_stats(self._place(device))

    def memory_stats(self, device=None):
        """{"allocated_bytes.all.current": bytes, ...}; empty where there is no device."""
        return dict(_device.memory_stats(self._place(device))) if self.is_available() else {}

    def memory_summary(self, device=None, abbreviated=False):
        return _device.memory_summary(self._place(device), abbreviated)

    def mem_get_info(self, device=None):
        """Free and total bytes."""
        return _device.mem_get_info(self._place(device))

    def empty_cache(self):
        """Gives cached memory of all devices back."""
        for index in range(self.device_count()):
            _device.empty_cache(_C.device(self._kind, index))

    def set_per_process_memory_fraction(self, fraction, device=None):
        _device.set_memory_fraction(self._place(device), fraction)

    def can_device_access_peer(self, device, peer_device):
        return _device.can_device_access_peer(self._kind, self._place(device).index, self._place(peer_device).index)

    def get_per_process_memory_fraction(self, device=None):
        return _device.memory_fraction(self._place(device))

    def current_stream(self, device=None):
        """The stream that this thread's operations on a device go to."""
        return self._stream_class(_device.current_stream(self._place(device)))

    def default_stream(self, device=None):
        return self._stream_class(_device.default_stream(self._place(device)))

    def set_stream(self, stream):
        """Has this thread's operations go to a stream; None changes nothing."""
        if stream is not None:
            _device.set_device(stream.device)
            _device.set_current_stream(stream)

    def stream(self, stream):
        """Operations of the block go to a stream."""
        return StreamContext(stream)

    def get_stream_from_external(self, data_ptr, device=None):
        return self._classes["ExternalStream"](data_ptr, device)

    def is_current_stream_capturing(self):
        """Whether the current stream's work is being recorded into a graph."""
        return self.is_available() and _device.is_capturing(self._place(None))

    def graph_pool_handle(self):
        """A memory pool that several graphs may share."""
        return _device.new_pool()


def _guards(kind):
    """{name: class} of the blocks that make a device current."""
    class device(device_guard):
        """Makes a device current for a block."""

        def __init__(self, device):
            super().__init__(kind, device)

    class device_of(device_guard):
        """Makes a tensor's device current for a block; nothing for a tensor of another type."""

        def __init__(self, obj):
            super().__init__(kind, obj.device.index if obj.device.type == kind else None)

    return {"device": device, "device_of": device_of}


@functools.cache
def functions(kind):
    """{name: function or class} of a device type's module."""
    of_kind = _Functions(kind)
    made = {name: getattr(of_kind, name) for name in vars(_Functions) if name[0] != "_"}
    made.update(of_kind._classes, **_guards(kind), StreamContext=StreamContext, OutOfMemoryError=_C.OutOfMemoryError)
    made.update(_former_names(kind, of_kind.reset_peak_memory_stats, of_kind.memory_reserved, of_kind.max_memory_reserved))
    return made


@functools.cache
def module_of(kind):
    """torch.toy: the module of a type of devices that has no file here, as those have none that plug-ins bring."""
    made = sys.modules[f"taeda.{kind}"] = types.ModuleType(f"taeda.{kind}", "Devices of a type that a plug-in brought.")
    vars(made).update(functions(kind))
    speak_of_missing(made)
    return made
