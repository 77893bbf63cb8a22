"""torchvision.transforms.v2.functional: the functions of pictures for masks and boxes, too."""

import functools

from ... import _C
from .. import tv_tensors
from . import functional as F
from ._corners import Points
from ._samples import (  # noqa: F401
    ANNOTATIONS, apply, boxes_of, converted, corners_of, is_pure_tensor, keypoints_of, plain, points_of, size_of)
from ._v2 import SanitizeBoundingBoxes, ToDtype, ToImage
from .functional import InterpolationMode, get_dimensions, pil_to_tensor, to_pil_image, to_tensor  # noqa: F401

_MOVING = {"crop": "crop", "center_crop": "center_crop", "resize": "resize", "resized_crop": "resized_crop", "pad": "pad",
           "horizontal_flip": "hflip", "vertical_flip": "vflip", "hflip": "hflip", "vflip": "vflip", "rotate": "rotate",
           "affine": "affine", "perspective": "perspective", "elastic": "elastic_transform",
           "elastic_transform": "elastic_transform"}
_COLOURS = """adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation adjust_sharpness autocontrast equalize
    gaussian_blur invert normalize posterize rgb_to_grayscale solarize erase""".split()


def _of_samples(name, function, moves):
    @functools.wraps(function)
    def call(inpt, *args, **kwargs):
        if not moves and isinstance(inpt, ANNOTATIONS):
            raise TypeError(f"Functional F.{name} supports inputs of type Image, Video, Tensor and PIL Image, but got "
                            f"{type(inpt)} instead.")
        return apply(function, inpt, *args, **kwargs)
    call.__name__ = call.__qualname__ = name
    return call


for _name, _old in _MOVING.items():
    globals()[_name] = _of_samples(_name, getattr(F, _old), True)
for _name in _COLOURS:
    globals()[_name] = _of_samples(_name, getattr(F, _name), False)


def get_size(inpt):
    """[height, width]"""
    return list(size_of([inpt]))


def get_num_channels(inpt):
    return F.get_image_num_channels(plain(inpt))


def to_image(inpt):
    """A tensor Image of a picture, an array or a tensor."""
    return ToImage().transform(inpt, {})


def to_dtype(inpt, dtype=_C.float32, scale=False):
    """Another dtype; with `scale` pictures have the range that is usual for it."""
    return ToDtype({type(inpt): dtype, "others": dtype}, scale).transform(inpt, {})


def convert_image_dtype(image, dtype=_C.float32):
    return to_dtype(image, dtype, scale=True)


def convert_bounding_box_format(inpt, old_format=None, new_format=None, inplace=False):
    """Boxes in another format; plain tensors need `old_format`, BoundingBoxes have one."""
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    new = tv_tensors._format_of(new_format)
    if is_pure_tensor(inpt):
        if old_format is None:
            raise ValueError("For pure tensor inputs, `old_format` has to be passed.")
        return converted(inpt, tv_tensors._format_of(old_format), new)
    if old_format is not None:
        raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
    return tv_tensors.wrap(converted(plain(inpt), inpt.format, new), like=inpt, format=new)


def _as_boxes(inpt, format, canvas_size):
    if not is_pure_tensor(inpt):
        return inpt
    if format is None or canvas_size is None:
        raise ValueError("For pure tensor inputs, `format` and `canvas_size` have to be passed.")
    return tv_tensors.BoundingBoxes(inpt, format=format, canvas_size=canvas_size)


def clamp_bounding_boxes(inpt, format=None, canvas_size=None, clamping_mode="soft"):
    """Boxes cut at the picture's borders."""
    boxes = _as_boxes(inpt, format, canvas_size)
    made = boxes_of(corners_of(boxes).clamped(), boxes)
    return plain(made) if boxes is not inpt else made


def clamp_keypoints(inpt, canvas_size=None):
    """Points, each in the nearest pixel of the picture."""
    if is_pure_tensor(inpt):
        if canvas_size is None:
            raise ValueError("For pure tensor inputs, `canvas_size` has to be passed.")
        return Points(inpt, canvas_size).clamped().points
    if canvas_size is not None:
        raise ValueError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
    return keypoints_of(points_of(inpt).clamped(), inpt)


def sanitize_keypoints(key_points, canvas_size=None):
    """Points that are in the picture, and a mask of them; of groups [groups, ..., 2], those of which all points are."""
    if is_pure_tensor(key_points):
        if canvas_size is None:
            raise ValueError("canvas_size cannot be None if key_points is a pure tensor. Set it to an appropriate value or "
                             "pass key_points as a tv_tensors.KeyPoints object.")
        valid = Points(key_points, canvas_size).inside()
        return key_points[valid], valid
    if not isinstance(key_points, tv_tensors.KeyPoints):
        raise ValueError("key_points must be a tv_tensors.KeyPoints instance or a pure tensor.")
    if canvas_size is not None:
        raise ValueError("canvas_size must be None when key_points is a tv_tensors.KeyPoints instance. Got canvas_size="
                         f"{canvas_size}. Leave it to None or pass key_points as a pure tensor.")
    valid = points_of(key_points).inside()
    return tv_tensors.wrap(plain(key_points)[valid], like=key_points), valid


def sanitize_bounding_boxes(bounding_boxes, format=None, canvas_size=None, min_size=1.0, min_area=1.0):
    """Boxes that are large enough and in the picture, and a mask of them."""
    boxes = _as_boxes(bounding_boxes, format, canvas_size)
    valid = SanitizeBoundingBoxes(min_size, min_area)._valid(boxes)
    kept = plain(boxes)[valid]
    return (kept if boxes is not bounding_boxes else tv_tensors.wrap(kept, like=boxes)), valid


def __getattr__(name):
    if hasattr(F, name):  # those that no mask or box goes through
        return getattr(F, name)
    from ..._core.missing import attribute
    return attribute("taeda.vision.transforms.v2.functional", name)
