"""Streams, events and graphs of one type of device: the classes of torch.cuda and torch.sim."""

from .. import _C

_device = _C._device


class Stream(_device.StreamBase):
    """A queue of work on a device; `with torch.cuda.stream(s)` has operations go there. The arguments are a device and a
    number.

    >>> issubclass(torch.cuda.Stream, torch.Stream)
    True
    """

    kind = None  # of the devices; None: of the accelerator that there is

    def __init__(self, device=None, priority=0, **of_another):
        if isinstance(device, _device.StreamBase):
            super().__init__(device)
        elif "stream_id" in of_another:
            super().__init__(_C.device(self.kind, of_another["device_index"]), int(of_another["stream_id"]), True)
        else:
            super().__init__(place(self.kind, device), priority)
        self._before = []

    @property
    def device_index(self):
        return self.device.index

    @property
    def device_type(self):
        return self.device.type

    @property
    def cuda_stream(self):
        """The number by which other code knows the stream: a cudaStream_t."""
        return self.stream_id

    native_handle = cuda_stream

    def record_event(self, event=None):
        """An event at the end of what is queued now."""
        event = type(self).event_class() if event is None else event
        event.record(self)
        return event

    def __enter__(self):
        self._before.append((_device.current_stream(self.device), _device.current_device(self.device.type)))
        _device.set_device(self.device)
        _device.set_current_stream(self)
        return self

    def __exit__(self, *error):
        stream, index = self._before.pop()
        _device.set_current_stream(stream)
        _device.set_device(_C.device(self.device.type, index))

    def __repr__(self):
        return f"<torch.{self.device.type}.Stream device={self.device} cuda_stream={self.stream_id:#x}>"


class Event(_device.EventBase):
    """A point in a stream that others wait for and, with timing, measure from. The arguments are bools.

    >>> issubclass(torch.cuda.Event, torch.Event)
    True
    """

    kind = None

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, **more):
        if interprocess:
            raise RuntimeError("torch.Event: Taeda has no events that other processes wait for")
        super().__init__(enable_timing)
        self._recorded = False

    def record(self, stream=None):
        """Notes the end of what is queued in a stream, by default the current one."""
        super().record(_current(self.kind) if stream is None else stream)
        self._recorded = True

    def wait(self, stream=None):
        """What is queued later in a stream, by default the current one, starts after the event."""
        super().wait(_current(self.kind) if stream is None else stream)

    def __repr__(self):
        return f"<torch.{self.kind or 'accelerator'}.Event{'' if self._recorded else ' uninitialized'}>"


Stream.event_class = Event


def _kind_here():
    kind = _device.preferred_type()
    if kind is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return kind


def current_device(kind):
    """The number of this thread's current device; raises an error that says why there is none."""
    if not _device.is_available(kind):
        _device.get_device_properties(kind, 0)
    return _device.current_device(kind)


def place(kind, device):
    """A device of this kind with its number: None is the current one."""
    if device is None:
        kind = kind or _kind_here()
        return _C.device(kind, current_device(kind))
    if isinstance(device, int):
        kind = kind or _kind_here()
        return _C.device(kind, device if device >= 0 else current_device(kind))
    device = _C.device(device)
    if kind is not None and device.type != kind:
        raise ValueError(f"Expected a {kind} device, but got: {device}")
    return device if device.index is not None else _C.device(device.type, current_device(device.type))


def _current(kind):
    return _device.current_stream(place(kind, None))


class StreamContext:
    """Operations of the block go to a stream, and its device is current; None changes nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *error):
        if self.stream is not None:
            self.stream.__exit__(*error)


class Graph(_device.GraphBase):
    """Work of a device that is recorded once, and queued again as a whole by `replay`."""

    kind = None

    def __init__(self, keep_graph=False):
        super().__init__(self.kind or _kind_here())

    def capture_begin(self, pool=None, capture_error_mode="global"):
        """From here on the current stream's work is recorded; that must not be a default stream."""
        modes = ("global", "thread_local", "relaxed")
        if capture_error_mode not in modes:
            raise RuntimeError(f"Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got "
                               f"{capture_error_mode}")
        super().capture_begin(0 if pool is None else pool, modes.index(capture_error_mode))


class graph:
    """Records the work of a block into a graph, on a stream of its own."""

    kind = None

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        self.graph, self.pool, self.mode = cuda_graph, pool, capture_error_mode
        self.stream = stream if stream is not None else self.stream_class()

    def __enter__(self):
        _device.synchronize(self.stream.device)
        _device.empty_cache(self.stream.device)
        self.stream.__enter__()
        try:
            self.graph.capture_begin(self.pool, self.mode)
        except BaseException:
            self.stream.__exit__()
            raise

    def __exit__(self, *error):
        try:
            self.graph.capture_end()
        finally:
            self.stream.__exit__(*error)


graph.stream_class = Stream


def classes(kind):
    """{name: class} of a device type's module."""
    where = {"kind": kind, "__module__": f"torch.{kind}"}
    made = {base.__name__: type(base.__name__, (base,), dict(where, __doc__=base.__doc__)) for base in (Stream, Event, graph)}
    made["Stream"].event_class = made["Event"]
    made["graph"].stream_class = made["Stream"]
    made["CUDAGraph"] = type("CUDAGraph", (Graph,), dict(where, __doc__=Graph.__doc__))

    def external(self, stream_ptr, device=None):
        super(made["ExternalStream"], self).__init__(device_index=place(kind, device).index, stream_id=stream_ptr)

    made["ExternalStream"] = type("ExternalStream", (made["Stream"],), dict(
        where, __init__=external, __doc__="A stream that other code made: a cudaStream_t, which must outlive its use."))
    return made
