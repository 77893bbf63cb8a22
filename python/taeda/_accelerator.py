"""What torch.cuda, torch.sim and torch.accelerator have in common, for one type of device each."""

import contextlib
import types

from . import _C
from ._utils import _get_device_index

_device = _C._device


class Stream(_device.StreamBase):
    """A queue of work on a device; `with torch.cuda.stream(s)` has operations go there."""

    def __init__(self, device=None, priority=0):
        super().__init__(_C.device("cuda") if device is None else _C.device(device), priority)

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self):
        self._before = _device.current_stream(self.device)
        _device.set_current_stream(self)
        return self

    def __exit__(self, *error):
        _device.set_current_stream(self._before)


class Event(_device.EventBase):
    """A point in a stream that others wait for and, with timing, measure from."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        super().__init__(enable_timing)

    def record(self, stream=None):
        super().record(stream if stream is not None else _device.current_stream(_C.device("cuda")))

    def wait(self, stream=None):
        super().wait(stream if stream is not None else _device.current_stream(_C.device("cuda")))


class DeviceProperties(types.SimpleNamespace):
    """Name, memory and size of a device."""


class device_guard:
    """Makes a device current for a block; None or a negative number changes nothing."""

    def __init__(self, kind, device):
        self.kind, self.index = kind, -1 if device is None else _get_device_index(device, optional=True)

    def __enter__(self):
        self.before = _device.current_device(self.kind) if self.index >= 0 else -1
        if self.index >= 0:
            _device.set_device(_C.device(self.kind, self.index))

    def __exit__(self, *error):
        if self.before >= 0:
            _device.set_device(_C.device(self.kind, self.before))


def functions(kind):
    """{name: function} of a device type's module."""

    def place(device):
        index = _get_device_index(device, optional=True) if device is not None else _device.current_device(kind)
        return _C.device(kind, index)

    def is_available():
        """Whether there is a device."""
        return _device.is_available(kind)

    def device_count():
        return _device.device_count(kind)

    def current_device():
        """The number of this thread's current device."""
        return _device.current_device(kind)

    def set_device(device):
        """Makes a device current on this thread."""
        if (index := _get_device_index(device, optional=True)) >= 0:
            _device.set_device(_C.device(kind, index))

    def get_device_properties(device=None):
        return DeviceProperties(**_device.get_device_properties(kind, place(device).index))

    def get_device_name(device=None):
        return get_device_properties(device).name

    def get_device_capability(device=None):
        p = get_device_properties(device)
        return p.major, p.minor

    def synchronize(device=None):
        """Waits for all work of a device; errors of its kernels are raised here."""
        _device.synchronize(place(device))

    def manual_seed(seed):
        if is_available():
            _device.manual_seed(kind, int(seed) & 0xFFFFFFFFFFFFFFFF)

    def manual_seed_all(seed):
        if is_available():
            _device.manual_seed_all(kind, int(seed) & 0xFFFFFFFFFFFFFFFF)

    def get_rng_state(device=kind):
        return _device.default_generator(place(None if device == kind else device)).get_state()

    def set_rng_state(new_state, device=kind):
        _device.default_generator(place(None if device == kind else device)).set_state(new_state)

    def memory_allocated(device=None):
        """Bytes in live tensors."""
        return _device.memory_figures(place(device))[0]

    def max_memory_allocated(device=None):
        return _device.memory_figures(place(device))[1]

    def memory_reserved(device=None):
        """Bytes that the cache holds of the device."""
        return _device.memory_figures(place(device))[2]

    def max_memory_reserved(device=None):
        return _device.memory_figures(place(device))[3]

    def reset_peak_memory_stats(device=None):
        _device.reset_peak_memory_stats(place(device))

    def memory_stats(device=None):
        return _device.memory_stats(place(device))

    def memory_summary(device=None, abbreviated=False):
        return _device.memory_summary(place(device), abbreviated)

    def mem_get_info(device=None):
        """Free and total bytes."""
        return _device.mem_get_info(place(device))

    def empty_cache():
        """Gives cached memory of all devices back."""
        for index in range(device_count()):
            _device.empty_cache(_C.device(kind, index))

    def set_per_process_memory_fraction(fraction, device=None):
        _device.set_memory_fraction(place(device), fraction)

    def can_device_access_peer(device, peer_device):
        return _device.can_device_access_peer(kind, place(device).index, place(peer_device).index)

    def current_stream(device=None):
        return _device.current_stream(place(device))

    def default_stream(device=None):
        return _device.default_stream(place(device))

    def set_stream(stream):
        _device.set_current_stream(stream)

    @contextlib.contextmanager
    def stream(stream):
        """Operations of the block go to a stream."""
        if stream is None:
            yield
            return
        before = _device.current_stream(stream.device)
        _device.set_current_stream(stream)
        try:
            yield
        finally:
            _device.set_current_stream(before)

    class device(device_guard):
        """Makes a device current for a block."""

        def __init__(self, device):
            super().__init__(kind, device)

    class device_of(device_guard):
        """Makes a tensor's device current for a block; nothing for a tensor of another type."""

        def __init__(self, obj):
            super().__init__(kind, obj.device.index if obj.device.type == kind else None)

    made = dict(locals())
    del made["kind"], made["place"]
    made.update(reset_max_memory_allocated=reset_peak_memory_stats, reset_max_memory_cached=reset_peak_memory_stats,
                memory_cached=memory_reserved, max_memory_cached=max_memory_reserved, Stream=Stream, Event=Event)
    return made
