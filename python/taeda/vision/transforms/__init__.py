"""Transforms of pictures: tensors (..., channels, height, width), PIL's pictures, or what data sets give without PIL."""

from . import augment, autoaugment, functional, transforms
from .augment import *  # noqa: F403
from .autoaugment import *  # noqa: F403
from .functional import InterpolationMode
from .transforms import *  # noqa: F403

__all__ = transforms.__all__ + augment.__all__ + autoaugment.__all__ + ["InterpolationMode", "functional"]
