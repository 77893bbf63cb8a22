"""Changes of colour."""

import functools

from ..._C import _vision as _V
from ._pictures import of_pictures


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


def _as_pictures_round(function):
    """of_pictures for a function that can round what is grey as PIL does."""
    return of_pictures(function, functools.partial(function, as_pil=True))


@_as_pictures_round
def rgb_to_grayscale(img, num_output_channels=1, *, as_pil=False):
    """Grey by the weights of ITU-R BT.601, in one channel or three equal ones."""
    return _V.rgb_to_grayscale(img, num_output_channels, as_pil)


def to_grayscale(img, num_output_channels=1):
    return rgb_to_grayscale(img, num_output_channels)


def _check_factor(name, factor):
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")


@_enhanced("Brightness")
@of_pictures
def adjust_brightness(img, brightness_factor):
    """Factor 0 gives black, 1 the picture."""
    return _V.adjust_brightness(img, brightness_factor)


@_enhanced("Contrast")
@_as_pictures_round
def adjust_contrast(img, contrast_factor, *, as_pil=False):
    """Factor 0 gives the mean of the grey picture everywhere, 1 the picture."""
    return _V.adjust_contrast(img, contrast_factor, as_pil)


@_enhanced("Color")
@_as_pictures_round
def adjust_saturation(img, saturation_factor, *, as_pil=False):
    """Factor 0 gives the grey picture, 1 the picture."""
    return _V.adjust_saturation(img, saturation_factor, as_pil)


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
    return _V.adjust_hue(img, hue_factor)


@of_pictures
def adjust_gamma(img, gamma, gain=1):
    """gain * img ** gamma, of values from 0 to 1."""
    return _V.adjust_gamma(img, gamma, gain)


@of_pictures
def invert(img):
    """Each value from the other end of its range."""
    return _V.invert(img)


@of_pictures
def posterize(img, bits):
    """Only the first `bits` bits of each byte."""
    return _V.posterize(img, bits)


@of_pictures
def solarize(img, threshold):
    """Values from the threshold on are inverted."""
    return _V.solarize(img, threshold)


@_enhanced("Sharpness")
@of_pictures
def adjust_sharpness(img, sharpness_factor):
    """Factor 0 gives a blurred picture, 1 the picture, 2 one that is sharper."""
    return _V.adjust_sharpness(img, sharpness_factor)


@of_pictures
def autocontrast(img):
    """Each channel stretched to the whole range."""
    return _V.autocontrast(img)


@of_pictures
def equalize(img):
    """Each channel with its values spread so that all are about equally frequent."""
    return _V.equalize(img)
