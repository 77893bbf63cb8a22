"""Sizes and paddings as they are given: one number, or one for each side."""

import collections.abc
import numbers

from ..._C import _vision as _V


def pair_of(size, error_msg="Please provide only two dimensions (h, w) for size."):
    """(height, width) of one number or two."""
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    if isinstance(size, collections.abc.Sequence) and len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(error_msg)
    return size


def sides_of(padding):
    """(left, top, right, bottom) of one number, two or four."""
    if not isinstance(padding, (int, tuple, list)):
        raise TypeError("Got inappropriate padding arg")
    return _V.sides_of([padding] if isinstance(padding, int) else padding)


def resized(height, width, size, max_size=None):
    """(height, width) of a picture whose shorter side becomes `size`, and whose longer one at most `max_size`."""
    if isinstance(size, int) or len(size) == 1:
        return _V.resized((height, width), size if isinstance(size, int) else size[0], max_size)
    if max_size is not None:
        raise ValueError("max_size should only be passed if size specifies the length of the smaller edge, i.e. size should "
                         "be an int or a sequence of length 1 in torchscript mode.")
    return size[0], size[1]
