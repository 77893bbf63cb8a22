"""torch.utils.dlpack."""

from .._operations.create import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor):
    """The tensor's memory as a capsule of DLPack, for one consumer."""
    return tensor._capsule(False)
