"""torch.utils.dlpack."""

from .._operations.memory import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
