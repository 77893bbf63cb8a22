"""Sizes given as one number or as one for each dimension."""

import collections.abc
import operator

from ..._tensors.parameter import is_lazy

_OBJECT = 1024  # bytes that a module takes at least
_ADDRESSES = 2**47  # bytes that a process can have


def ntuple(count):
    """A function that makes one number a tuple of `count` and leaves tuples as they are."""
    def expand(value):
        return tuple(value) if isinstance(value, collections.abc.Iterable) else (value,) * count
    return expand


def _ntuple(n, name="parse"):
    """`ntuple` with a name for the function."""
    expand = ntuple(n)
    expand.__name__ = name
    return expand


_single, _pair, _triple, _quadruple = map(ntuple, (1, 2, 3, 4))


def check_copies(name, count, parameters):
    """A RuntimeError at once where no process can hold so many layers with such parameters."""
    each = _OBJECT + sum(p.numel() * p.element_size() for p in parameters if not is_lazy(p) and p.device.type != "meta")
    if operator.index(count) * each > _ADDRESSES:
        raise RuntimeError(f"{name}={count} layers of {each} bytes are more than a process can hold")


def reversed_repeated(padding):
    """(a, b) as F.pad takes it for both sides of each dimension, the last one first: (b, b, a, a)."""
    return tuple(x for x in reversed(padding) for _ in range(2))


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes a prefix, as DistributedDataParallel's "module.", off the names of a state dict, in place."""
    for name in list(state_dict):
        if name.startswith(prefix):
            state_dict[name[len(prefix):]] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        for name in list(metadata):
            if name and (name == prefix.rstrip(".") or name.startswith(prefix)):
                metadata[name[len(prefix):]] = metadata.pop(name)
