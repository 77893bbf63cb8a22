"""torch.futures: results that are on their way."""

import threading

from . import _C
from ._core.pytree import leaves_of


def _accelerators(value):
    """The devices, other than the CPU, of the tensors in a value."""
    found = set()
    for leaf in leaves_of(value):
        if isinstance(leaf, Future):
            found |= _accelerators(leaf._value)
        elif isinstance(leaf, _C.TensorBase) and leaf.device.type != "cpu":
            found.add(leaf.device)
    return found


class Future:
    """A value that somebody else computes. Any thread may use it.

    Tensors of accelerators may still be under way when a value is set: streams of who waits then wait for them.
    """

    def __init__(self, *, devices=None):
        self._condition = threading.Condition()
        self._done = False
        self._value = self._error = None
        self._events = []
        self._callbacks = []
        self._call = None  # calls what is added when this is done, where that matters

    def done(self):
        """Whether there is a value, or an error."""
        return self._done

    def wait(self):
        """The value, when it is there; raises the error where there is one instead."""
        with self._condition:
            while not self._done:
                self._condition.wait()
        try:
            return self.value()
        finally:
            del self  # an error that is raised refers to this frame, and the future to the error

    def value(self):
        """The value of a future that is done."""
        if not self._done:
            raise RuntimeError("torch.futures.Future: value() was called before there is one")
        if self._error is not None:
            try:
                raise self._error
            finally:
                del self
        for device, event in self._events:
            event.wait(_C._device.current_stream(device))
        return self._value

    def then(self, callback):
        """A future of `callback(self)`, which is called when this one is done, on the thread that completes it."""
        out = Future()
        out._call = self._call

        def run(this):
            try:
                out.set_result(callback(this))
            except BaseException as error:
                out.set_exception(error)
        self.add_done_callback(run)
        return out

    def add_done_callback(self, callback):
        """Has `callback(self)` called when this future is done; now, if it is."""
        with self._condition:
            if not self._done:
                self._callbacks.append(callback)
                return
        if self._call is None:
            callback(self)
        else:
            self._call(lambda: callback(self))

    def set_result(self, result):
        """Completes the future."""
        events = []
        for device in _accelerators(result):
            event = _C._device.EventBase(False)
            event.record(_C._device.current_stream(device))
            events.append((device, event))
        self._finish(result, None, events)

    def set_exception(self, result):
        """Completes the future with an error."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result, [])

    def _finish(self, value, error, events):
        with self._condition:
            if self._done:
                raise RuntimeError("Future can only be marked completed once")
            self._value, self._error, self._events, self._done = value, error, events, True
            callbacks, self._callbacks = self._callbacks, []
            self._condition.notify_all()
        for callback in callbacks:
            callback(self)

    def __class_getitem__(cls, item):
        return cls


def collect_all(futures):
    """A future of the list of all futures, done when all are."""
    futures = list(futures)
    out, left, lock = Future(), [len(futures)], threading.Lock()
    if not futures:
        out.set_result([])

    def one_done(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            out.set_result(futures)
    for future in futures:
        future.add_done_callback(one_done)
    return out


def wait_all(futures):
    """The values of all; raises the first error, in their order, when all are done."""
    return [future.wait() for future in collect_all(futures).wait()]
