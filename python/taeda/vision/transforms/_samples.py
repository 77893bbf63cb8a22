"""Transforms of whole samples: pictures with their masks and boxes, in any structure, are changed alike."""

import copy
import enum

from ... import _C
from ..._tensor import Tensor
from ...nn import Module
from ...random import get_rng_state, set_rng_state
from ..._core.pytree import tree_flatten, tree_unflatten
from .. import picture as pictures
from .. import tv_tensors
from ..ops.boxes import box_convert
from . import functional as F
from ._corners import Corners, Points
from .functional import InterpolationMode

_PICTURES = (tv_tensors.Image, tv_tensors.Video)
ANNOTATIONS = (tv_tensors.Mask, tv_tensors.BoundingBoxes, tv_tensors.KeyPoints)


def is_pure_tensor(value):
    return F.is_tensor(value) and not isinstance(value, tv_tensors.TVTensor)


def is_picture(value):
    return isinstance(value, _PICTURES) or pictures.is_picture(value)


def check_type(value, kinds):
    """Whether a value is of one of some classes, or one of some functions says so."""
    return any(isinstance(value, kind) if isinstance(kind, type) else kind(value) for kind in kinds)


def has_any(flat_inputs, *kinds):
    """Whether one of the values is of one of some classes."""
    return any(check_type(value, kinds) for value in flat_inputs)


def has_all(flat_inputs, *kinds):
    """Whether there is a value of each of some classes."""
    return all(any(check_type(value, [kind]) for value in flat_inputs) for kind in kinds)


def query_chw(flat_inputs):
    """(channels, height, width) of the first picture."""
    found = next((value for value in flat_inputs if is_picture(value) or is_pure_tensor(value)), None)
    if found is None:
        raise TypeError("No image or video was found in the sample")
    return tuple(F.get_dimensions(plain(found)))


def plain(tensor):
    """A tensor that says nothing of what it is."""
    return tensor.as_subclass(Tensor) if isinstance(tensor, tv_tensors.TVTensor) else tensor


def first_boxes(leaves):
    found = next((leaf for leaf in leaves if isinstance(leaf, tv_tensors.BoundingBoxes)), None)
    if found is None:
        raise ValueError("No bounding boxes were found in the sample")
    return found


def first_points(leaves):
    found = next((leaf for leaf in leaves if isinstance(leaf, tv_tensors.KeyPoints)), None)
    if found is None:
        raise ValueError("No keypoints were found in the sample")
    return found


def size_of(leaves):
    """(height, width) of a sample."""
    for leaf in leaves:
        if isinstance(leaf, (tv_tensors.BoundingBoxes, tv_tensors.KeyPoints)):
            return leaf.canvas_size
        if isinstance(leaf, tv_tensors.TVTensor) or is_picture(leaf) or is_pure_tensor(leaf):
            return tuple(F.get_dimensions(plain(leaf))[1:])
    raise TypeError("No image, video, mask, bounding box of keypoint was found in the sample")


def converted(boxes, old, new):
    """Numbers of boxes in another format."""
    if tv_tensors.is_rotated_bounding_format(old) != tv_tensors.is_rotated_bounding_format(new):
        raise ValueError("Cannot convert between rotated and unrotated bounding boxes.")
    return box_convert(boxes, old.value.lower(), new.value.lower())


def corners_of(boxes):
    if tv_tensors.is_rotated_bounding_format(boxes.format):
        raise NotImplementedError(f"transforms of boxes of the format {boxes.format.value}: Taeda moves boxes that are not "
                                  "turned")
    made = box_convert(plain(boxes), boxes.format.value.lower(), "xyxy")
    return Corners(made, boxes.canvas_size, boxes.clamping_mode)


def boxes_of(corners, like):
    made = box_convert(corners.boxes, "xyxy", like.format.value.lower())
    return tv_tensors.wrap(made, like=like, canvas_size=corners.size)


def points_of(keypoints):
    return Points(plain(keypoints), keypoints.canvas_size)


def keypoints_of(points, like):
    return tv_tensors.wrap(points.points, like=like, canvas_size=points.size)


