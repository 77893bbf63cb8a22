"""Many pictures in one, and in files."""

import os

from .. import _C


def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """A batch (N, channels, height, width), or a list of pictures, as one picture with `nrow` of them in a row."""
    if not isinstance(tensor, _C.TensorBase):
        if not isinstance(tensor, list):
            raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
        for t in tensor:
            if not isinstance(t, _C.TensorBase):
                raise TypeError(f"tensor or list of tensors expected, got a list containing {type(t)}")
        tensor = _C.stack(tensor, 0)
    if value_range is not None and not isinstance(value_range, tuple):
        raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
    with _no_grad():
        return _C._vision.make_grid(tensor.detach(), nrow, padding, normalize, value_range, scale_each, pad_value)


def _no_grad():
    from ..autograd.modes import no_grad
    return no_grad()


def write_bytes(picture, fp, format=None):
    """Writes a tensor of bytes to a path or an open file, as the format or the name's ending says."""
    kind = format or (os.path.splitext(fp)[1][1:] if isinstance(fp, (str, os.PathLike)) else "")
    kind = kind.lower()
    if kind not in ("png", "jpg", "jpeg"):
        raise ValueError(f"unknown file extension: {'.' + kind if kind else '(none)'}; Taeda writes PNG and JPEG files")
    data = _C._vision.encode_png(picture.contiguous()) if kind == "png" else _C._vision.encode_jpeg(picture.contiguous(), 75)
    content = bytes(_C._bytes_of(data))
    if isinstance(fp, (str, os.PathLike)):
        with open(fp, "wb") as file:
            file.write(content)
    else:
        fp.write(content)


def save_image(tensor, fp, format=None, **kwargs):
    """Writes a picture from 0 to 1, or a batch as a grid, to a PNG or JPEG file; other arguments are make_grid's."""
    grid = make_grid(tensor, **kwargs)
    write_bytes(grid.mul(255).add_(0.5).clamp_(0, 255).to("cpu", _C.uint8), fp, format)
