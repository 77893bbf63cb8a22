"""What torch.cuda, torch.sim and torch.accelerator have in common, for one type of device each."""

import functools
import types

from .. import _C
from .streams import StreamContext, _place, classes, current_device as _current_device
from .._core.warnings import deprecated

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
    return device if isinstance(device, int) else _place(kind, device).index


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


@functools.cache
def functions(kind):
    """{name: function} of a device type's module."""

    def place(device):
        return _place(kind, device)

    known = classes(kind)
    Stream = known["Stream"]

    def is_available():
        """Whether there is a device."""
        return _device.is_available(kind)

    def device_count():
        return _device.device_count(kind)

    def current_device():
        """The number of this thread's current device."""
        return _current_device(kind)

    def set_device(device):
        """Makes a device current on this thread; a negative number changes nothing."""
        if not isinstance(device, int) or device >= 0:
            _device.set_device(place(device))

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
        seed = int(seed) & 0xFFFFFFFFFFFFFFFF
        if is_available():
            _device.manual_seed(kind, seed)

    def manual_seed_all(seed):
        seed = int(seed) & 0xFFFFFFFFFFFFFFFF
        if is_available():
            _device.manual_seed_all(kind, seed)

    def seed():
        """Seeds the current device from the system's entropy."""
        manual_seed(_C.default_generator.seed())

    def seed_all():
        """Seeds all devices alike from the system's entropy."""
        manual_seed_all(_C.default_generator.seed())

    def initial_seed():
        return _device.default_generator(place(None)).initial_seed()

    def get_rng_state(device=kind):
        """The state of a device's generator, a tensor of bytes on the CPU."""
        return _device.default_generator(place(device)).get_state()

    def get_rng_state_all():
        return [get_rng_state(i) for i in range(device_count())]

    def set_rng_state(new_state, device=kind):
        _device.default_generator(place(device)).set_state(new_state)

    def set_rng_state_all(new_states):
        for i, state in enumerate(new_states):
            set_rng_state(state, i)

    def figure(k, device):
        return _device.memory_figures(place(device))[k] if is_available() else 0

    def memory_allocated(device=None):
        """Bytes in live tensors."""
        return figure(0, device)

    def max_memory_allocated(device=None):
        return figure(1, device)

    def memory_reserved(device=None):
        """Bytes that the cache holds of the device."""
        return figure(2, device)

    def max_memory_reserved(device=None):
        return figure(3, device)

    def reset_peak_memory_stats(device=None):
        _device.reset_peak_memory_stats(place(device))

    def reset_accumulated_memory_stats(device=None):
        _device.reset_accumulated_memory_stats(place(device))

    def memory_stats(device=None):
        """{"allocated_bytes.all.current": bytes, ...}; empty where there is no device."""
        return dict(_device.memory_stats(place(device))) if is_available() else {}

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

    def get_per_process_memory_fraction(device=None):
        return _device.memory_fraction(place(device))

    def current_stream(device=None):
        """The stream that this thread's operations on a device go to."""
        return Stream(_device.current_stream(place(device)))

    def default_stream(device=None):
        return Stream(_device.default_stream(place(device)))

    def set_stream(stream):
        """Has this thread's operations go to a stream; None changes nothing."""
        if stream is not None:
            _device.set_device(stream.device)
            _device.set_current_stream(stream)

    def stream(stream):
        """Operations of the block go to a stream."""
        return StreamContext(stream)

    def get_stream_from_external(data_ptr, device=None):
        return known["ExternalStream"](data_ptr, device)

    def is_current_stream_capturing():
        """Whether the current stream's work is being recorded into a graph."""
        return is_available() and _device.is_capturing(place(None))

    def graph_pool_handle():
        """A memory pool that several graphs may share."""
        return _device.new_pool()

    class device(device_guard):
        """Makes a device current for a block."""

        def __init__(self, device):
            super().__init__(kind, device)

    class device_of(device_guard):
        """Makes a tensor's device current for a block; nothing for a tensor of another type."""

        def __init__(self, obj):
            super().__init__(kind, obj.device.index if obj.device.type == kind else None)

    made = dict(locals())
    for name in ("kind", "place", "known", "figure"):
        del made[name]
    made.update(known)
    made.update(_former_names(kind, reset_peak_memory_stats, memory_reserved, max_memory_reserved), StreamContext=StreamContext,
                OutOfMemoryError=_C.OutOfMemoryError)
    return made
