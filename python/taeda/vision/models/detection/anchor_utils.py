"""Boxes that a detector starts from: some at each place of each map of features."""

import math

from .... import _C, nn


def _grid(height, width, device=None, dtype=None):
    """x and y of all places, row by row."""
    rows, columns = (_C.arange(n, dtype=dtype, device=device) for n in (height, width))
    return columns.repeat(height), rows.repeat_interleave(width)


class AnchorGenerator(nn.Module):
    """For each map of features boxes of `sizes` pixels, one for each of `aspect_ratios` (height over width)."""

    def __init__(self, sizes=((128, 256, 512),), aspect_ratios=((0.5, 1.0, 2.0),)):
        super().__init__()
        if not isinstance(sizes[0], (list, tuple)):
            sizes = tuple((s,) for s in sizes)
        if not isinstance(aspect_ratios[0], (list, tuple)):
            aspect_ratios = (aspect_ratios,) * len(sizes)
        self.sizes, self.aspect_ratios = sizes, aspect_ratios
        self.cell_anchors = [self.generate_anchors(*pair) for pair in zip(sizes, aspect_ratios)]

    def generate_anchors(self, scales, aspect_ratios, dtype=_C.float32, device="cpu"):
        """[ratios * scales, 4], around 0."""
        scales, ratios = (_C._tensor_from(list(v), dtype, device) for v in (scales, aspect_ratios))
        tall = ratios.sqrt()
        width, height = ((part[:, None] * scales).view(-1) for part in (1 / tall, tall))
        return (_C.stack([-width, -height, width, height], 1) / 2).round()

    def set_cell_anchors(self, dtype, device):
        self.cell_anchors = [anchors.to(dtype=dtype, device=device) for anchors in self.cell_anchors]

    def num_anchors_per_location(self):
        return [len(s) * len(a) for s, a in zip(self.sizes, self.aspect_ratios)]

    def grid_anchors(self, grid_sizes, strides):
        """For each map [places * anchors, 4]."""
        if not len(grid_sizes) == len(strides) == len(self.cell_anchors):
            raise AssertionError(
                "Anchors should be Tuple[Tuple[int]] because each feature map could potentially have different sizes and "
                "aspect ratios. There needs to be a match between the number of feature maps passed and the number of sizes / "
                "aspect ratios specified.")
        made = []
        for (height, width), (down, right), cell in zip(grid_sizes, strides, self.cell_anchors):
            x, y = _grid(height, width, cell.device, _C.int32)
            x, y = x * right, y * down
            made.append((_C.stack((x, y, x, y), 1)[:, None] + cell).reshape(-1, 4))
        return made

    def forward(self, image_list, feature_maps):
        sizes = [tuple(features.shape[-2:]) for features in feature_maps]
        whole = image_list.tensors.shape[-2:]
        strides = [tuple(n // m for n, m in zip(whole, size)) for size in sizes]
        self.set_cell_anchors(feature_maps[0].dtype, feature_maps[0].device)
        anchors = _C.cat(self.grid_anchors(sizes, strides))
        return [anchors for _ in image_list.image_sizes]


class DefaultBoxGenerator(nn.Module):
    """SSD's boxes (arXiv:1512.02325, section 2.2): squares of `scales`, of their geometric means, and of both ratios of sides
    for each of `aspect_ratios`."""

    def __init__(self, aspect_ratios, min_ratio=0.15, max_ratio=0.9, scales=None, steps=None, clip=True):
        super().__init__()
        if steps is not None and len(aspect_ratios) != len(steps):
            raise ValueError("aspect_ratios and steps should have the same length")
        self.aspect_ratios, self.steps, self.clip, maps = aspect_ratios, steps, clip, len(aspect_ratios)
        if scales is None:
            scales = [min_ratio, max_ratio] if maps == 1 else [
                *(min_ratio + (max_ratio - min_ratio) * k / (maps - 1.0) for k in range(maps)), 1.0]
        self.scales = scales
        self._wh_pairs = [self._sides(k) for k in range(maps)]

    def _sides(self, k):
        """Widths and heights at each place of map k, [boxes, 2]."""
        scale = self.scales[k]
        mean = math.sqrt(scale * self.scales[k + 1])
        sides = [[scale, scale], [mean, mean]]
        for ratio in map(math.sqrt, self.aspect_ratios[k]):
            sides += [[scale * ratio, scale / ratio], [scale / ratio, scale * ratio]]
        return _C._tensor_from(sides, _C.float32, None)

    def num_anchors_per_location(self):
        return [2 + 2 * len(ratios) for ratios in self.aspect_ratios]

    def _grid_default_boxes(self, grid_sizes, image_size, dtype=_C.float32):
        """Middles and sides, as parts of the picture's."""
        made = []
        for k, (height, width) in enumerate(grid_sizes):
            down, right = [n / self.steps[k] for n in image_size] if self.steps is not None else (height, width)
            x, y = (((v + 0.5) / n).to(dtype) for v, n in zip(_grid(height, width), (right, down)))
            sides = self._wh_pairs[k].clamp(min=0, max=1) if self.clip else self._wh_pairs[k]
            middles = _C.stack((x, y), 1).repeat_interleave(len(sides), 0)
            made.append(_C.cat((middles, sides.repeat(height * width, 1).to(dtype)), 1))
        return _C.cat(made)

    def forward(self, image_list, feature_maps):
        sizes, whole = [tuple(f.shape[-2:]) for f in feature_maps], image_list.tensors.shape[-2:]
        boxes = self._grid_default_boxes(sizes, whole, dtype=feature_maps[0].dtype).to(feature_maps[0].device)
        scale = _C._tensor_from([whole[1], whole[0]], None, boxes.device)
        middles, half = boxes[:, :2], 0.5 * boxes[:, 2:]
        boxes = _C.cat([(middles - half) * scale, (middles + half) * scale], -1)
        return [boxes for _ in image_list.image_sizes]

    def __repr__(self):
        return (f"{type(self).__name__}(aspect_ratios={self.aspect_ratios}, clip={self.clip}, scales={self.scales}, "
                f"steps={self.steps})")
