"""Handles of hooks."""

from .._tensor import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook"]


def unserializable_hook(f):
    """Marks a hook that pickles leave out."""
    f.__torch_unserializable__ = True
    return f
