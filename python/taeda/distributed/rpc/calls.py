"""Calls of functions at other workers."""

from .._rpc import rpc as _rpc
from ...futures import Future
from ._pickles import RemoteException

UNSET = -1.0  # the timeout of the options


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


def _check():
    if not _rpc.is_initialized():
        raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")


def _call_of(func, args, kwargs):
    if not callable(func):
        raise TypeError("function should be callable.")
    return func, tuple(args or ()), dict(kwargs or {})


def rpc_async(to, func, args=None, kwargs=None, timeout=UNSET):
    """Calls a function at a worker (name, number or WorkerInfo); a future of its result. Tensors must not change before."""
    _check()
    future = waited()
    _rpc.call_async(to, _call_of(func, args, kwargs), float(timeout), future._arrived)
    return future


def rpc_sync(to, func, args=None, kwargs=None, timeout=UNSET):
    """The same, and waits for the result; raises what the function raised there, with worker and traceback in the text."""
    return rpc_async(to, func, args, kwargs, timeout).wait()


def remote(to, func, args=None, kwargs=None, timeout=UNSET):
    """Calls a function, or a class, at a worker, where its result stays; a reference to it, at once."""
    from .rref import RRef
    _check()
    return RRef._of(_rpc.Reference.create(to, _call_of(func, args, kwargs), float(timeout)))
