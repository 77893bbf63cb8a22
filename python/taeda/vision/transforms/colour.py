"""Changes of colour."""

import functools

from ... import _C
from ._pictures import convert_image_dtype, get_dimensions, of_pictures


def _largest(img):
    return 1.0 if img.is_floating_point() else 255


def _blend(img, other, ratio):
    ratio = float(ratio)  # a whole number would keep bytes bytes, and wrap them
    return (ratio * img + (1.0 - ratio) * other).clamp(0, _largest(img)).to(img.dtype)


def _enhanced(kind):
    """Leaves pictures of PIL to its ImageEnhance, which rounds otherwise than arithmetic on tensors does."""
    def decorate(function):
        @functools.wraps(function)
        def call(img, *args, **kwargs):
            if type(img).__module__.partition(".")[0] != "PIL":
                return function(img, *args, **kwargs)
            from PIL import ImageEnhance
            factor, = (*args, *kwargs.values())
            _check_factor(f"{function.__name__[7:]}_factor", factor)
            return getattr(ImageEnhance, kind)(img).enhance(factor)
        return call
    return decorate


def _check_channels(img, permitted):
    channels = get_dimensions(img)[0]
    if channels not in permitted:
        raise TypeError(f"Input image tensor permitted channel values are {permitted}, but found {channels}")
    return channels


def _grey(img):
    red, green, blue = img.unbind(-3)
    return (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)


