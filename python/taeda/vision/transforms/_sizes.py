"""Sizes and paddings as they are given: one number, or one for each side."""

import collections.abc
import numbers


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
    if isinstance(padding, int):
        return padding, padding, padding, padding
    if not isinstance(padding, (tuple, list)):
        raise TypeError("Got inappropriate padding arg")
    if len(padding) == 1:
        return tuple(padding) * 4
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    if len(padding) == 4:
        return tuple(padding)
    raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple")


def resized(height, width, size, max_size=None):
    """(height, width) of a picture whose shorter side becomes `size`, and whose longer one at most `max_size`."""
    if isinstance(size, int) or len(size) == 1:
        wanted = size if isinstance(size, int) else size[0]
        short, long = min(height, width), max(height, width)
        new_short, new_long = wanted, int(wanted * long / short)
        if max_size is not None:
            if max_size <= wanted:
                raise ValueError(f"max_size = {max_size} must be strictly greater than the requested size for the smaller "
                                 f"edge size = {size}")
            if new_long > max_size:
                new_short, new_long = int(max_size * new_short / new_long), max_size
        return (new_short, new_long) if height <= width else (new_long, new_short)
    if max_size is not None:
        raise ValueError("max_size should only be passed if size specifies the length of the smaller edge, i.e. size should "
                         "be an int or a sequence of length 1 in torchscript mode.")
    return size[0], size[1]
