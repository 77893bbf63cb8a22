"""Transforms that only the second version has: of boxes, of sizes, of what detectors are trained with."""

import collections.abc

from ... import _C
from ..._core.pytree import tree_flatten, tree_unflatten
from ..._tensor import Tensor
from .. import picture as pictures
from .. import tv_tensors
from ..ops.boxes import box_iou
from . import functional as F
from ._samples import (
    ANNOTATIONS, Transform, boxes_of, converted, corners_of, first_boxes, first_points, is_picture, is_pure_tensor,
    keypoints_of, plain, points_of, size_of)
from .functional import InterpolationMode
from .mixing import RandomChannelPermutation  # noqa: F401
from .transforms import _uniform

__all__ = ["ClampBoundingBoxes", "ClampKeyPoints", "ConvertBoundingBoxFormat", "RandomIoUCrop", "RandomPhotometricDistort",
           "RandomResize", "RandomShortestSize", "RandomZoomOut", "SanitizeBoundingBoxes", "SanitizeKeyPoints", "ScaleJitter",
           "SetClampingMode", "ToDtype", "ToImage"]


class ConvertBoundingBoxFormat(Transform):
    """Boxes in another format."""

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, format):
        super().__init__()
        self.format = tv_tensors._format_of(format)

    def transform(self, inpt, params):
        boxes = converted(plain(inpt), inpt.format, self.format)
        return tv_tensors.wrap(boxes, like=inpt, format=self.format)


class ClampBoundingBoxes(Transform):
    """Boxes cut at the picture's borders."""

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def transform(self, inpt, params):
        return boxes_of(corners_of(inpt).clamped(), inpt)


class ClampKeyPoints(Transform):
    """Points, each in the nearest pixel of the picture."""

    _transformed_types = (tv_tensors.KeyPoints,)

    def transform(self, inpt, params):
        return keypoints_of(points_of(inpt).clamped(), inpt)


class SetClampingMode(Transform):
    """What transforms do to boxes that leave the picture from here on: "soft", "hard" or None."""

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, clamping_mode):
        super().__init__()
        if clamping_mode not in (None, "soft", "hard"):
            raise ValueError(f"clamping_mode must be soft, hard or None, got {clamping_mode}")
        self.clamping_mode = clamping_mode

    def transform(self, inpt, params):
        made = inpt.clone()
        made.clamping_mode = self.clamping_mode
        return made


def _default_labels(sample):
    if isinstance(sample, (tuple, list)):
        sample = sample[1]
    if is_pure_tensor(sample):
        return sample
    if not isinstance(sample, collections.abc.Mapping):
        raise ValueError("When using the default labels_getter, the input passed to forward must be a dictionary or a "
                         f"two-tuple whose second item is a dictionary or a tensor, but got {sample} instead.")
    names = [key for key in sample if key.lower() == "labels"] + [key for key in sample if "label" in key.lower()]
    if not names:
        raise ValueError("Could not infer where the labels are in the sample. Try passing a callable as the labels_getter "
                         "parameter?If there are no labels in the sample by design, pass labels_getter=None.")
    return sample[names[0]]


class _Sanitize(Transform):
    """The base of what leaves out annotations together with their labels. `_deciding(leaves)` gives the one that decides, which
    `_what` names in errors, `_valid` which of its entries stay; `_kinds` lose the others."""

    _what, _kinds, labels_getter = "", (), None

    def _labels(self, sample):
        if self.labels_getter is None:
            return ()
        found = _default_labels(sample) if self.labels_getter == "default" else self.labels_getter(sample)
        found = () if found is None else found if isinstance(found, (tuple, list)) else (found,)
        for labels in found:
            if not F.is_tensor(labels):
                raise ValueError("The labels in the input to forward() must be a tensor or None, got "
                                 f"{type(labels)} instead.")
        return found


    def forward(self, *inputs):
        sample = inputs if len(inputs) > 1 else inputs[0]
        labels = self._labels(sample)
        leaves, spec = tree_flatten(sample)
        deciding = self._deciding(leaves)
        for one in labels:
            if len(one) != len(deciding):
                raise ValueError(f"Number of {self._what} (shape={deciding.shape}) must match the number of labels. Found "
                                 f"labels with shape={one.shape}.")
        valid = self._valid(deciding)
        for i, leaf in enumerate(leaves):
            if any(leaf is one for one in labels):
                leaves[i] = leaf[valid]
            elif isinstance(leaf, self._kinds) and len(leaf) == len(valid):
                leaves[i] = tv_tensors.wrap(plain(leaf)[valid], like=leaf)
        return tree_unflatten(leaves, spec)


