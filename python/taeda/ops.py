"""torch.ops: operations by their namespaces: `torch.ops.aten` has the library's own, others what torch.library defined."""

import functools

from . import _C, fft, linalg, sparse, special
from . import library as _library
from ._core.missing import reason
from ._core.stand_ins import stand_in
from ._tensor import Tensor


def _part(self, dim=0, start=None, end=None, step=1):
    dim %= self.dim()
    return self[(slice(None),) * dim + (slice(start, end, step),)]


def _indexed(self, indices):
    if not len(indices):
        raise IndexError("at least one index must be provided")
    return self[tuple(slice(None) if index is None else index for index in indices)]


# What PyTorch's dispatcher has by a name of its own.
_OWN_NAMES = {
    "alias": lambda self: self.view_as(self), "slice": _part, "index": _indexed,
    "_unsafe_view": lambda self, size: self.reshape(size),
    "_to_copy": lambda self, *, pin_memory=None, **options: self.to(**options, copy=True),
    "_local_scalar_dense": Tensor.item, "sym_size": Tensor.size, "sym_stride": Tensor.stride, "sym_numel": Tensor.numel,
}


# Whose names the dispatcher has with theirs before them: linalg_inv.
_ROOMS = {"fft": fft, "linalg": linalg, "sparse": sparse, "special": special}


class OpOverload:
    """An overload of an operation. It is called as the operation is, which finds the overload by the arguments."""

    def __init__(self, packet, overload):
        self.overloadpacket, self._overloadname = packet, overload
        self.namespace, self.__name__ = packet.namespace, f"{packet.__name__}.{overload}"

    def __call__(self, *args, **kwargs):
        return self.overloadpacket(*args, **kwargs)

    def name(self):
        return str(self.overloadpacket._qualname) + ("" if self._overloadname == "default" else f".{self._overloadname}")

    def __repr__(self):
        return f"<OpOverload(op='{self.overloadpacket._qualname}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"


class OpOverloadPacket:
    """An operation of the library by the name that PyTorch's dispatcher has for it; its attributes are its overloads."""

    def __init__(self, namespace, name, call):
        self.namespace, self.__name__, self._qualname, self._call = namespace, name, f"{namespace}::{name}", call

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def __getattr__(self, overload):
        if overload.startswith("__"):
            raise AttributeError(f"'{self}' object has no attribute '{overload}'")
        self.__dict__[overload] = OpOverload(self, overload)
        return self.__dict__[overload]

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self.namespace}.{self.__name__}')>"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"


@functools.cache
def _library_operation(name):
    """The operation of torch.ops.aten, a stand-in for one that Taeda has not, or None."""
    room, _, last = name.partition("_")
    places = [(_C, name), (_C._nn, name), (Tensor, name)]
    if room in _ROOMS:
        places.insert(0, (_ROOMS[room], last))
    call = _OWN_NAMES.get(name) or next((found for home, of in places if callable(found := getattr(home, of, None))), None)
    if call is None or isinstance(call, type):
        said = reason("torch.ops.aten", name)
        return stand_in(f"torch.ops.aten.{name}", said) if said else None
    return OpOverloadPacket("aten", name, call)


HigherOrderOperator = stand_in("torch._ops.HigherOrderOperator", "Taeda has no operations that take functions")


class _Namespace:
    """What is called namespace::name."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        found = _library._operations.get(f"{self.name}::{name}")
        if found is None and self.name == "aten" and not name.startswith("__"):
            found = _library_operation(name)
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}': Taeda has in torch.ops what "
                                 "torch.library defined, and in torch.ops.aten its own operations")
        return found

    def __dir__(self):
        return [op._name for op in _library._operations.values() if op._namespace == self.name]

    def __repr__(self):
        return f"<module 'torch.ops.{self.name}'>"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
    return _Namespace(name)
