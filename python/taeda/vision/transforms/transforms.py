"""The classes. Random ones draw the numbers that torchvision draws from the same seed."""

import numbers
import random

from ... import _C
from ..._C import _vision as _V
from ...nn import Module
from . import functional as F
from ._sizes import pair_of
from .functional import InterpolationMode

__all__ = ["CenterCrop", "Compose", "ConvertImageDtype", "Lambda", "Normalize", "PILToTensor", "Pad",
           "RandomAdjustSharpness", "RandomApply", "RandomAutocontrast", "RandomChoice", "RandomCrop", "RandomEqualize",
           "RandomGrayscale", "RandomHorizontalFlip", "RandomInvert", "RandomOrder", "RandomPerspective",
           "RandomPosterize", "RandomSolarize", "RandomVerticalFlip", "Resize", "ToPILImage", "ToTensor"]


_uniform, _below = _V.uniform, _V.below  # a number between two, and one of 0 ... n - 1


def _happens(p):
    return _C.rand(1).item() < p


class Compose:
    """One transform after the other."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return _listed(self, self.transforms)


def _listed(owner, transforms, first=""):
    inside = "".join(f"\n    {transform}" for transform in transforms)
    return f"{type(owner).__name__}({first}{inside}\n)"


class ToTensor:
    """A picture, or an array (height, width, channels), as float tensor (channels, height, width) from 0 to 1."""

    def __call__(self, pic):
        return F.to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class PILToTensor:
    """A picture as tensor of bytes."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class ConvertImageDtype(Module):
    """Another dtype, with the range that is usual for it."""

    def __init__(self, dtype):
        super().__init__()
        if not isinstance(dtype, _C.dtype):
            raise TypeError(f"Argument dtype should be of type torch.dtype, got {type(dtype)}")
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class ToPILImage:
    """A tensor or array as picture."""

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class Normalize(Module):
    """(tensor - mean) / std by channel."""

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self):
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class Resize(Module):
    """To (height, width), or so that the shorter side has `size` pixels."""

    def __init__(self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        if not isinstance(size, (int, list, tuple)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, (list, tuple)) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size, self.max_size, self.antialias = size, max_size, antialias
        self.interpolation = F.mode_of(interpolation)

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        return (f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
                f"max_size={self.max_size}, antialias={self.antialias})")


class CenterCrop(Module):
    """The middle; zeros are added around a picture that is smaller."""

    def __init__(self, size):
        super().__init__()
        self.size = pair_of(size)

    def forward(self, img):
        return F.center_crop(img, self.size)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size})"


class Pad(Module):
    """Adds pixels around: constant, or "edge", "reflect", "symmetric" as `padding_mode`."""

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        if not isinstance(padding, (numbers.Number, tuple, list)):
            raise TypeError("Got inappropriate padding arg")
        if not isinstance(fill, (numbers.Number, str, tuple, list)):
            raise TypeError("Got inappropriate fill arg")
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
        if not isinstance(padding, numbers.Number) and len(padding) not in (1, 2, 4):
            raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple")
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self):
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class Lambda:
    """A function as transform."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return f"{type(self).__name__}()"


class RandomTransforms:
    """What chooses among transforms."""

    def __init__(self, transforms):
        if not isinstance(transforms, (list, tuple)):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __repr__(self):
        return _listed(self, self.transforms)


class RandomApply(Module):
    """All of the transforms, or with probability 1 - p none."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img):
        if self.p < _C.rand(1).item():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return _listed(self, self.transforms, f"\n    p={self.p}")


class RandomOrder(RandomTransforms):
    """All of them, in random order."""

    def __call__(self, img):
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomChoice(RandomTransforms):
    """One of them, with probabilities `p` if given."""

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and not isinstance(p, (list, tuple)):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args):
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self):
        return f"{super().__repr__()}(p={self.p})"


class RandomCrop(Module):
    """A piece at a random place, of a picture that is padded before if `padding` says so."""

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = tuple(pair_of(size))
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    @staticmethod
    def get_params(img, output_size):
        """(top, left, height, width) of a random piece."""
        return _V.draw_crop(F.get_dimensions(img)[1:], output_size)

    def forward(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        _, height, width = F.get_dimensions(img)
        if self.pad_if_needed and width < self.size[1]:
            img = F.pad(img, [self.size[1] - width, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and height < self.size[0]:
            img = F.pad(img, [0, self.size[0] - height], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class _Sometimes(Module):
    """A change that happens with probability p."""

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        if _C.rand(1).item() < self.p:
            return self.change(img)
        if not F.is_tensor(img):
            F.get_dimensions(img)
        return img

    def __repr__(self):
        shown = [f"{name}={getattr(self, name)}" for name in getattr(self, "shown", ())] + [f"p={self.p}"]
        return f"{type(self).__name__}({','.join(shown)})"


class RandomHorizontalFlip(_Sometimes):
    """Mirrors left and right with probability p."""

    def change(self, img):
        return F.hflip(img)


class RandomVerticalFlip(_Sometimes):
    """Mirrors top and bottom with probability p."""

    def change(self, img):
        return F.vflip(img)


class RandomInvert(_Sometimes):
    """Inverts the colours with probability p."""

    def change(self, img):
        return F.invert(img)


class RandomAutocontrast(_Sometimes):
    """Stretches each channel to the whole range with probability p."""

    def change(self, img):
        return F.autocontrast(img)


class RandomEqualize(_Sometimes):
    """Equalizes the histogram with probability p."""

    def change(self, img):
        return F.equalize(img)


class RandomPosterize(_Sometimes):
    """Keeps `bits` bits of each byte with probability p."""

    shown = ("bits",)

    def __init__(self, bits, p=0.5):
        super().__init__(p)
        self.bits = bits

    def change(self, img):
        return F.posterize(img, self.bits)


class RandomSolarize(_Sometimes):
    """Inverts values from a threshold on with probability p."""

    shown = ("threshold",)

    def __init__(self, threshold, p=0.5):
        super().__init__(p)
        self.threshold = threshold

    def change(self, img):
        return F.solarize(img, self.threshold)


class RandomAdjustSharpness(_Sometimes):
    """Changes the sharpness with probability p."""

    shown = ("sharpness_factor",)

    def __init__(self, sharpness_factor, p=0.5):
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def change(self, img):
        return F.adjust_sharpness(img, self.sharpness_factor)


class RandomGrayscale(_Sometimes):
    """Grey, in as many channels as before, with probability p."""

    def __init__(self, p=0.1):
        super().__init__(p)

    def change(self, img):
        return F.rgb_to_grayscale(img, F.get_image_num_channels(img))


class RandomPerspective(_Sometimes):
    """Moves the corners inwards at random with probability p."""

    def __init__(self, distortion_scale=0.5, p=0.5, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__(p)
        self.distortion_scale, self.interpolation, self.fill = distortion_scale, F.mode_of(interpolation), fill

    @staticmethod
    def get_params(width, height, distortion_scale):
        """Start points and end points of the corners, from top left with the clock."""
        return _V.draw_perspective((height, width), distortion_scale)

    def change(self, img):
        _, height, width = F.get_dimensions(img)
        fill = self.fill if isinstance(self.fill, (int, float)) else list(self.fill)
        return F.perspective(img, *self.get_params(width, height, self.distortion_scale), self.interpolation, fill)
