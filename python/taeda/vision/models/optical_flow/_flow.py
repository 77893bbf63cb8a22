"""Coordinates of pixels, pictures sampled there, and flows of larger pictures."""

from .... import _C
from ....nn import functional as F


def grid_sample(img, absolute_grid, mode="bilinear", align_corners=None):
    """F.grid_sample at coordinates (x, y) that are counted in pixels."""
    height, width = img.shape[-2:]
    x, y = absolute_grid.split([1, 1], dim=-1)
    x = 2 * x / (width - 1) - 1
    y = 2 * y / (height - 1) - 1 if height > 1 else y
    return F.grid_sample(img, _C.cat([x, y], dim=-1), mode=mode, align_corners=align_corners)


def make_coords_grid(batch_size, h, w, device="cpu"):
    """The coordinates (x, y) of each pixel: [batch_size, 2, h, w]."""
    y = _C.arange(h, device=device).float().view(1, h, 1).expand(1, h, w)
    x = _C.arange(w, device=device).float().view(1, 1, w).expand(1, h, w)
    return _C.cat([x, y])[None].repeat(batch_size, 1, 1, 1)


def upsample_flow(flow, up_mask=None, factor=8):
    """A flow [batch, channels, h, w] of pictures `factor` times as large: interpolated or, with `up_mask` (9 * factor^2
    channels), weighted sums of the 3 by 3 neighbours (RAFT, appendix B)."""
    batch, channels, h, w = flow.shape
    if up_mask is None:
        return factor * F.interpolate(flow, size=(h * factor, w * factor), mode="bilinear", align_corners=True)
    weights = up_mask.view(batch, 1, 9, factor, factor, h, w).softmax(2)
    neighbours = F.unfold(factor * flow, kernel_size=3, padding=1).view(batch, channels, 9, 1, 1, h, w)
    made = (weights * neighbours).sum(2)
    return made.permute(0, 1, 4, 2, 5, 3).reshape(batch, channels, h * factor, w * factor)
