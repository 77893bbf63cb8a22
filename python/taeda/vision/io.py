"""Pictures in files: tensors of bytes (channels, height, width)."""

import enum

from .. import _C


class ImageReadMode(enum.Enum):
    """Which channels a picture is read with."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


_READ = {ImageReadMode.UNCHANGED: 0, ImageReadMode.GRAY: 1, ImageReadMode.RGB: 2}


def _known(mode):
    mode = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    if mode not in _READ:
        raise NotImplementedError(f"read_image with mode {mode.name}: Taeda reads UNCHANGED, GRAY and RGB")
    return mode


def read_image(path, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """Reads a PNG or JPEG file. RuntimeError that names a file that is missing, damaged or something else."""
    if apply_exif_orientation:
        raise NotImplementedError("read_image with apply_exif_orientation: Taeda does not read EXIF data")
    return _C._vision.read_image(str(path), _READ[_known(mode)])


def read_file(path):
    """The bytes of a file."""
    with open(path, "rb") as file:
        content = bytearray(file.read())
    return _C.from_numpy(content) if content else _C.empty(0, dtype=_C.uint8)


def write_file(filename, data):
    with open(filename, "wb") as file:
        file.write(_C._bytes_of(data.contiguous()))


def _in_mode(image, mode):
    mode = _known(mode)
    if mode == ImageReadMode.GRAY and image.size(0) > 1:
        grey = _C._vision.rgb_to_grayscale(image[:3].to(_C.float32).div_(255))
        return _C._vision.to_bytes(grey)
    if mode == ImageReadMode.RGB:
        return (image if image.size(0) >= 3 else image[:1].expand(3, -1, -1))[:3].contiguous()
    return image


def decode_png(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """A picture of the bytes of a PNG file."""
    return _in_mode(_C._vision.decode_png(input), mode)


def decode_jpeg(input, mode=ImageReadMode.UNCHANGED, device="cpu", apply_exif_orientation=False):
    """A picture, or a list of them, of the bytes of JPEG files."""
    if isinstance(input, (list, tuple)):
        return [decode_jpeg(one, mode, device) for one in input]
    return _in_mode(_C._vision.decode_jpeg(input), mode).to(device)


def decode_image(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """A picture of a path, or of the bytes of a PNG or JPEG file."""
    if isinstance(input, str):
        return read_image(input, mode)
    return decode_png(input, mode) if bytes(input[:4].tolist()) == b"\x89PNG" else decode_jpeg(input, mode)


def encode_png(input, compression_level=6):
    """The bytes of a PNG file with the picture."""
    return _C._vision.encode_png(input)


def encode_jpeg(input, quality=75):
    """The bytes of a JPEG file with the picture, or a list for a list."""
    if isinstance(input, (list, tuple)):
        return [encode_jpeg(one, quality) for one in input]
    return _C._vision.encode_jpeg(input, quality)


def write_png(input, filename, compression_level=6):
    _C._vision.write_png(input, str(filename))


def write_jpeg(input, filename, quality=75):
    _C._vision.write_jpeg(input, str(filename), quality)
