"""Transforms that choose a piece, an angle, colours or noise at random, and several pieces at once."""

import numbers

from ... import _C
from ..._C import _vision as _V
from ...nn import Module
from . import functional as F
from ._sizes import pair_of
from .functional import InterpolationMode
from .transforms import _happens, _uniform
from ..._core.warnings import warn

__all__ = ["RandomResizedCrop", "FiveCrop", "TenCrop", "LinearTransformation", "ColorJitter", "RandomRotation",
           "RandomAffine", "ElasticTransform", "Grayscale", "RandomErasing", "GaussianBlur"]


class RandomResizedCrop(Module):
    """A random piece - of `scale` of the area, with a ratio of sides from `ratio` - in one size."""

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=InterpolationMode.BILINEAR,
                 antialias=True):
        super().__init__()
        self.size = pair_of(size)
        for name, value in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(value, (list, tuple)):
                raise TypeError(f"{name} should be a sequence")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warn("Scale and ratio should be of kind (min, max)")
        self.scale, self.ratio, self.interpolation, self.antialias = scale, ratio, F.mode_of(interpolation), antialias

    @staticmethod
    def get_params(img, scale, ratio):
        """(top, left, height, width) of a random piece."""
        return _V.draw_resized_crop(F.get_dimensions(img)[1:], scale, ratio)

    def forward(self, img):
        place = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *place, self.size, self.interpolation, self.antialias)

    def __repr__(self):
        return (f"{type(self).__name__}(size={self.size}, scale={tuple(round(s, 4) for s in self.scale)}, "
                f"ratio={tuple(round(r, 4) for r in self.ratio)}, interpolation={self.interpolation.value}, "
                f"antialias={self.antialias})")


class FiveCrop(Module):
    """The four corners and the middle."""

    def __init__(self, size):
        super().__init__()
        self.size = pair_of(size)

    def forward(self, img):
        return F.five_crop(img, self.size)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size})"


class TenCrop(Module):
    """FiveCrop of the picture and of its mirror image."""

    def __init__(self, size, vertical_flip=False):
        super().__init__()
        self.size, self.vertical_flip = pair_of(size), vertical_flip

    def forward(self, img):
        return F.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"


class LinearTransformation(Module):
    """(flattened tensor - mean) times a square matrix, as for whitening."""

    def __init__(self, transformation_matrix, mean_vector):
        super().__init__()
        rows, columns = transformation_matrix.shape
        if rows != columns:
            raise ValueError(f"transformation_matrix should be square. Got {list(transformation_matrix.shape)} rectangular "
                             "matrix.")
        if mean_vector.size(0) != rows:
            raise ValueError(f"mean_vector should have the same length {mean_vector.size(0)} as any one of the dimensions of "
                             f"the transformation_matrix [{list(transformation_matrix.shape)}]")
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def forward(self, tensor):
        n = tensor.size(-3) * tensor.size(-2) * tensor.size(-1)
        if n != self.transformation_matrix.shape[0]:
            raise ValueError("Input tensor and transformation matrix have incompatible shape."
                             f"[{tensor.shape[-3]} x {tensor.shape[-2]} x {tensor.shape[-1]}] != "
                             f"{self.transformation_matrix.shape[0]}")
        return ((tensor.reshape(-1, n) - self.mean_vector) @ self.transformation_matrix).reshape(tensor.shape)


