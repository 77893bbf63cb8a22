"""Tensor.share_memory_ and is_shared."""

from .. import _C
from . import reductions

reductions.init_reductions()


def share(tensor):
    """Moves a tensor's memory to where other processes can see it; itself. An accelerator's is shared as it is."""
    if tensor.is_sparse:
        share(tensor._indices())
        share(tensor._values())
    else:
        _C._share(tensor)
    return tensor


def is_shared(tensor):
    """Whether other processes can see this memory."""
    return tensor.device.type != "cpu" or _C._is_shared(tensor)
