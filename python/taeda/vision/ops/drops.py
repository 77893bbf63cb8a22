"""Layers that leave out parts of what goes through them while they train."""

import math

from ... import _C
from ...nn import Module
from ...nn import functional as F


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}.")


def _drop_block(input, p, block_size, inplace, eps, training, sides, pool):
    _check_probability(p)
    if input.dim() != sides + 2:
        raise ValueError(f"input should be {sides + 2} dimensional. Got {input.dim()} dimensions.")
    if not training or p == 0.0:
        return input
    space = input.shape[2:]
    block = min(block_size, *space)
    if block % 2 == 0:
        raise ValueError(f"block size should be odd. Got {block} which is even.")
    middles = [n - block + 1 for n in space]
    chance = p * math.prod(space) / (block ** sides * math.prod(middles))
    dropped = _C.empty((*input.shape[:2], *middles), dtype=input.dtype, device=input.device).bernoulli_(chance)
    dropped = F.pad(dropped, [block // 2] * (2 * sides))
    kept = 1 - pool(dropped, block, 1, block // 2)
    scale = kept.numel() / (eps + kept.sum())
    return input.mul_(kept).mul_(scale) if inplace else input * kept * scale


def drop_block2d(input, p, block_size, inplace=False, eps=1e-06, training=True):
    """Zeroes squares of [N, C, H, W], so that each number is zeroed with probability p (arXiv:1810.12890)."""
    return _drop_block(input, p, block_size, inplace, eps, training, 2, F.max_pool2d)


def drop_block3d(input, p, block_size, inplace=False, eps=1e-06, training=True):
    """Zeroes cubes of [N, C, D, H, W], so that each number is zeroed with probability p."""
    return _drop_block(input, p, block_size, inplace, eps, training, 3, F.max_pool3d)


class DropBlock2d(Module):
    """drop_block2d as a layer."""

    function = staticmethod(drop_block2d)

    def __init__(self, p, block_size, inplace=False, eps=1e-06):
        super().__init__()
        self.p, self.block_size, self.inplace, self.eps = p, block_size, inplace, eps

    def forward(self, input):
        return self.function(input, self.p, self.block_size, self.inplace, self.eps, self.training)

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p}, block_size={self.block_size}, inplace={self.inplace})"


class DropBlock3d(DropBlock2d):
    """drop_block3d as a layer."""

    function = staticmethod(drop_block3d)


def stochastic_depth(input, p, mode, training=True):
    """Zeroes all ("batch") or each sample ("row") with probability p, and scales the rest by 1 / (1 - p) (arXiv:1603.09382)."""
    _check_probability(p)
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    shape = [input.size(0) if mode == "row" else 1] + [1] * (input.dim() - 1)
    kept = _C.empty(shape, dtype=input.dtype, device=input.device).bernoulli_(1.0 - p)
    return input * (kept.div_(1.0 - p) if p < 1.0 else kept)


class StochasticDepth(Module):
    """stochastic_depth as a layer."""

    def __init__(self, p, mode):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p}, mode={self.mode})"
