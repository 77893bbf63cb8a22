"""Pieces of features under boxes, in one size."""

import math

from ... import _C
from ...nn import Module
from ...nn.modules.utils import _pair

_TOGETHER = 32  # boxes; what is held at once grows with them


def _rows_of(boxes):
    """[K, 5] with the number of the picture first, of boxes that may be listed picture by picture."""
    if isinstance(boxes, (list, tuple)):
        if any(not isinstance(b, _C.TensorBase) or b.dim() != 2 or b.size(1) != 4 for b in boxes):
            raise AssertionError("The shape of the tensor in the boxes list is not correct as List[Tensor[L, 4]]")
        numbers = [_C.full_like(b[:, :1], i) for i, b in enumerate(boxes)]
        return _C.cat([_C.cat((n, b), 1) for n, b in zip(numbers, boxes)])
    if boxes.dim() != 2 or boxes.size(1) != 5:
        raise AssertionError("The boxes tensor shape is not correct as Tensor[K, 5]")
    return boxes


def _weights(start, length, parts, samples, size):
    """[K, parts, size]: how much of each of `size` pixels is in each part, the mean of `samples` places between pixels."""
    steps = (_C.arange(parts * samples, device=start.device, dtype=start.dtype) + 0.5) / samples
    at = start[:, None] + steps * (length / parts)[:, None]
    inside = ((at >= -1) & (at <= size)).to(start.dtype)
    at = at.clamp(0, size - 1)
    low = at.floor()
    above = at - low
    low = low.long()
    out = _C.zeros(*at.shape, size, dtype=start.dtype, device=start.device)
    out = out.scatter_add(2, low[..., None], ((1 - above) * inside)[..., None])
    out = out.scatter_add(2, (low + 1).clamp(max=size - 1)[..., None], (above * inside)[..., None])
    return out.view(-1, parts, samples, size).mean(2)


def _aligned(features, start, length, size, samples):
    """The pieces [K, C, height, width] of one picture's features [C, H, W]."""
    rows = _weights(start[:, 1], length[:, 1], size[0], samples[0], features.size(1))
    columns = _weights(start[:, 0], length[:, 0], size[1], samples[1], features.size(2))
    lines = _C.matmul(rows[:, None], features[None])  # [K, C, height, W]
    return _C.matmul(lines, columns.transpose(1, 2)[:, None])


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """Pieces [K, C, *output_size] of features [N, C, H, W], each number the mean of places between pixels (arXiv:1703.06870):
    `sampling_ratio` squared of them or, without one, as many as a part has pixels. `boxes` are [K, 5], the number of the
    picture first, or a list with [L, 4] for each picture."""
    boxes, size = _rows_of(boxes).to(input.dtype), _pair(output_size)
    shift = 0.5 if aligned else 0.0
    start = boxes[:, 1:3] * spatial_scale - shift
    length = boxes[:, 3:5] * spatial_scale - shift - start
    if not aligned:
        length = length.clamp(min=1.0)
    groups = {}  # boxes of one picture with the same number of places
    for k, (number, *sides) in enumerate(zip(boxes[:, 0].tolist(), *length.unbind(1)[::-1])):
        samples = tuple(sampling_ratio if sampling_ratio > 0 else max(math.ceil(float(side) / part), 1)
                        for side, part in zip(sides, size))
        groups.setdefault((int(number), samples), []).append(k)
    pieces, order = [], []
    for (number, samples), members in groups.items():
        for first in range(0, len(members), _TOGETHER):
            at = _C._tensor_from(members[first:first + _TOGETHER], _C.int64, input.device)
            pieces.append(_aligned(input[number], start[at], length[at], size, samples))
            order += members[first:first + _TOGETHER]
    if not pieces:
        return input.new_zeros((0, input.size(1), *size))
    return _C.cat(pieces)[_C._tensor_from(order, _C.int64, input.device).argsort()]


def _nearest(x):
    """Rounded, halves away from zero."""
    return (x.abs() + 0.5).floor() * x.sign()


