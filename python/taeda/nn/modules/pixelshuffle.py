"""Channels as pixels, and back."""

from .. import functional as F
from .module import Module


class PixelShuffle(Module):
    """Channels as pixels: groups of r r channels become squares of r x r pixels (Shi et al. 2016, arXiv:1609.05158).

    upscale_factor: r

    Shapes: input [*, C r r, H, W], result [*, C, r H, r W]. A number of channels that r r does not divide is a RuntimeError.

    >>> nn.PixelShuffle(2)(torch.zeros(1, 8, 3, 3)).shape
    torch.Size([1, 2, 6, 6])
    """

    __constants__ = ["upscale_factor"]

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Pixels as channels, the inverse of PixelShuffle.

    downscale_factor: r

    Shapes: input [*, C, r H, r W], result [*, C r r, H, W]. Sizes that r does not divide are a RuntimeError.

    >>> nn.PixelUnshuffle(2)(torch.zeros(1, 2, 6, 6)).shape
    torch.Size([1, 8, 3, 3])
    """

    __constants__ = ["downscale_factor"]

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        return f"downscale_factor={self.downscale_factor}"