class ColorJitter(Module):
    """Brightness, contrast and saturation times a factor from [1 - x, 1 + x] or (low, high), hue moved by [-x, x] of the
    circle, in a random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self.brightness = self._range(brightness, "brightness")
        self.contrast = self._range(contrast, "contrast")
        self.saturation = self._range(saturation, "saturation")
        self.hue = self._range(hue, "hue", 0, (-0.5, 0.5), False)

    @staticmethod
    def _range(value, name, center=1, bound=(0, float("inf")), clip=True):
        if isinstance(value, numbers.Number):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            value = [center - float(value), center + float(value)]
            if clip:
                value[0] = max(value[0], 0.0)
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            value = [float(value[0]), float(value[1])]
        else:
            raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
        if not bound[0] <= value[0] <= value[1] <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {value}.")
        return None if value[0] == value[1] == center else tuple(value)

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        """The order, and a number for each change; None for those that are not made."""
        order = _C.randperm(4)
        return (order, *(None if r is None else _uniform(*r) for r in (brightness, contrast, saturation, hue)))

    def forward(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for i in order.tolist():
            if factors[i] is not None:
                img = changes[i](img, factors[i])
        return img

    def __repr__(self):
        return (f"{type(self).__name__}(brightness={self.brightness}, contrast={self.contrast}, "
                f"saturation={self.saturation}, hue={self.hue})")


def _angles(x, name, sizes=(2,)):
    if isinstance(x, numbers.Number):
        if x < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return [-float(x), float(x)]
    if not isinstance(x, (list, tuple)):
        raise TypeError(f"{name} should be a sequence of length {' or '.join(map(str, sizes))}.")
    if len(x) not in sizes:
        raise ValueError(f"{name} should be a sequence of length {' or '.join(map(str, sizes))}.")
    return [float(d) for d in x]


class RandomRotation(Module):
    """Turns by a random angle, in degrees from [-x, x] or (low, high)."""

    def __init__(self, degrees, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=0):
        super().__init__()
        self.degrees = _angles(degrees, "degrees")
        self.center, self.interpolation, self.expand = center, F.mode_of(interpolation), expand
        self.resample, self.fill = self.interpolation, 0 if fill is None else fill

    @staticmethod
    def get_params(degrees):
        return _uniform(degrees[0], degrees[1])

    def forward(self, img):
        return F.rotate(img, self.get_params(self.degrees), self.interpolation, self.expand, self.center, self.fill)

    def __repr__(self):
        center = f", center={self.center}" if self.center is not None else ""
        fill = f", fill={self.fill}" if self.fill is not None else ""
        return (f"{type(self).__name__}(degrees={self.degrees}, interpolation={self.interpolation.value}, "
                f"expand={self.expand}{center}{fill})")


class RandomAffine(Module):
    """Turns, moves (by parts of the sides), scales and shears at random."""

    def __init__(self, degrees, translate=None, scale=None, shear=None, interpolation=InterpolationMode.NEAREST, fill=0,
                 center=None):
        super().__init__()
        self.degrees = _angles(degrees, "degrees")
        if translate is not None and not all(0.0 <= t <= 1.0 for t in translate):
            raise ValueError("translation values should be between 0 and 1")
        if scale is not None and any(s <= 0 for s in scale):
            raise ValueError("scale values should be positive")
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else _angles(shear, "shear", (2, 4))
        self.interpolation, self.fill, self.center = F.mode_of(interpolation), 0 if fill is None else fill, center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        """Angle, pixels to move by, scale and shears; `img_size` is (width, height)."""
        return _V.draw_affine(degrees, translate, scale_ranges, shears or (), img_size[::-1])

    def forward(self, img):
        _, height, width = F.get_dimensions(img)
        angle, moved, scale, shear = self.get_params(self.degrees, self.translate, self.scale, self.shear, [width, height])
        return F.affine(img, angle, moved, scale, list(shear), self.interpolation, self.fill, self.center)

    def __repr__(self):
        text = f"{type(self).__name__}(degrees={self.degrees}"
        for name in ("translate", "scale", "shear"):
            text += f", {name}={getattr(self, name)}" if getattr(self, name) is not None else ""
        if self.interpolation != InterpolationMode.NEAREST:
            text += f", interpolation={self.interpolation.value}"
        text += f", fill={self.fill}" if self.fill != 0 else ""
        return text + (f", center={self.center}" if self.center is not None else "") + ")"


def _two_floats(value, name):
    if isinstance(value, (int, float)):
        value = [float(value)] * 2
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} should be float or a sequence of floats. Got {type(value)}")
    if len(value) not in (1, 2):
        raise ValueError(f"{name} is a sequence its length should be one of (1, 2). Got {len(value)}")
    return [float(v) for v in value] * (3 - len(value))


class ElasticTransform(Module):
    """Moves each pixel at random, neighbours alike: `alpha` says how far (across and down), `sigma` how smoothly."""

    def __init__(self, alpha=50.0, sigma=5.0, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__()
        self.alpha, self.sigma = _two_floats(alpha, "alpha"), _two_floats(sigma, "sigma")
        self.interpolation = F.mode_of(interpolation)
        self.fill = [float(fill)] if isinstance(fill, (int, float)) else [float(f) for f in fill]

    @staticmethod
    def get_params(alpha, sigma, size):
        """Where pixels of a picture of `size` (height, width) come from: [1, height, width, 2]."""
        return _V.draw_elastic(alpha, sigma, size)

    def forward(self, tensor):
        moved = self.get_params(self.alpha, self.sigma, F.get_dimensions(tensor)[1:])
        return F.elastic_transform(tensor, moved, self.interpolation, self.fill)

    def __repr__(self):
        return (f"{type(self).__name__}(alpha={self.alpha}, sigma={self.sigma}, interpolation={self.interpolation}, "
                f"fill={self.fill})")


class Grayscale(Module):
    """Grey, in one channel or three equal ones."""

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self):
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class RandomErasing(Module):
    """Replaces, with probability p, a random rectangle of a tensor by a value or (value "random") by noise."""

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__()
        if not isinstance(value, (numbers.Number, str, tuple, list)):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.p, self.scale, self.ratio, self.value, self.inplace = p, scale, ratio, value, inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        """(top, left, height, width, values) of what is erased."""
        return _V.draw_erasing(img, scale, ratio, value)

    def forward(self, img):
        if not _happens(self.p):
            return img
        value = self.value
        if isinstance(value, (int, float)):
            value = [float(value)]
        elif isinstance(value, str):
            value = None
        x, y, h, w, v = self.get_params(img, self.scale, self.ratio, value)
        return F.erase(img, x, y, h, w, v, self.inplace)

    def __repr__(self):
        return (f"{type(self).__name__}(p={self.p}, scale={self.scale}, ratio={self.ratio}, value={self.value}, "
                f"inplace={self.inplace})")


class GaussianBlur(Module):
    """Blurs by a Gaussian of a random width from `sigma`."""

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = pair_of(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(n <= 0 or n % 2 == 0 for n in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        if isinstance(sigma, numbers.Number):
            if sigma <= 0:
                raise ValueError("If sigma is a single number, it must be positive.")
            sigma = (sigma, sigma)
        elif not isinstance(sigma, (list, tuple)) or len(sigma) != 2:
            raise TypeError(f"sigma should be a single number or a list/tuple with length 2, but got {type(sigma)}")
        elif not 0.0 < sigma[0] <= sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {sigma}")
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min, sigma_max):
        return _uniform(sigma_min, sigma_max)

    def forward(self, img):
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return F.gaussian_blur(img, self.kernel_size, [sigma, sigma])

    def __repr__(self):
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"
