"""Boxes and points as the functions of transforms see them: in the place of the picture that they are in."""

from ... import _C


class Placed:
    """What is somewhere in a picture of `size` (height, width), with a method for each function that moves pixels; another
    function refuses it. `what` is its name in errors."""

    what, size = "", ()

    def _moved(self, right, down, size):
        raise NotImplementedError

    def crop(self, top, left, height, width):
        return self._moved(-left, -top, (height, width))

    def pad(self, sides, fill, padding_mode):
        if padding_mode != "constant":
            raise ValueError(f"Padding mode '{padding_mode}' is not supported with {self.what}")
        left, top, right, bottom = sides
        height, width = self.size
        return self._moved(left, top, (height + top + bottom, width + left + right))

    def _factors(self, size):
        """How many times as wide and high something of another size is."""
        down, right = (new / old for new, old in zip(size, self.size))
        return right, down


class Points(Placed):
    """Points [..., 2] (x, y)."""

    what = "KeyPoints"

    def __init__(self, points, size):
        self.points, self.size = points, tuple(size)

    def _moved(self, right, down, size):
        return Points(self.points + _C._tensor_from([right, down], self.points.dtype, self.points.device), size)

    def clamped(self):
        """Each in the nearest pixel of the picture."""
        height, width = self.size
        x, y = self.points.unbind(-1)
        return Points(_C.stack((x.clamp(0, width - 1), y.clamp(0, height - 1)), -1), self.size)

    def inside(self):
        """Which are in the picture; of groups of points, those of which all are."""
        height, width = self.size
        x, y = self.points.unbind(-1)
        valid = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        return valid.flatten(1).all(1) if valid.dim() > 1 else valid

    def hflip(self):
        x, y = self.points.unbind(-1)
        return Points(_C.stack((self.size[1] - 1 - x, y), -1), self.size)

    def vflip(self):
        x, y = self.points.unbind(-1)
        return Points(_C.stack((x, self.size[0] - 1 - y), -1), self.size)

    def resize(self, size, interpolation, antialias):
        factors = self._factors(size)
        if factors == (1, 1):
            return self
        scale = _C._tensor_from(list(factors), _C.float32, self.points.device)
        return Points(self.points.mul(scale).to(self.points.dtype), size)


class Corners(Placed):
    """Boxes [N, 4] (x1, y1, x2, y2)."""

    what = "bounding boxes"

    def __init__(self, boxes, size, clamping_mode="soft"):
        self.boxes, self.size, self.clamping_mode = boxes, tuple(size), clamping_mode

    def _with(self, boxes, size):
        return Corners(boxes, size, self.clamping_mode)

    def _moved(self, right, down, size):
        shift = _C._tensor_from([right, down, right, down], self.boxes.dtype, self.boxes.device)
        return self._with(self.boxes + shift, size).clamped()

    def clamped(self):
        """Cut at the picture's borders, unless `clamping_mode` is None."""
        if self.clamping_mode is None:
            return self
        height, width = self.size
        x, y = self.boxes[:, 0::2].clamp(0, width), self.boxes[:, 1::2].clamp(0, height)
        return self._with(_C.stack((x, y), 2).flatten(1), self.size)

    def hflip(self):
        x1, y1, x2, y2 = self.boxes.unbind(1)
        return self._with(_C.stack((self.size[1] - x2, y1, self.size[1] - x1, y2), 1), self.size)

    def vflip(self):
        x1, y1, x2, y2 = self.boxes.unbind(1)
        return self._with(_C.stack((x1, self.size[0] - y2, x2, self.size[0] - y1), 1), self.size)

    def resize(self, size, interpolation, antialias):
        factors = self._factors(size)
        if factors == (1, 1):
            return self
        scale = _C._tensor_from([*factors, *factors], _C.float32, self.boxes.device)
        return self._with(self.boxes.mul(scale).to(self.boxes.dtype), size)
