"""Rotations, shears and perspectives: where each pixel of the result comes from, and what is there."""

from ... import _C
from ..._C import _vision as _V
from .. import picture as pictures
from ._pictures import _PIL_CODES, InterpolationMode, mode_of, of_pictures


def _by_pil(img):
    """Whether it is a picture of PIL's, which turns its own: it rounds otherwise than tensors are."""
    return pictures.is_picture(img) and not isinstance(img, pictures.Picture)


def _pil_fill(img, fill):
    """Options for the colour outside of a picture of PIL's."""
    bands = len(img.getbands())
    fill = 0 if fill is None else fill
    if bands > 1:
        fill = (int(fill),) * bands if isinstance(fill, (int, float)) else tuple(map(int, fill))
        fill = fill * bands if len(fill) == 1 else fill
        if len(fill) != bands:
            raise ValueError(f"The number of elements in 'fill' does not match the number of channels of the image "
                             f"({len(fill)} != {bands})")
    elif not isinstance(fill, (int, float)):
        fill = fill[0]
    return {"fillcolor": fill}


def _pil_transform(img, method, numbers, interpolation, fill):
    """PIL's transform by the six numbers of an affine map (method 0) or the eight of a perspective (2)."""
    return img.transform(img.size, method, numbers, _PIL_CODES[mode_of(interpolation).value], **_pil_fill(img, fill))


def _pair(value):
    """(value, 0) of one number, twice the number in a list of one, else two."""
    return [float(value), 0.0] if isinstance(value, (int, float)) else [float(v) for v in value] * (3 - len(value))


@of_pictures
def _rotate(img, *settings):
    return _V.rotate(img, *settings)


def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    """Turns by `angle` degrees, against the clock; with `expand` the result holds all of the picture."""
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if _by_pil(img):
        return img.rotate(angle, _PIL_CODES[mode_of(interpolation).value], expand, center, **_pil_fill(img, fill))
    return _rotate(img, angle, mode_of(interpolation).value, expand, center, fill)


@of_pictures
def _affine(img, *settings):
    return _V.affine(img, *settings)


def affine(img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    """Turns (with the clock), moves by pixels, scales and shears (degrees) around the middle."""
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    places = [float(t) for t in translate], scale, _pair(shear)
    if _by_pil(img):
        middle = [img.width * 0.5, img.height * 0.5] if center is None else center
        return _pil_transform(img, 0, _V.inverse_affine_matrix(middle, angle, *places), interpolation, fill)
    return _affine(img, angle, *places, mode_of(interpolation).value, fill, center)


@of_pictures
def _perspective(img, *settings):
    return _V.perspective(img, *settings)


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Moves four corners, given as (x, y), from the start points to the end points."""
    if _by_pil(img):
        return _pil_transform(img, 2, _V.perspective_coefficients(startpoints, endpoints), interpolation, fill)
    return _perspective(img, startpoints, endpoints, mode_of(interpolation).value, fill)


@of_pictures
def _elastic_transform(img, *settings):
    return _V.elastic_transform(img, *settings)


def elastic_transform(img, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Takes each pixel from a place beside it: `displacement` [1, height, width, 2] (x, y), where 2 is the picture's side."""
    if not isinstance(displacement, _C.TensorBase):
        raise TypeError("Argument displacement should be a Tensor")
    return _elastic_transform(img, displacement, mode_of(interpolation).value, fill)
