"""Calls of functions at other workers."""

from .._rpc import rpc as _rpc
from ...futures import Future

UNSET = -1.0  # the timeout of the options


class RemoteException:
    """What a function raised at its worker: class and text, with the traceback there."""

    def __init__(self, kind, text):
        self.kind, self.text = kind, text

    def exception(self):
        try:
            return self.kind(self.text)
        except Exception:
            return RuntimeError(self.text)


class waited(Future):
    """A future of a call. Who waits for it gives its thread's place to the next call."""

    def _arrived(self, value, error):
        if isinstance(value, RemoteException):
            error = value.exception()
        if error is not None:
            self.set_exception(error)
        else:
            self.set_result(value)

    def wait(self):
        try:
            if self.done():
                return self.value()
            with _rpc.Elsewhere():
                return Future.wait(self)
        finally:
            del self


def check():
    if not _rpc.is_initialized():
        raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")


def call_of(func, args, kwargs):
    if not callable(func):
        raise TypeError("function should be callable.")
    return func, tuple(args or ()), dict(kwargs or {})


def rpc_async(to, func, args=None, kwargs=None, timeout=UNSET):
    """Calls a function at a worker (name, number or WorkerInfo); a future of its result. Tensors must not change before."""
    check()
    future = waited()
    _rpc.call_async(to, call_of(func, args, kwargs), float(timeout), future._arrived)
    return future


def rpc_sync(to, func, args=None, kwargs=None, timeout=UNSET):
    """The same, and waits for the result; raises what the function raised there, with worker and traceback in the text."""
    return rpc_async(to, func, args, kwargs, timeout).wait()