def apply(function, leaf, *args, **kwargs):
    """A function of pixels for a picture, mask, boxes or points; what it gives is of the same kind."""
    if isinstance(leaf, tv_tensors.KeyPoints):
        return keypoints_of(function(points_of(leaf), *args, **kwargs), leaf)
    if isinstance(leaf, tv_tensors.BoundingBoxes):
        return boxes_of(function(corners_of(leaf), *args, **kwargs), leaf)
    if not isinstance(leaf, tv_tensors.TVTensor):
        return function(leaf, *args, **kwargs)
    made = plain(leaf)
    if isinstance(leaf, tv_tensors.Mask):
        if "interpolation" in kwargs:
            kwargs["interpolation"] = InterpolationMode.NEAREST
        numbers = made.to(_C.uint8) if made.dtype == _C.bool else made
        made = function(numbers[None] if numbers.dim() == 2 else numbers, *args, **kwargs).to(made.dtype)
        made = made[0] if numbers.dim() == 2 else made
    else:
        made = function(made, *args, **kwargs)
    return tv_tensors.wrap(made, like=leaf)


class Transform(Module):
    """The base of transforms of samples: `make_params(flat_inputs)` draws what is to be done, `transform(inpt, params)` does it
    to each picture, mask and boxes. Of plain tensors the first is a picture, if there is no other one, and the rest stay."""

    _transformed_types = (Tensor, pictures.is_picture)

    def check_inputs(self, flat_inputs):
        """Raises for samples that this transform cannot change."""

    def make_params(self, flat_inputs):
        return {}

    def _call_kernel(self, functional, inpt, *args, **kwargs):
        return apply(functional, inpt, *args, **kwargs)

    def transform(self, inpt, params):
        raise NotImplementedError(f"{type(self).__name__} has no transform")

    def _needs(self, leaves):
        pure = not any(is_picture(leaf) for leaf in leaves)
        needed = []
        for leaf in leaves:
            wanted = check_type(leaf, self._transformed_types)
            if wanted and is_pure_tensor(leaf):
                wanted, pure = pure, False
            needed.append(wanted)
        return needed

    def forward(self, *inputs):
        leaves, spec = tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        self.check_inputs(leaves)
        needed = self._needs(leaves)
        params = self.make_params([leaf for leaf, wanted in zip(leaves, needed) if wanted])
        return tree_unflatten([self.transform(leaf, params) if wanted else leaf for leaf, wanted in zip(leaves, needed)], spec)

    def extra_repr(self):
        shown = {name: value for name, value in self.__dict__.items() if not name.startswith("_") and name != "training"}
        return ", ".join(f"{name}={value.value if isinstance(value, enum.Enum) else value}" for name, value in shown.items()
                         if isinstance(value, (bool, int, float, str, tuple, list, enum.Enum)))


def of_samples(kind, moves=False, refuses=()):
    """The class of pictures `kind` as one of samples. It draws for one picture; masks and boxes, if it moves pixels, see the
    same numbers again. It refuses kinds of tensors that it would leave behind."""
    class Sample(Transform, kind):
        __doc__ = kind.__doc__

        def forward(self, *inputs):
            sample = inputs if len(inputs) > 1 else inputs[0]
            if not isinstance(sample, (tuple, list, dict, tv_tensors.TVTensor)):
                return kind.forward(self, sample)
            leaves, spec = tree_flatten(sample)
            for leaf in leaves:
                if isinstance(leaf, refuses):
                    raise TypeError(f"{type(self).__name__}() does not support inputs of type {type(leaf).__name__}")
            before = None
            for i, (leaf, wanted) in enumerate(zip(leaves, self._needs(leaves))):
                if wanted and (moves or not isinstance(leaf, ANNOTATIONS)):
                    before = get_rng_state() if before is None else set_rng_state(before) or before
                    leaves[i] = apply(self._of_mask() if isinstance(leaf, tv_tensors.Mask) else self._of_picture, leaf)
            return tree_unflatten(leaves, spec)

        def _of_picture(self, picture):
            return kind.forward(self, picture)

        def _of_mask(self):
            """The same for masks: without interpolation, with zeros where there is nothing."""
            other = copy.copy(self)
            for name, value in (("interpolation", InterpolationMode.NEAREST), ("fill", 0)):
                if hasattr(self, name):
                    setattr(other, name, value)
            return other._of_picture

        __repr__ = kind.__repr__
    Sample.__name__ = Sample.__qualname__ = kind.__name__
    Sample.__module__ = "torchvision.transforms.v2"
    return Sample
