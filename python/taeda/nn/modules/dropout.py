"""Dropout."""

from ... import _C
from .. import functional as F
from .module import Module

_dropout = F.dropout  # another, if a program puts one there, is called


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zeroes elements with probability p and multiplies the others by 1 / (1 - p), while training; else the input itself
    (Srivastava et al. 2014, arXiv:1207.0580).

    p: 0.5 unless given; outside of [0, 1] a ValueError
    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.Dropout(0.2).eval()(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def forward(self, input):
        if F.dropout is not _dropout:
            return F.dropout(input, self.p, self.training, self.inplace)
        return (_C.dropout_ if self.inplace else _C.dropout)(input, self.p, self.training)


class Dropout1d(_DropoutNd):
    """Zeroes whole channels with probability p and multiplies the others by 1 / (1 - p), while training.

    p: 0.5 unless given; outside of [0, 1] a ValueError
    inplace: whether the result is written over the input; False unless given

    Shapes: input [N, C, L] or [C, L], which the result has.

    >>> nn.Dropout1d(0.5)(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    def forward(self, input):
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Zeroes whole channels with probability p and multiplies the others by 1 / (1 - p), while training (Tompson et al. 2014,
    arXiv:1411.4280).

    p: 0.5 unless given; outside of [0, 1] a ValueError
    inplace: whether the result is written over the input; False unless given

    Shapes: input [N, C, H, W], which the result has.

    >>> nn.Dropout2d(0.5)(torch.ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Zeroes whole channels with probability p and multiplies the others by 1 / (1 - p), while training.

    p: 0.5 unless given; outside of [0, 1] a ValueError
    inplace: whether the result is written over the input; False unless given

    Shapes: input [N, C, D, H, W] or [C, D, H, W], which the result has.

    >>> nn.Dropout3d(0.5)(torch.ones(2, 3, 4, 4, 4)).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input):
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance behind SELU: elements become SELU's limit for -inf, not 0 (arXiv:1706.02515).

    p: 0.5 unless given; outside of [0, 1] a ValueError
    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.AlphaDropout(0.2).eval()(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def forward(self, input):
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels.

    p: 0.5 unless given; outside of [0, 1] a ValueError
    inplace: whether the result is written over the input; False unless given

    Shapes: input [N, C, *], which the result has.

    >>> nn.FeatureAlphaDropout(0.5)(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    def forward(self, input):
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
