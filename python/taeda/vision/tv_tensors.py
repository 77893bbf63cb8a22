"""Tensors that say what they are - pictures, masks, boxes - so that transforms.v2 knows what to do with each.

What is computed from one is a plain tensor again, but for `clone`, `to`, `detach` and `requires_grad_`, unless
`set_return_type("TVTensor")` was called.
"""

import contextlib
import enum

from .. import _C
from .._tensor import Tensor
from .._operations.create import as_tensor

__all__ = ["BoundingBoxFormat", "BoundingBoxes", "Image", "KeyPoints", "Mask", "TVTensor", "Video",
           "is_rotated_bounding_format", "set_return_type", "wrap"]

_keeps_kind = False


class set_return_type(contextlib.ContextDecorator):
    """What operations on such tensors give, "Tensor" or "TVTensor"; switches at once, back at the end of a `with`."""

    def __init__(self, return_type):
        global _keeps_kind
        kinds = {"tensor": False, "tvtensor": True}
        if return_type.lower() not in kinds:
            raise ValueError(f"return_type must be 'TVTensor' or 'Tensor', got {return_type}")
        self._before, _keeps_kind = _keeps_kind, kinds[return_type.lower()]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        global _keeps_kind
        _keeps_kind = self._before


_KEEPING = {"clone", "to", "detach", "requires_grad_"}


class TVTensor(Tensor):
    """The base of them; a program may derive kinds of its own."""

    @staticmethod
    def _to_tensor(data, dtype=None, device=None, requires_grad=None):
        if requires_grad is None:
            requires_grad = data.requires_grad if isinstance(data, Tensor) else False
        return as_tensor(data, dtype=dtype, device=device).requires_grad_(requires_grad)

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        return cls._to_tensor(data, dtype, device, requires_grad).as_subclass(cls)

    @classmethod
    def wrap(cls, tensor, like, **kwargs):
        return tensor.as_subclass(cls)

    @classmethod
    def _wrap_output(cls, output, args=(), kwargs=None):
        if isinstance(output, (tuple, list)):
            return type(output)(cls._wrap_output(part, args, kwargs) for part in output)
        return output.as_subclass(cls) if isinstance(output, Tensor) and not isinstance(output, cls) else output

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with _C.DisableTorchFunctionSubclass():
            output = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if _keeps_kind or (name in _KEEPING and isinstance(args[0], cls)):
            return cls._wrap_output(output, args, kwargs)
        if isinstance(output, cls) and name != "as_subclass":
            return output.as_subclass(Tensor)
        return output

    def _make_repr(self, **kwargs):
        more = ", ".join(f"{key}={value}" for key, value in kwargs.items())
        return f"{super().__repr__()[:-1]}, {more})"

    def __deepcopy__(self, memo):
        return self.detach().clone().requires_grad_(self.requires_grad)


class Image(TVTensor):
    """A picture [..., channels, height, width]; a tensor [height, width] gets a channel, PIL's pictures become tensors."""

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        from .transforms import functional
        if not isinstance(data, Tensor) and functional.pictures.is_picture(data):
            data = functional.pil_to_tensor(data)
        tensor = cls._to_tensor(data, dtype, device, requires_grad)
        if tensor.dim() < 2:
            raise ValueError(f"Tensor must be 2D or higher, got {tensor.dim()}D tensor.")
        return (tensor[None] if tensor.dim() == 2 else tensor).as_subclass(cls)

    def __repr__(self, *, tensor_contents=None):
        return self._make_repr()


class Video(TVTensor):
    """Pictures [..., time, channels, height, width]."""

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        tensor = cls._to_tensor(data, dtype, device, requires_grad)
        if tensor.dim() < 4:
            raise ValueError(f"Tensor must be 4D or higher, got {tensor.dim()}D tensor.")
        return tensor.as_subclass(cls)

    def __repr__(self, *, tensor_contents=None):
        return self._make_repr()


class Mask(TVTensor):
    """Classes of pixels, or where objects are: [..., height, width]."""

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        from .transforms import functional
        if not isinstance(data, Tensor) and functional.pictures.is_picture(data):
            data = functional.pil_to_tensor(data)
        return cls._to_tensor(data, dtype, device, requires_grad).as_subclass(cls)


class BoundingBoxFormat(enum.Enum):
    """How boxes are written: two corners, a corner and sides, the middle and sides; and, of boxes that are turned
    counter-clockwise by r degrees, the corner that is upper left before, or the middle, with sides and r, or four corners."""

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"
    XYWHR = "XYWHR"
    CXCYWHR = "CXCYWHR"
    XYXYXYXY = "XYXYXYXY"


