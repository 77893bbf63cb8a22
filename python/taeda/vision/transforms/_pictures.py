"""What a picture is, for functions of tensors that take pictures of other kinds as well."""

import enum
import functools

from ... import _C
from ..._C import _vision as _V
from .. import picture as pictures
from ._corners import Placed


class InterpolationMode(enum.Enum):
    """How values between pixels are found."""

    __module__ = "taeda.vision.transforms.functional"

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PIL_MODES = {0: InterpolationMode.NEAREST, 1: InterpolationMode.LANCZOS, 2: InterpolationMode.BILINEAR,
              3: InterpolationMode.BICUBIC, 4: InterpolationMode.BOX, 5: InterpolationMode.HAMMING}
_PIL_CODES = {"nearest": 0, "nearest-exact": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


def mode_of(interpolation):
    return _PIL_MODES[int(interpolation)] if isinstance(interpolation, int) else interpolation


def is_tensor(value):
    return isinstance(value, _C.TensorBase)


def of_pictures(function, on_pictures=None):
    """Lets a function of tensors take pictures as well (another one, where PIL rounds otherwise), and refuses all else."""
    on_pictures = on_pictures or function

    @functools.wraps(function)
    def call(img, *args, **kwargs):
        if is_tensor(img):
            if img.dim() < 2:
                raise TypeError("Tensor is not a torch image.")
            return function(img, *args, **kwargs)
        if isinstance(img, Placed):
            moved = getattr(img, function.__name__.lstrip("_"), None)
            if moved is None:
                raise NotImplementedError(f"{function.__name__} of {img.what}: Taeda flips, crops, pads and resizes them")
            return moved(*args, **kwargs)
        if pictures.is_picture(img):
            return pictures.on_bytes(img, lambda t: on_pictures(t, *args, **kwargs))
        raise TypeError(f"img should be PIL Image. Got {type(img)}")
    return call


def get_dimensions(img):
    """[channels, height, width]"""
    if is_tensor(img):
        return [1 if img.dim() == 2 else img.size(-3), img.size(-2), img.size(-1)]
    if isinstance(img, Placed):
        return [0, *img.size]
    if not pictures.is_picture(img):
        raise TypeError(f"Unexpected type {type(img)}")
    return [len(img.getbands()), img.height, img.width]


def convert_image_dtype(image, dtype=_C.float32):
    """Another dtype, with the range that is usual for it: floats from 0 to 1, integers up to their largest."""
    if not is_tensor(image):
        raise TypeError("Input img should be Tensor Image")
    return _V.convert_image_dtype(image, dtype)
