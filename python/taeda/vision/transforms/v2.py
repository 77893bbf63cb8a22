"""The second version's names: the same transforms, and those that make tensors in two steps."""

from ... import _C
from ...nn import Module
from . import augment, autoaugment, functional, mixing, transforms
from .augment import *  # noqa: F403
from .autoaugment import *  # noqa: F403
from .functional import InterpolationMode
from .mixing import *  # noqa: F403
from .transforms import *  # noqa: F403

__all__ = transforms.__all__ + augment.__all__ + autoaugment.__all__ + mixing.__all__
__all__ += ["Identity", "InterpolationMode", "ToDtype", "ToImage", "ToPureTensor", "functional"]


class ToImage(Module):
    """A picture or an array (height, width, channels) as tensor (channels, height, width) with the numbers it has."""

    def forward(self, image):
        if functional.is_tensor(image):
            return image
        if functional._is_array(image):
            tensor = _C.from_numpy(image)
            return tensor.permute(2, 0, 1) if tensor.dim() == 3 else tensor.unsqueeze(0)
        return functional.pil_to_tensor(image)


class ToDtype(Module):
    """Another dtype; with `scale` also the range that is usual for it."""

    def __init__(self, dtype, scale=False):
        super().__init__()
        self.dtype, self.scale = dtype, scale

    def forward(self, image):
        return functional.convert_image_dtype(image, self.dtype) if self.scale else image.to(self.dtype)


class ToPureTensor(Module):
    """A tensor as it is."""

    def forward(self, image):
        return image


class Identity(Module):
    """What it gets."""

    def forward(self, image):
        return image
