"""Channels of groups in turn."""

from .. import functional as F
from .module import Module


class ChannelShuffle(Module):
    """The first channel of each group first, then the second ones, and so on (Zhang et al. 2017, arXiv:1707.01083).

    groups: into how many groups the channels are divided; it divides C, else RuntimeError of the call

    Shapes: [*, C, H, W], which the result has.

    >>> nn.ChannelShuffle(2)(torch.arange(4).reshape(1, 4, 1, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    __constants__ = ["groups"]

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"
