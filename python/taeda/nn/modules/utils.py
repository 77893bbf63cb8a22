"""Sizes given as one number or as one for each dimension."""

import collections.abc


def ntuple(count):
    """A function that makes one number a tuple of `count` and leaves tuples as they are."""
    def expand(value):
        return tuple(value) if isinstance(value, collections.abc.Iterable) else (value,) * count
    return expand


_single, _pair, _triple, _quadruple = map(ntuple, (1, 2, 3, 4))


def reversed_repeated(padding):
    """(a, b) as F.pad takes it for both sides of each dimension, the last one first: (b, b, a, a)."""
    return tuple(x for x in reversed(padding) for _ in range(2))