class SanitizeKeyPoints(_Sanitize):
    """Leaves out points that are not in the picture - of groups, those of which one is not - with their labels."""

    _what, _kinds = "keypoints", (tv_tensors.KeyPoints,)
    _deciding = staticmethod(first_points)

    def __init__(self, labels_getter=None):
        super().__init__()
        self.labels_getter = labels_getter

    def _valid(self, points):
        return points_of(points).inside()


class SanitizeBoundingBoxes(_Sanitize):
    """Leaves out boxes that are smaller than `min_size` or `min_area` or not in the picture, with their masks and labels."""

    _what, _kinds = "boxes", (tv_tensors.BoundingBoxes, tv_tensors.Mask)
    _deciding = staticmethod(first_boxes)

    def __init__(self, min_size=1.0, min_area=1.0, labels_getter="default"):
        super().__init__()
        for name, value in (("min_size", min_size), ("min_area", min_area)):
            if value < 1:
                raise ValueError(f"{name} must be >= 1, got {value}.")
        self.min_size, self.min_area, self.labels_getter = min_size, min_area, labels_getter

    def _valid(self, boxes):
        height, width = boxes.canvas_size
        corners = corners_of(boxes).boxes
        sides = corners[:, 2:] - corners[:, :2]
        inside = (corners >= 0).all(1) & (corners[:, 0::2] <= width).all(1) & (corners[:, 1::2] <= height).all(1)
        return (sides >= self.min_size).all(1) & (sides.prod(1) >= self.min_area) & inside


class RandomZoomOut(Transform):
    """With probability p the picture in a larger one, `side_range` times as long, filled with `fill` (a number, one for each
    channel, or a dict of them for classes of tensors)."""

    def __init__(self, fill=0, side_range=(1.0, 4.0), p=0.5):
        super().__init__()
        if not isinstance(side_range, (tuple, list)) or len(side_range) != 2:
            raise ValueError("side_range should be a sequence of length 2.")
        if side_range[0] < 1.0 or side_range[0] > side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")
        self.fill, self.side_range, self.p = fill, side_range, p

    def forward(self, *inputs):
        if _C.rand(1) >= self.p:
            return inputs if len(inputs) > 1 else inputs[0]
        return super().forward(*inputs)

    def make_params(self, flat_inputs):
        height, width = size_of(flat_inputs)
        r = self.side_range[0] + _C.rand(1).item() * (self.side_range[1] - self.side_range[0])
        more_right, more_down = int(width * r) - width, int(height * r) - height
        places = _C.rand(2).tolist()
        left, top = int(more_right * places[0]), int(more_down * places[1])
        return {"padding": [left, top, more_right - left, more_down - top]}

    def _fill_of(self, inpt):
        if not isinstance(self.fill, dict):
            return self.fill if not isinstance(inpt, tv_tensors.Mask) else 0
        for kind in type(inpt).__mro__:
            if kind in self.fill:
                return self.fill[kind]
        return self.fill.get("others", 0)

    def transform(self, inpt, params):
        return self._call_kernel(F.pad, inpt, params["padding"], fill=self._fill_of(inpt))


