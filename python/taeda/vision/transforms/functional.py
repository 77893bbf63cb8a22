"""What transforms are made of. Pictures that are no tensors are changed as tensors of bytes, and stay what they are."""

from ... import _C
from ..._C import _vision as _V
from .. import picture as pictures
from ._corners import Placed
from ._pictures import (
    _PIL_CODES, InterpolationMode, convert_image_dtype, get_dimensions, is_tensor, mode_of, of_pictures)
from ._sizes import pair_of, resized, sides_of
from .colour import (adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation,  # noqa: F401
                     adjust_sharpness, autocontrast, equalize, invert, posterize, rgb_to_grayscale, solarize, to_grayscale)
from .geometry import affine, elastic_transform, perspective, rotate  # noqa: F401

__all__ = ["InterpolationMode", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
           "adjust_sharpness", "affine", "autocontrast", "center_crop", "convert_image_dtype", "crop", "elastic_transform",
           "equalize", "erase", "five_crop", "gaussian_blur", "get_dimensions", "get_image_num_channels", "get_image_size",
           "hflip", "invert", "normalize", "pad", "perspective", "pil_to_tensor", "posterize", "resize", "resized_crop",
           "rgb_to_grayscale", "rotate", "solarize", "ten_crop", "to_grayscale", "to_pil_image", "to_tensor", "vflip"]


def get_image_size(img):
    """[width, height]"""
    _, height, width = get_dimensions(img)
    return [width, height]


def get_image_num_channels(img):
    return get_dimensions(img)[0]


# Between tensors, pictures and arrays

def _is_array(value):
    return type(value).__module__ == "numpy" and hasattr(value, "__array_interface__")


def to_tensor(pic):
    """A float tensor (channels, height, width): bytes from 0 to 255 become numbers from 0 to 1."""
    if _is_array(pic):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        tensor = _C.from_numpy(pic if pic.ndim == 3 else pic[:, :, None]).permute(2, 0, 1).contiguous()
    elif pictures.is_picture(pic):
        tensor = pictures.to_bytes(pic)
    else:
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    return tensor.to(_C.get_default_dtype()).div_(255) if tensor.dtype == _C.uint8 else tensor


def pil_to_tensor(pic):
    """A tensor of bytes (channels, height, width) as the picture has them."""
    if not pictures.is_picture(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return pictures.to_bytes(pic)


def to_pil_image(pic, mode=None):
    """A picture of a tensor (channels, height, width) or an array (height, width, channels)."""
    if not is_tensor(pic) and not _is_array(pic):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    if is_tensor(pic):
        tensor = pic.detach().cpu()
        tensor = tensor.unsqueeze(0) if tensor.dim() == 2 else tensor
        if tensor.size(0) > 4:
            raise ValueError(f"pic should not have > 4 channels. Got {tensor.size(0)} channels.")
        if tensor.is_floating_point() and mode != "F":
            tensor = tensor.mul(255).to(_C.uint8)
    else:
        tensor = _C.from_numpy(pic if pic.ndim == 3 else pic[:, :, None])
        if tensor.size(2) > 4:
            raise ValueError(f"pic should not have > 4 channels. Got {tensor.size(2)} channels.")
        tensor = tensor.permute(2, 0, 1)
    if tensor.dtype != _C.uint8:
        raise TypeError(f"Input type {tensor.dtype} is not supported")
    return pictures.from_bytes(tensor, mode)


def normalize(tensor, mean, std, inplace=False):
    """(tensor - mean) / std, with one number of each for every channel."""
    if not is_tensor(tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.dim() < 3:
        if tensor.dim() < 2:
            raise TypeError("Tensor is not a torch image.")
        raise ValueError("Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
                         f"{tensor.size()}")
    out = tensor if inplace else tensor.clone()
    mean, std = (v.to(device=tensor.device, dtype=tensor.dtype) if is_tensor(v) else
                 _C._tensor_from(v, tensor.dtype, tensor.device) for v in (mean, std))
    if (std == 0).any():
        raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
    mean, std = (v.view(-1, 1, 1) if v.dim() == 1 else v for v in (mean, std))
    return out.sub_(mean).div_(std)


# Sizes and places

@of_pictures
def _resize(img, size, interpolation, antialias):
    return _V.resize(img, size, mode_of(interpolation).value, bool(antialias))


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """To (height, width), or so that the shorter side has `size` pixels."""
    if isinstance(size, (list, tuple)) and len(size) == 1:
        size = size[0]
    _, height, width = get_dimensions(img)
    height, width = resized(height, width, size, max_size)
    if not isinstance(img, (_C.TensorBase, pictures.Picture, Placed)):  # PIL rounds between rows and columns
        return img.resize((width, height), _PIL_CODES[mode_of(interpolation).value])
    return _resize(img, (height, width), interpolation, antialias)


@of_pictures
def _pad(img, sides, fill, padding_mode):
    return _V.pad(img, sides, fill, padding_mode)


def pad(img, padding, fill=0, padding_mode="constant"):
    """Adds pixels around: one number of them, (left and right, top and bottom), or (left, top, right, bottom)."""
    return _pad(img, sides_of(padding), fill, padding_mode)


@of_pictures
def crop(img, top, left, height, width):
    """A piece; what lies outside of the picture is 0."""
    return _V.crop(img, (top, left, height, width))


def center_crop(img, output_size):
    """The middle; zeros are added around a picture that is smaller."""
    return crop(img, *_V.center_piece(get_dimensions(img)[1:], pair_of(output_size)))


def resized_crop(img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    """A piece in another size."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


@of_pictures
def hflip(img):
    """Left and right exchanged."""
    return img.flip(-1)


@of_pictures
def vflip(img):
    """Top and bottom exchanged."""
    return img.flip(-2)


def five_crop(img, size):
    """The corners - top left, top right, bottom left, bottom right - and the middle."""
    return tuple(crop(img, *piece) for piece in _V.five_pieces(get_dimensions(img)[1:], pair_of(size)))


def ten_crop(img, size, vertical_flip=False):
    """five_crop of the picture and of its mirror image."""
    return five_crop(img, size) + five_crop(vflip(img) if vertical_flip else hflip(img), size)


def erase(img, i, j, h, w, v, inplace=False):
    """The picture with a rectangle replaced by the values v."""
    if not is_tensor(img):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    out = img if inplace else img.clone()
    out[..., i:i + h, j:j + w] = v
    return out


def gaussian_blur(img, kernel_size, sigma=None):
    """Each pixel a mean of its neighbours, weighted by a Gaussian; the picture is reflected at its edges."""
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if len(sizes) != 2:
        raise ValueError(f"If kernel_size is a sequence its length should be 2. Got {len(sizes)}")
    if sigma is None:
        sigma = [n * 0.15 + 0.35 for n in sizes]
    sigma = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else list(sigma) * (3 - len(sigma))
    return _gaussian_blur(img, sizes, sigma)


@of_pictures
def _gaussian_blur(img, sizes, sigma):
    return _V.gaussian_blur(img, sizes, sigma)