def _grey_of_bytes(img):
    """Grey as PIL rounds it: weights in parts of 65536."""
    red, green, blue = img.to(_C.int32).unbind(-3)
    return ((red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16).to(img.dtype).unsqueeze(-3)


def _as_pictures_round(function):
    """of_pictures for a function that takes the way to grey as `grey`."""
    return of_pictures(function, functools.partial(function, grey=_grey_of_bytes))


@_as_pictures_round
def rgb_to_grayscale(img, num_output_channels=1, *, grey=_grey):
    """Grey by the weights of ITU-R BT.601, in one channel or three equal ones."""
    if img.dim() < 3:
        raise TypeError("Input image tensor should have at least 3 dimensions, but found " + str(img.dim()))
    channels = _check_channels(img, [1, 3])
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    found = grey(img) if channels == 3 else img.clone()
    return found.expand(img.shape[:-3] + (3,) + img.shape[-2:]) if num_output_channels == 3 else found


def to_grayscale(img, num_output_channels=1):
    return rgb_to_grayscale(img, num_output_channels)


def _check_factor(name, factor):
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


@_enhanced("Brightness")
@of_pictures
def adjust_brightness(img, brightness_factor):
    """Factor 0 gives black, 1 the picture."""
    _check_factor("brightness_factor", brightness_factor)
    _check_channels(img, [1, 3])
    return _blend(img, _C.zeros_like(img), brightness_factor)


@_enhanced("Contrast")
@_as_pictures_round
def adjust_contrast(img, contrast_factor, *, grey=_grey):
    """Factor 0 gives the mean of the grey picture everywhere, 1 the picture."""
    _check_factor("contrast_factor", contrast_factor)
    channels = _check_channels(img, [1, 3])
    floats = img.dtype if img.is_floating_point() else _C.float32
    mean = (grey(img) if channels == 3 else img).to(floats).mean((-3, -2, -1), keepdim=True)
    mean = mean if grey is _grey else (mean + 0.5).floor()
    return _blend(img, mean, contrast_factor)


@_enhanced("Color")
@_as_pictures_round
def adjust_saturation(img, saturation_factor, *, grey=_grey):
    """Factor 0 gives the grey picture, 1 the picture."""
    _check_factor("saturation_factor", saturation_factor)
    if _check_channels(img, [1, 3]) == 1:
        return img
    return _blend(img, grey(img), saturation_factor)


def adjust_hue(img, hue_factor):
    """Moves the hue by a part of the circle of colours, from -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if type(img).__module__.partition(".")[0] != "PIL":
        return _turned_hue(img, hue_factor)
    if img.mode in ("1", "I", "F", "L"):
        return img
    hue, saturation, value = img.convert("HSV").split()  # bytes, which go round
    hue = hue.point([(v + int(hue_factor * 255)) % 256 for v in range(256)])
    from PIL import Image
    return Image.merge("HSV", (hue, saturation, value)).convert(img.mode)


@of_pictures
def _turned_hue(img, hue_factor):
    if _check_channels(img, [1, 3]) == 1 or img.numel() == 0:
        return img
    floats = convert_image_dtype(img, _C.float32)
    flat = floats.cpu().reshape(-1, *floats.shape[-3:])
    moved = _C.stack([_C._vision.adjust_hue(one.contiguous(), hue_factor) for one in flat])
    return convert_image_dtype(moved.reshape(img.shape).to(img.device), img.dtype)


@of_pictures
def adjust_gamma(img, gamma, gain=1):
    """gain * img ** gamma, of values from 0 to 1."""
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    floats = img if img.is_floating_point() else convert_image_dtype(img, _C.float32)
    return convert_image_dtype((gain * floats ** gamma).clamp(0, 1), img.dtype)


@of_pictures
def invert(img):
    return _largest(img) - img


@of_pictures
def posterize(img, bits):
    """Only the first `bits` bits of each byte."""
    if img.dtype != _C.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")
    return img & (256 - 2 ** (8 - bits))


@of_pictures
def solarize(img, threshold):
    """Values from the threshold on are inverted."""
    if threshold > _largest(img):
        raise TypeError("Threshold should be less than bound of img.")
    return _C.where(img >= threshold, _largest(img) - img, img)


@_enhanced("Sharpness")
@of_pictures
def adjust_sharpness(img, sharpness_factor):
    """Factor 0 gives a blurred picture, 1 the picture, 2 one that is sharper."""
    from ...nn.functional import conv2d
    _check_factor("sharpness_factor", sharpness_factor)
    if img.size(-1) <= 2 or img.size(-2) <= 2:
        return img
    floats = img if img.is_floating_point() else img.to(_C.float32)
    kernel = _C._tensor_from([[1.0, 1, 1], [1, 5, 1], [1, 1, 1]], floats.dtype, floats.device) / 13
    flat = floats.reshape(-1, 1, *floats.shape[-2:])
    inside = conv2d(flat, kernel[None, None]).reshape(*img.shape[:-2], img.size(-2) - 2, img.size(-1) - 2)
    blurred = img.clone()
    blurred[..., 1:-1, 1:-1] = inside if img.is_floating_point() else inside.round().to(img.dtype)
    return _blend(img, blurred, sharpness_factor)


@of_pictures
def autocontrast(img):
    """Each channel stretched to the whole range."""
    bound = _largest(img)
    floats = img if img.is_floating_point() else img.to(_C.float32)
    low, high = floats.amin((-2, -1), keepdim=True), floats.amax((-2, -1), keepdim=True)
    scale = bound / (high - low)
    flat = ~_C.isfinite(scale)
    low, scale = _C.where(flat, _C.zeros_like(low), low), _C.where(flat, _C.ones_like(scale), scale)
    return ((floats - low) * scale).clamp(0, bound).to(img.dtype)


@of_pictures
def equalize(img):
    """Each channel with its values spread so that all are about equally frequent."""
    if img.dtype != _C.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")
    return _C.stack([_equalized(plane) for plane in img.reshape(-1, *img.shape[-2:])]).reshape(img.shape)


def _equalized(plane):
    counts = _C.bincount(plane.flatten().to(_C.int64), minlength=256)
    used = counts[counts != 0]
    step = int(_C.div(used[:-1].sum(), 255, rounding_mode="floor"))
    if step == 0:
        return plane
    table = _C.div(counts.cumsum(0) + step // 2, step, rounding_mode="floor")
    table = _C.cat([_C.zeros(1, dtype=table.dtype), table[:-1]]).clamp(0, 255)
    return table[plane.to(_C.int64)].to(_C.uint8)
