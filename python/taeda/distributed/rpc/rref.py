"""References to values that stay at a worker."""

from .._rpc import rpc as _rpc
from .calls import UNSET, call_of, check, rpc_async, rpc_sync, waited

_Reference = _rpc.Reference


def _invoke(rref, name, args, kwargs):
    """A method of the value, at its owner."""
    return getattr(rref.local_value(), name)(*args, **kwargs)


class _Proxy:
    """`rref.rpc_sync().method(arguments)` calls the method at the owner."""

    def __init__(self, rref, call, timeout):
        self._rref, self._call, self._timeout = rref, call, timeout

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def method(*args, **kwargs):
            return self._call(self._rref.owner(), _invoke, (self._rref, name, args, kwargs), timeout=self._timeout)
        return method


class RRef:
    """A reference to a value of one worker; copies are one. The value lives as long as any worker has a reference."""

    def __init__(self, value, type_hint=None):
        self._reference = _Reference.own(value)

    @classmethod
    def _of(cls, reference):
        made = cls.__new__(cls)
        made._reference = reference
        return made

    def is_owner(self):
        return self._reference.is_owner()

    def owner(self):
        """The owner's WorkerInfo."""
        return self._reference.owner()

    def owner_name(self):
        return self.owner().name

    def confirmed_by_owner(self):
        return self._reference.confirmed_by_owner()

    def to_here(self, timeout=UNSET):
        """A copy of the value, or itself at the owner; raises what the function that makes it raised."""
        future = waited()
        self._reference.fetch(float(timeout), future._arrived)
        try:
            return future.wait()
        finally:
            del future

    def local_value(self):
        """The value itself; at its owner alone."""
        if not self.is_owner():
            raise RuntimeError(f"For {self}, can't call localValue() on user {_rpc.get_worker_info(None)}. "
                               "Call it on owner " + str(self.owner()))
        return self.to_here(0)

    def rpc_sync(self, timeout=UNSET):
        return _Proxy(self, rpc_sync, timeout)

    def rpc_async(self, timeout=UNSET):
        return _Proxy(self, rpc_async, timeout)

    def remote(self, timeout=UNSET):
        return _Proxy(self, remote, timeout)

    def backward(self, dist_autograd_ctx_id=-1, retain_graph=False):
        """Gradients of the value, a tensor of one element, at the owner."""
        if dist_autograd_ctx_id < 0:
            self.local_value().backward(retain_graph=retain_graph)
        else:
            from .. import autograd
            autograd.backward(dist_autograd_ctx_id, [self.to_here()], retain_graph)

    def _get_type(self, timeout=UNSET, blocking=True):
        out = (rpc_sync if blocking else rpc_async)(self.owner(), _type_of, (self,), timeout=timeout)
        return out

    def __reduce__(self):
        raise RuntimeError("Can not pickle rref in python pickler, rref can only be pickled when using RPC")

    def __repr__(self):
        kind = "OwnerRRef" if self.is_owner() else "UserRRef"
        return f"{kind}({', '.join(f'{k}={v}' for k, v in zip(('created_on', 'number'), self._reference.id()))})"


def _type_of(rref):
    return type(rref.local_value())


def remote(to, func, args=None, kwargs=None, timeout=UNSET):
    """Calls a function, or a class, at a worker, where its result stays; a reference to it, at once."""
    check()
    return RRef._of(_Reference.create(to, call_of(func, args, kwargs), float(timeout)))
