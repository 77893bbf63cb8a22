"""What makes pictures fit for weights that others trained; `weights.transforms()` gives one."""

from ... import _C
from ...nn import Module
from . import functional as F
from .functional import InterpolationMode


class _Preset(Module):
    """A transform that shows its settings, `_shown`."""

    _shown = ()

    def __repr__(self):
        shown = "".join(f"\n    {name}={getattr(self, name)}" for name in self._shown)
        return f"{type(self).__name__}({shown}" + ("\n)" if shown else ")")


class ObjectDetection(_Preset):
    """Numbers from 0 to 1."""

    def forward(self, img):
        return F.convert_image_dtype(img if F.is_tensor(img) else F.pil_to_tensor(img), _C.float32)

    def describe(self):
        return "Accepts ``PIL.Image`` and ``torch.Tensor`` objects. The images are rescaled to ``[0.0, 1.0]``."


class _Normalized(_Preset):
    """Resized, perhaps cut, from 0 to 1, then normalized."""

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


class VideoClassification(_Preset):
    """Videos [..., time, channels, height, width], resized, the middle cut out, normalized: [..., channels, time, ...]."""

    _shown = ("crop_size", "resize_size", "mean", "std", "interpolation")

    def __init__(self, *, crop_size, resize_size, mean=(0.43216, 0.394666, 0.37645), std=(0.22803, 0.22145, 0.216989),
                 interpolation=InterpolationMode.BILINEAR):
        super().__init__()
        self.crop_size, self.resize_size, self.mean, self.std = (list(v) for v in (crop_size, resize_size, mean, std))
        self.interpolation = interpolation

    def forward(self, vid):
        pictures = vid.reshape(-1, *vid.shape[-3:])
        pictures = F.resize(pictures, self.resize_size, interpolation=self.interpolation, antialias=False)
        pictures = F.convert_image_dtype(F.center_crop(pictures, self.crop_size), _C.float32)
        made = F.normalize(pictures, mean=self.mean, std=self.std).view(*vid.shape[:-2], *self.crop_size)
        return made.transpose(-4, -3)

    def describe(self):
        return ("Accepts batched ``(B, T, C, H, W)`` and single ``(T, C, H, W)`` video frame ``torch.Tensor`` objects. The "
                f"frames are resized to ``resize_size={self.resize_size}`` using ``interpolation={self.interpolation}``, cut "
                f"to ``crop_size={self.crop_size}`` in the middle, rescaled to ``[0.0, 1.0]``, normalized using "
                f"``mean={self.mean}`` and ``std={self.std}``, and permuted to ``(..., C, T, H, W)``.")


class OpticalFlow(_Preset):
    """Two pictures with numbers from -1 to 1."""

    def forward(self, img1, img2):
        return tuple(F.normalize(F.convert_image_dtype(img if F.is_tensor(img) else F.pil_to_tensor(img), _C.float32),
                                 mean=[0.5] * 3, std=[0.5] * 3).contiguous() for img in (img1, img2))

    def describe(self):
        return ("Accepts ``PIL.Image``, batched ``(B, C, H, W)`` and single ``(C, H, W)`` image ``torch.Tensor`` objects. The "
                "images are rescaled to ``[-1.0, 1.0]``.")
