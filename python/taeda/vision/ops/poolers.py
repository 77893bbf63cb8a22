"""Pieces of the features of several scales under boxes, each from the scale that fits its size."""

import math

from ... import _C
from ...nn import Module
from ...nn.modules.utils import _pair
from .pools import _rows_of, roi_align

__all__ = ["LevelMapper", "MultiScaleRoIAlign"]


class LevelMapper:
    """Which scale the boxes of lists are looked up in: one of `canonical_scale` pixels at `canonical_level`, one of twice that
    a level above (arXiv:1612.03144, equation 1)."""

    def __init__(self, k_min, k_max, canonical_scale=224, canonical_level=4, eps=1e-6):
        self.k_min, self.k_max, self.s0, self.lvl0, self.eps = k_min, k_max, canonical_scale, canonical_level, eps

    def __call__(self, boxlists):
        corners = _C.cat(list(boxlists))
        side = ((corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])).sqrt()
        level = (self.lvl0 + (side / self.s0).log2() + self.eps).floor()
        return level.clamp(self.k_min, self.k_max).to(_C.int64) - self.k_min


class MultiScaleRoIAlign(Module):
    """roi_align of the maps `featmap_names` of a dict of features; a box's map is the one that its size asks for."""

    def __init__(self, featmap_names, output_size, sampling_ratio, *, canonical_scale=224, canonical_level=4):
        super().__init__()
        self.featmap_names, self.output_size, self.sampling_ratio = featmap_names, tuple(_pair(output_size)), sampling_ratio
        self.canonical_scale, self.canonical_level = canonical_scale, canonical_level
        self.scales = self.map_levels = None

    def _look(self, maps, image_shapes):
        """Scales and levels of maps, from what the largest pictures' sides became."""
        if not image_shapes:
            raise ValueError("images list should not be empty")
        largest = [max(sides) for sides in zip(*image_shapes)]
        self.scales = []
        for features in maps:
            scales = [2.0 ** round(math.log2(n / side)) for n, side in zip(features.shape[-2:], largest)]
            if scales[0] != scales[1]:
                raise ValueError(f"height and width are of different scales: {scales[0]}, {scales[1]}")
            self.scales.append(scales[0])
        ends = [-int(math.log2(scale)) for scale in (self.scales[0], self.scales[-1])]
        self.map_levels = LevelMapper(*ends, self.canonical_scale, self.canonical_level)

    def forward(self, x, boxes, image_shapes):
        """[K, C, *output_size] of a dict of [N, C, H, W], boxes [L, 4] of each picture and its height and width."""
        maps = [x[name] for name in x if name in self.featmap_names]
        if self.scales is None or self.map_levels is None:
            self._look(maps, image_shapes)
        rows = _rows_of(boxes)
        if len(maps) == 1:
            return roi_align(maps[0], rows, self.output_size, self.scales[0], self.sampling_ratio)
        levels = self.map_levels(boxes)
        out = _C.zeros(len(rows), maps[0].size(1), *self.output_size, dtype=maps[0].dtype, device=maps[0].device)
        for level, (features, scale) in enumerate(zip(maps, self.scales)):
            at = (levels == level).nonzero()[:, 0]
            pieces = roi_align(features, rows[at], self.output_size, scale, self.sampling_ratio)
            out = out.index_put((at,), pieces.to(out.dtype))
        return out

    def __repr__(self):
        return (f"{type(self).__name__}(featmap_names={self.featmap_names}, output_size={self.output_size}, "
                f"sampling_ratio={self.sampling_ratio})")
