"""Pictures that are no tensors: PIL's where it is installed, else a class with the little of it that data sets need."""

import os
import sys

from .. import _C

_CHANNELS = {"1": 1, "L": 1, "LA": 2, "RGB": 3, "RGBA": 4}
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


class Picture:
    """A picture of bytes; `size` is (width, height), `mode` "L", "RGB" or "RGBA" as PIL has them."""

    def __init__(self, tensor, mode=None):
        self._tensor = tensor
        self.mode = mode or _MODES[tensor.size(0)]

    @property
    def width(self):
        return self._tensor.size(2)

    @property
    def height(self):
        return self._tensor.size(1)

    @property
    def size(self):
        return self.width, self.height

    def getbands(self):
        return tuple(self.mode) if self.mode != "1" else ("1",)

    def copy(self):
        return Picture(self._tensor.clone(), self.mode)

    def convert(self, mode):
        """The same in other colours: "L", "RGB" or "RGBA"."""
        if mode == self.mode:
            return self.copy()
        colours = self._tensor[:3] if self.mode in ("RGB", "RGBA") else self._tensor[:1].expand(3, -1, -1)
        if mode == "RGB":
            return Picture(colours.contiguous(), mode)
        if mode == "L":
            if self.mode == "LA":
                return Picture(self._tensor[:1].clone(), mode)
            weights = _C._tensor_from([299.0, 587.0, 114.0], None, None).view(3, 1, 1)
            return Picture(((colours * weights).sum(0, keepdim=True) / 1000).round().to(_C.uint8), mode)
        if mode == "RGBA":
            opaque = _C.full((1, self.height, self.width), 255, dtype=_C.uint8)
            return Picture(_C.cat([colours, self._tensor[-1:] if self.mode == "LA" else opaque]), mode)
        raise ValueError(f"cannot convert a picture of mode {self.mode} to mode {mode}")

    def tobytes(self):
        return bytes(_C._bytes_of(self._tensor.permute(1, 2, 0).contiguous()))

    def save(self, fp, format=None):
        """Writes a PNG or JPEG file, as the name's ending says."""
        write_bytes(self._tensor, fp, format)

    @property
    def __array_interface__(self):
        shape = (self.height, self.width) + ((self._tensor.size(0),) if self._tensor.size(0) > 1 else ())
        return {"shape": shape, "typestr": "|u1", "version": 3, "data": self.tobytes()}

    def __eq__(self, other):
        return isinstance(other, Picture) and self.mode == other.mode and _C.equal(self._tensor, other._tensor)

    def __repr__(self):
        return f"<Picture mode={self.mode} size={self.width}x{self.height}>"


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


def _pil():
    """PIL.Image where it is installed, or None."""
    try:
        import PIL.Image
    except ImportError:
        return None
    return PIL.Image


def is_picture(value):
    """Whether it is a picture that is no tensor."""
    if isinstance(value, Picture):
        return True
    loaded = sys.modules.get("PIL.Image")
    return loaded is not None and isinstance(value, loaded.Image)


def to_bytes(picture):
    """A uint8 tensor (channels, height, width) with a copy of a picture's bytes."""
    if isinstance(picture, Picture):
        return picture._tensor.clone()
    if picture.mode in ("I", "I;16", "F"):
        dtype = {"I": _C.int32, "I;16": _C.int16, "F": _C.float32}[picture.mode]
        flat = _C.from_numpy(bytearray(picture.tobytes())).view(dtype)
        return flat.view(1, picture.height, picture.width)
    if picture.mode not in _CHANNELS or picture.mode == "1":
        picture = picture.convert("L" if picture.mode == "1" else "RGB")
    flat = _C.from_numpy(bytearray(picture.tobytes()))
    return flat.view(picture.height, picture.width, len(picture.getbands())).permute(2, 0, 1).contiguous()


def from_bytes(tensor, mode=None):
    """A picture of a uint8 tensor (channels, height, width): PIL's, or a Picture without it."""
    image = _pil()
    if image is None:
        return Picture(tensor.contiguous(), mode)
    mode = mode or _MODES[tensor.size(0)]
    return image.frombytes(mode, (tensor.size(2), tensor.size(1)), Picture(tensor, mode).tobytes())


def on_bytes(picture, change):
    """Applies a function of tensors to a picture; the result is a picture of the same kind."""
    changed = change(to_bytes(picture))
    mode = picture.mode if _CHANNELS.get(picture.mode) == changed.size(0) and picture.mode != "1" else None
    return Picture(changed, mode) if isinstance(picture, Picture) else from_bytes(changed, mode)
