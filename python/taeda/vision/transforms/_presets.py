"""What makes pictures fit for weights that others trained; `weights.transforms()` gives one."""

from ... import _C
from ...nn import Module
from . import functional as F
from .functional import InterpolationMode


class ObjectDetection(Module):
    """Numbers from 0 to 1."""

    def forward(self, img):
        return F.convert_image_dtype(img if F.is_tensor(img) else F.pil_to_tensor(img), _C.float32)

    def __repr__(self):
        return f"{type(self).__name__}()"

    def describe(self):
        return "Accepts ``PIL.Image`` and ``torch.Tensor`` objects. The images are rescaled to ``[0.0, 1.0]``."


class _Normalized(Module):
    """Resized, perhaps cut, from 0 to 1, then normalized."""

    _shown = ()

    def __init__(self, resize_size, mean, std, interpolation, antialias):
        super().__init__()
        self.resize_size = [resize_size] if resize_size is not None else None
        self.mean, self.std, self.interpolation, self.antialias = list(mean), list(std), interpolation, antialias

    def _prepared(self, img):
        if self.resize_size is not None:
            img = F.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        return img

    def forward(self, img):
        img = self._prepared(img)
        img = F.convert_image_dtype(img if F.is_tensor(img) else F.pil_to_tensor(img), _C.float32)
        return F.normalize(img, mean=self.mean, std=self.std)

    def __repr__(self):
        return f"{type(self).__name__}(" + "".join(f"\n    {name}={getattr(self, name)}" for name in self._shown) + "\n)"

    def describe(self):
        return (f"Accepts ``PIL.Image`` and ``torch.Tensor`` objects. The images are resized to ``resize_size="
                f"{self.resize_size}`` using ``interpolation={self.interpolation}``, rescaled to ``[0.0, 1.0]`` and then "
                f"normalized using ``mean={self.mean}`` and ``std={self.std}``.")


class ImageClassification(_Normalized):
    """Resized, the middle cut out, normalized."""

    _shown = ("crop_size", "resize_size", "mean", "std", "interpolation")

    def __init__(self, *, crop_size, resize_size=256, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225),
                 interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__(resize_size, mean, std, interpolation, antialias)
        self.crop_size = [crop_size]

    def _prepared(self, img):
        return F.center_crop(super()._prepared(img), self.crop_size)


class SemanticSegmentation(_Normalized):
    """Resized and normalized."""

    _shown = ("resize_size", "mean", "std", "interpolation")

    def __init__(self, *, resize_size, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225),
                 interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__(resize_size, mean, std, interpolation, antialias)