def roi_pool(input, boxes, output_size, spatial_scale=1.0):
    """The largest numbers of the parts of boxes, [K, C, *output_size]; boxes as roi_align's, rounded to pixels."""
    boxes, (height, width) = _rows_of(boxes).to(input.dtype), _pair(output_size)
    out = []
    for number, *corners in _C.cat((boxes[:, :1], _nearest(boxes[:, 1:] * spatial_scale)), 1).tolist():
        features = input[int(number)]
        x, y = (_parts(corners[i], corners[i + 2], n, features.size(2 - i)) for i, n in ((0, width), (1, height)))
        empty = features.new_zeros(features.size(0))
        out.append(_C.stack([_C.stack([features[:, top:bottom, left:right].amax((1, 2)) if bottom > top and right > left
                                       else empty for left, right in x], 1) for top, bottom in y], 1))
    return _C.stack(out) if out else input.new_zeros((0, input.size(1), height, width))


def _parts(first, last, parts, size):
    """Begin and end of each part of the pixels from `first` to `last`."""
    step = max(last - first + 1, 1) / parts
    ends = [(math.floor(i * step) + first, math.ceil((i + 1) * step) + first) for i in range(parts)]
    return [tuple(int(min(max(e, 0), size)) for e in pair) for pair in ends]


def _positions(channels, size):
    """How many channels come out of those that hold one for each part."""
    if channels % (size[0] * size[1]):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    return channels // (size[0] * size[1])


def ps_roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1):
    """As roi_align, aligned, of features [N, C * height * width, H, W] that have channels of their own for each part
    (arXiv:1605.06409, arXiv:1711.07264): [K, C, height, width]."""
    size = _pair(output_size)
    channels = _positions(input.size(1), size)
    pieces = roi_align(input, boxes, size, spatial_scale, sampling_ratio, True)
    return pieces.view(-1, channels, *size, *size).diagonal(dim1=2, dim2=4).diagonal(dim1=2, dim2=3).contiguous()


def ps_roi_pool(input, boxes, output_size, spatial_scale=1.0):
    """The means of the parts of boxes, rounded to pixels; each part has channels of its own, as ps_roi_align's."""
    boxes, (height, width) = _rows_of(boxes).to(input.dtype), _pair(output_size)
    channels = _positions(input.size(1), (height, width))
    out = []
    for number, left, top, right, bottom in _C.cat((boxes[:, :1], _nearest(boxes[:, 1:] * spatial_scale)), 1).tolist():
        features = input[int(number)].view(channels, height, width, *input.shape[2:])
        # The pixel behind the end is not in a box here, and those of the last row and column are in none.
        x, y = _parts(left, right - 1, width, input.size(3) - 1), _parts(top, bottom - 1, height, input.size(2) - 1)
        out.append(_C.stack([_C.stack([_mean_of(features[:, i, j], rows, columns) for j, columns in enumerate(x)], 1)
                             for i, rows in enumerate(y)], 1))
    return _C.stack(out) if out else input.new_zeros((0, channels, height, width))


def _mean_of(features, rows, columns):
    if rows[1] <= rows[0] or columns[1] <= columns[0]:
        return features.new_zeros(features.size(0))
    return features[:, slice(*rows), slice(*columns)].mean((1, 2))


class _Pool(Module):
    def __init__(self, output_size, spatial_scale):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self.shown)})"


class RoIAlign(_Pool):
    """roi_align as a layer."""

    shown = ("output_size", "spatial_scale", "sampling_ratio", "aligned")

    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__(output_size, spatial_scale)
        self.sampling_ratio, self.aligned = sampling_ratio, aligned

    def forward(self, input, rois):
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)


class RoIPool(_Pool):
    """roi_pool as a layer."""

    shown = ("output_size", "spatial_scale")

    def forward(self, input, rois):
        return roi_pool(input, rois, self.output_size, self.spatial_scale)


class PSRoIAlign(_Pool):
    """ps_roi_align as a layer."""

    shown = ("output_size", "spatial_scale", "sampling_ratio")

    def __init__(self, output_size, spatial_scale, sampling_ratio):
        super().__init__(output_size, spatial_scale)
        self.sampling_ratio = sampling_ratio

    def forward(self, input, rois):
        return ps_roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio)


class PSRoIPool(_Pool):
    """ps_roi_pool as a layer."""

    shown = ("output_size", "spatial_scale")

    def forward(self, input, rois):
        return ps_roi_pool(input, rois, self.output_size, self.spatial_scale)
