"""Boxes as the functions of transforms see them: in the place of the picture that they are in."""

from ... import _C


class Corners:
    """Boxes [N, 4] (x1, y1, x2, y2) in a picture of (height, width), with a method for each function that moves pixels; another
    function refuses them."""

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

    def crop(self, top, left, height, width):
        return self._moved(-left, -top, (height, width))

    def pad(self, sides, fill, padding_mode):
        if padding_mode != "constant":
            raise ValueError(f"Padding mode '{padding_mode}' is not supported with bounding boxes")
        left, top, right, bottom = sides
        height, width = self.size
        return self._moved(left, top, (height + top + bottom, width + left + right))

    def resize(self, size, interpolation, antialias):
        down, right = (new / old for new, old in zip(size, self.size))
        if (down, right) == (1, 1):
            return self
        scale = _C._tensor_from([right, down, right, down], _C.float32, self.boxes.device)
        return self._with(self.boxes.mul(scale).to(self.boxes.dtype), size)
