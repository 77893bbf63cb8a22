"""Changing the size of images."""

from .. import functional as F
from .module import Module


class Upsample(Module):
    """Images of other sizes, between whose pixels numbers are interpolated.

    size: the output's spatial sizes, or scale_factor: by what the input's are multiplied; one of both must be given
    mode: "nearest" (unless given), "nearest-exact", "linear" (of [N, C, L]), "bilinear", "bicubic" (of [N, C, H, W]) or
        "trilinear" (of [N, C, D, H, W])
    align_corners: whether the outer pixels' centres stay where they are; not for the nearest modes
    recompute_scale_factor: whether the factor is computed again from the rounded size

    Shapes: input [N, C, L], [N, C, H, W] or [N, C, D, H, W]; the result has N and C.

    >>> nn.Upsample(scale_factor=2)(torch.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor = tuple(map(float, scale_factor)) if isinstance(scale_factor, tuple) else (
            float(scale_factor) if scale_factor else None)
        self.mode, self.align_corners, self.recompute_scale_factor = mode, align_corners, recompute_scale_factor

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                             recompute_scale_factor=self.recompute_scale_factor)

    def extra_repr(self):
        return (f"scale_factor={self.scale_factor!r}" if self.scale_factor is not None else f"size={self.size!r}"
                ) + f", mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample of images by the nearest pixel.

    size, scale_factor: as Upsample's

    Shapes: input [N, C, H, W], result [N, C, H', W'].

    >>> nn.UpsamplingNearest2d(scale_factor=2)(torch.zeros(1, 3, 4, 4)).shape
    torch.Size([1, 3, 8, 8])
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample of images, bilinear, with aligned corners.

    size, scale_factor: as Upsample's

    Shapes: input [N, C, H, W], result [N, C, H', W'].

    >>> nn.UpsamplingBilinear2d(scale_factor=2)(torch.zeros(1, 3, 4, 4)).shape
    torch.Size([1, 3, 8, 8])
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
