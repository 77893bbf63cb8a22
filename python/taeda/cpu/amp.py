"""torch.cpu.amp: automatic mixed precision on the CPU."""

from ..amp import AutocastOfType, GradScalerOfType

__all__ = ["GradScaler", "autocast"]


class autocast(AutocastOfType):
    """torch.amp.autocast("cpu")"""


class GradScaler(GradScalerOfType):
    """torch.amp.GradScaler("cpu")"""