class RandomIoUCrop(Transform):
    """A random piece that shares enough with one of the boxes; boxes whose middles are outside become empty
    (arXiv:1512.02325)."""

    def __init__(self, min_scale=0.3, max_scale=1.0, min_aspect_ratio=0.5, max_aspect_ratio=2.0, sampler_options=None,
                 trials=40):
        super().__init__()
        self.min_scale, self.max_scale = min_scale, max_scale
        self.min_aspect_ratio, self.max_aspect_ratio = min_aspect_ratio, max_aspect_ratio
        self.options, self.trials = sampler_options or [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0], trials

    def check_inputs(self, flat_inputs):
        if not (any(isinstance(leaf, tv_tensors.BoundingBoxes) for leaf in flat_inputs)
                and any(is_picture(leaf) or is_pure_tensor(leaf) for leaf in flat_inputs)):
            raise TypeError(f"{type(self).__name__}() requires input sample to contain tensor or PIL images and bounding "
                            "boxes. Sample can also contain masks.")

    def _piece(self, size, boxes, share):
        """One try: a piece (top, left, height, width) and which boxes' middles are in it, or None."""
        scales = self.min_scale + (self.max_scale - self.min_scale) * _C.rand(2)
        width, height = int(size[1] * scales[0]), int(size[0] * scales[1])
        if not self.min_aspect_ratio <= width / height <= self.max_aspect_ratio:
            return None
        places = _C.rand(2)
        left, top = int((size[1] - width) * places[0]), int((size[0] - height) * places[1])
        if not width or not height:
            return None
        x, y = (0.5 * (boxes[:, i] + boxes[:, i + 2]) for i in (0, 1))
        inside = (left < x) & (x < left + width) & (top < y) & (y < top + height)
        if not inside.any():
            return None
        piece = _C._tensor_from([[left, top, left + width, top + height]], boxes.dtype, boxes.device)
        if box_iou(boxes[inside], piece).max() < share:
            return None
        return {"piece": (top, left, height, width), "inside": inside}

    def make_params(self, flat_inputs):
        size, boxes = size_of(flat_inputs), corners_of(first_boxes(flat_inputs)).boxes
        while True:
            share = self.options[int(_C.randint(0, len(self.options), (1,)))]
            if share >= 1.0:
                return {}
            for _ in range(self.trials):
                found = self._piece(size, boxes, share)
                if found is not None:
                    return found

    def transform(self, inpt, params):
        if not params:
            return inpt
        made = self._call_kernel(F.crop, inpt, *params["piece"])
        if isinstance(made, tv_tensors.BoundingBoxes):
            made[~params["inside"]] = 0
        return made


class _Resized(Transform):
    """Another size, which a class draws."""

    def __init__(self, interpolation, antialias):
        super().__init__()
        self.interpolation, self.antialias = F.mode_of(InterpolationMode(interpolation) if isinstance(interpolation, str)
                                                     else interpolation), antialias

    def transform(self, inpt, params):
        return self._call_kernel(F.resize, inpt, params["size"], interpolation=self.interpolation, antialias=self.antialias)


