"""Channels of groups in turn."""

from .. import functional as F
from .module import Module


class ChannelShuffle(Module):
    """[*, C, H, W] with the first channel of each group first, then the second ones (arXiv:1707.01083)."""

    __constants__ = ["groups"]

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"
