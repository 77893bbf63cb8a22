"""Event files for TensorBoard."""

from .writer import SummaryWriter

__all__ = ["SummaryWriter"]