class ScaleJitter(_Resized):
    """The size that fits into `target_size`, times a factor from `scale_range`."""

    def __init__(self, target_size, scale_range=(0.1, 2.0), interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__(interpolation, antialias)
        self.target_size, self.scale_range = target_size, scale_range

    def make_params(self, flat_inputs):
        height, width = size_of(flat_inputs)
        scale = self.scale_range[0] + _C.rand(1) * (self.scale_range[1] - self.scale_range[0])
        r = min(self.target_size[1] / height, self.target_size[0] / width) * scale
        return {"size": (int(height * r), int(width * r))}


class RandomShortestSize(_Resized):
    """The short side has one of `min_size` pixels, the long one at most `max_size`."""

    def __init__(self, min_size, max_size=None, interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__(interpolation, antialias)
        self.min_size, self.max_size = [min_size] if isinstance(min_size, int) else list(min_size), max_size

    def make_params(self, flat_inputs):
        height, width = size_of(flat_inputs)
        r = self.min_size[int(_C.randint(0, len(self.min_size), ()))] / min(height, width)
        if self.max_size is not None:
            r = min(r, self.max_size / max(height, width))
        return {"size": (int(height * r), int(width * r))}


class RandomResize(_Resized):
    """The short side has from `min_size` to `max_size` - 1 pixels."""

    def __init__(self, min_size, max_size, interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__(interpolation, antialias)
        self.min_size, self.max_size = min_size, max_size

    def make_params(self, flat_inputs):
        return {"size": [int(_C.randint(self.min_size, self.max_size, ()))]}


class RandomPhotometricDistort(Transform):
    """Brightness, contrast, saturation, hue and the order of channels, each changed with probability p (arXiv:1512.02325)."""

    def __init__(self, brightness=(0.875, 1.125), contrast=(0.5, 1.5), saturation=(0.5, 1.5), hue=(-0.05, 0.05), p=0.5):
        super().__init__()
        self.brightness, self.contrast, self.saturation, self.hue, self.p = brightness, contrast, saturation, hue, p

    def make_params(self, flat_inputs):
        params = {name: _uniform(*getattr(self, name)) if _C.rand(1) < self.p else None
                  for name in ("brightness", "contrast", "saturation", "hue")}
        params["contrast_before"] = bool(_C.rand(()) < 0.5)
        channels = F.get_image_num_channels(plain(next(x for x in flat_inputs if is_picture(x) or is_pure_tensor(x))))
        params["order"] = _C.randperm(channels) if _C.rand(1) < self.p else None
        return params

    def transform(self, inpt, params):
        if isinstance(inpt, ANNOTATIONS):
            return inpt
        order = ["brightness", "contrast", "saturation", "hue"] if params["contrast_before"] else [
            "brightness", "saturation", "hue", "contrast"]
        for name in order:
            if params[name] is not None:
                inpt = self._call_kernel(getattr(F, f"adjust_{name}"), inpt, params[name])
        if params["order"] is not None:
            inpt = self._call_kernel(F.of_pictures(lambda t: t[..., params["order"], :, :]), inpt)
        return inpt


class ToImage(Transform):
    """Pictures, arrays (height, width, channels) and tensors as tensors Image (channels, height, width)."""

    _transformed_types = (is_pure_tensor, pictures.is_picture, F._is_array)

    def transform(self, inpt, params):
        if F._is_array(inpt):
            inpt = _C.from_numpy(inpt)
            inpt = inpt.permute(2, 0, 1).contiguous() if inpt.dim() == 3 else inpt.unsqueeze(0)
        return tv_tensors.Image(inpt)


class ToDtype(Transform):
    """Another dtype - one for pictures, or a dict of dtypes for classes of tensors, None for those that stay - with `scale`
    also the range that is usual for it."""

    _transformed_types = (Tensor,)

    def __init__(self, dtype, scale=False):
        super().__init__()
        if not isinstance(dtype, (dict, _C.dtype)):
            raise ValueError(f"dtype must be a dict or a torch.dtype, got {type(dtype)} instead")
        self.dtype, self.scale = dtype, scale

    def _wanted(self, inpt):
        if not isinstance(self.dtype, dict):
            return self.dtype if is_pure_tensor(inpt) or isinstance(inpt, (tv_tensors.Image, tv_tensors.Video)) else None
        kind = type(inpt) if not is_pure_tensor(inpt) else Tensor
        if kind in self.dtype:
            return self.dtype[kind]
        if "others" in self.dtype:
            return self.dtype["others"]
        raise ValueError(f"No dtype was specified for type {type(inpt)}. If you only need to convert the dtype of images or "
                         "videos, you can just pass e.g. dtype=torch.float32.")

    def transform(self, inpt, params):
        wanted = self._wanted(inpt)
        if wanted is None:
            return inpt
        scaled = self.scale and not isinstance(inpt, ANNOTATIONS)
        made = F.convert_image_dtype(plain(inpt), wanted) if scaled else plain(inpt).to(wanted)
        return tv_tensors.wrap(made, like=inpt) if isinstance(inpt, tv_tensors.TVTensor) else made

    def extra_repr(self):
        return f"scale={self.scale}"