_COORDINATES = {"XYWHR": 5, "CXCYWHR": 5, "XYXYXYXY": 8}  # of boxes that are turned


def is_rotated_bounding_format(format):
    """Whether boxes of a format may be turned."""
    if not isinstance(format, (BoundingBoxFormat, str)):
        raise ValueError(f"format should be str or BoundingBoxFormat, got {type(format)}")
    return (format.value if isinstance(format, BoundingBoxFormat) else format) in _COORDINATES


def _format_of(value):
    if isinstance(value, BoundingBoxFormat):
        return value
    return BoundingBoxFormat[value.upper()]


class BoundingBoxes(TVTensor):
    """Boxes [N, 4] - or 5 or 8 numbers each, if they are turned - in a picture of `canvas_size` (height, width)."""

    def __new__(cls, data, *, format, canvas_size, clamping_mode="soft", dtype=None, device=None, requires_grad=None):
        tensor = cls._to_tensor(data, dtype, device, requires_grad)
        if tensor.dim() == 1:
            tensor = tensor[None]
        format = _format_of(format)
        if is_rotated_bounding_format(format) and not tensor.is_floating_point():
            raise ValueError(f"Rotated bounding boxes should be floating point tensors, got {tensor.dtype}.")
        numbers = _COORDINATES.get(format.value, 4)
        if tensor.dim() != 2 or tensor.shape[-1] != numbers:
            raise ValueError(f"Expected a 1D or 2D tensor, got {tensor.dim()}D" if tensor.dim() != 2 else
                             f"Expected a tensor of shape [N, {numbers}], got {list(tensor.shape)}")
        return cls._with(tensor, format, canvas_size, clamping_mode)

    @classmethod
    def _with(cls, tensor, format, canvas_size, clamping_mode="soft"):
        made = tensor.as_subclass(cls)
        made.format, made.canvas_size, made.clamping_mode = format, tuple(canvas_size), clamping_mode
        return made

    @classmethod
    def wrap(cls, tensor, like, format=None, canvas_size=None, clamping_mode=None):
        return cls._with(tensor, like.format if format is None else _format_of(format),
                         like.canvas_size if canvas_size is None else canvas_size, clamping_mode or like.clamping_mode)

    @classmethod
    def _wrap_output(cls, output, args=(), kwargs=None):
        like = next((a for a in [*args, *(kwargs or {}).values()] if isinstance(a, BoundingBoxes)), None)
        if isinstance(output, (tuple, list)):
            return type(output)(cls._wrap_output(part, args, kwargs) for part in output)
        if isinstance(output, Tensor) and like is not None:
            return cls._with(output, like.format, like.canvas_size, like.clamping_mode)
        return output

    def __repr__(self, *, tensor_contents=None):
        return self._make_repr(format=self.format, canvas_size=self.canvas_size, clamping_mode=self.clamping_mode)


class KeyPoints(TVTensor):
    """Points [..., 2] (x, y) in a picture of `canvas_size` (height, width): single ones, or what is made of them - chains,
    polygons, skeletons."""

    def __new__(cls, data, *, canvas_size, dtype=None, device=None, requires_grad=None):
        return cls._checked(cls._to_tensor(data, dtype, device, requires_grad), canvas_size)

    @classmethod
    def _checked(cls, tensor, canvas_size):
        if tensor.dim() == 1:
            tensor = tensor[None]
        if tensor.shape[-1] != 2:
            raise ValueError(f"Expected a tensor of shape (..., 2), not {tensor.shape}")
        return cls._with(tensor, canvas_size)

    @classmethod
    def _with(cls, tensor, canvas_size):
        made = tensor.as_subclass(cls)
        made.canvas_size = tuple(canvas_size)
        return made

    @classmethod
    def wrap(cls, tensor, like, canvas_size=None):
        return cls._checked(tensor, like.canvas_size if canvas_size is None else canvas_size)

    @classmethod
    def _wrap_output(cls, output, args=(), kwargs=None):
        like = next((a for a in [*args, *(kwargs or {}).values()] if isinstance(a, KeyPoints)), None)
        if isinstance(output, (tuple, list)):
            return type(output)(cls._wrap_output(part, args, kwargs) for part in output)
        return cls._with(output, like.canvas_size) if isinstance(output, Tensor) and like is not None else output

    def __repr__(self, *, tensor_contents=None):
        return self._make_repr(canvas_size=self.canvas_size)


def wrap(wrappee, *, like, **kwargs):
    """A tensor of the kind of another, with its format and canvas unless others are given."""
    return type(like).wrap(wrappee, like, **kwargs)
