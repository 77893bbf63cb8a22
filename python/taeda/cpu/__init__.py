"""torch.cpu: the CPU with the names that accelerators have."""

import contextlib

from .. import _C

__all__ = ["is_available", "is_initialized", "synchronize", "current_device", "current_stream", "stream", "set_device",
           "device_count", "Event", "Stream", "StreamContext"]


class Stream:
    """Work on the CPU is done when a call returns, so there is nothing to wait for."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        """Nothing to wait for."""


class Event:
    """A point in the work on the CPU, which is reached as soon as it is recorded."""

    def __init__(self, enable_timing=False):
        pass

    def record(self, stream=None):
        """Nothing to wait for."""

    def wait(self, stream=None):
        """Nothing to wait for."""

    def synchronize(self):
        """Nothing to wait for."""

    def query(self):
        return True


class StreamContext(contextlib.nullcontext):
    """A block on a stream."""


_stream = Stream()


def is_available():
    return True


def is_initialized():
    return True


def synchronize(device=None):
    """Nothing to wait for."""


def current_device():
    return "cpu"


def current_stream(device=None):
    return _stream


def stream(stream):
    return StreamContext(stream)


def set_device(device):
    """There is one."""
    _C.device(device)


def device_count():
    return 1
