"""What transforms are made of. Pictures that are no tensors are changed as tensors of bytes, and stay what they are."""

import math

from ... import _C
from .. import picture as pictures
from ._corners import Placed
from ._pictures import (
    _INTEGERS, _PIL_CODES, InterpolationMode, convert_image_dtype, get_dimensions, is_tensor, mode_of, of_pictures)
from ._sizes import pair_of, resized, sides_of
from .colour import (adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation,  # noqa: F401
                     adjust_sharpness, autocontrast, equalize, invert, posterize, rgb_to_grayscale, solarize, to_grayscale)
from .geometry import affine, perspective, rotate  # noqa: F401

__all__ = ["InterpolationMode", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
           "adjust_sharpness", "affine", "autocontrast", "center_crop", "convert_image_dtype", "crop", "equalize", "erase",
           "five_crop", "gaussian_blur", "get_dimensions", "get_image_num_channels", "get_image_size", "hflip", "invert",
           "normalize", "pad", "perspective", "pil_to_tensor", "posterize", "resize", "resized_crop", "rgb_to_grayscale",
           "rotate", "solarize", "ten_crop", "to_grayscale", "to_pil_image", "to_tensor", "vflip"]


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
    height, width = size
    if (height, width) == tuple(img.shape[-2:]):
        return img
    interpolation = mode_of(interpolation)
    flat = img.reshape(-1, *img.shape[-2:])
    simple = img.device.type == "cpu" and not img.requires_grad and img.dtype in (_C.uint8, _C.float32)
    if simple and interpolation == InterpolationMode.NEAREST:
        out = _C._vision.resize_nearest(flat.contiguous(), height, width)
    elif simple and interpolation == InterpolationMode.BILINEAR:
        out = _C._vision.resize_bilinear(flat.contiguous(), height, width, bool(antialias))
    else:
        from ...nn.functional import interpolate
        linear = interpolation in (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
        floats = flat if flat.is_floating_point() else flat.to(_C.float32)
        out = interpolate(floats.unsqueeze(0), (height, width), mode=interpolation.value,
                          align_corners=False if linear else None, antialias=bool(antialias) and linear)[0]
        if not flat.is_floating_point():
            out = out.round().clamp_(0, 2 ** _INTEGERS[flat.dtype] - 1).to(flat.dtype)
    return out.reshape(*img.shape[:-2], height, width)


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """To (height, width), or so that the shorter side has `size` pixels."""
    if isinstance(size, (list, tuple)) and len(size) == 1:
        size = size[0]
    _, height, width = get_dimensions(img)
    height, width = resized(height, width, size, max_size)
    if not isinstance(img, (_C.TensorBase, pictures.Picture, Placed)):  # PIL rounds between rows and columns
        return img.resize((width, height), _PIL_CODES[mode_of(interpolation).value])
    return _resize(img, (height, width), interpolation, antialias)


def _outside(n, before, after, mode):
    """For each place of a padded line, the place in the line that it continues."""
    places = list(range(-before, n + after))
    if mode == "edge":
        return [min(max(i, 0), n - 1) for i in places]
    period = 2 * n if mode == "symmetric" else max(2 * n - 2, 1)
    if mode == "symmetric":
        return [i % period if i % period < n else period - 1 - i % period for i in places]
    return [i % period if i % period < n else period - i % period for i in places]


@of_pictures
def _pad(img, sides, fill, padding_mode):
    left, top, right, bottom = sides
    if min(sides) < 0:
        height, width = img.shape[-2:]
        img = img[..., max(0, -top):height - max(0, -bottom), max(0, -left):width - max(0, -right)]
        left, top, right, bottom = (max(0, s) for s in sides)
    height, width = img.shape[-2:]
    if padding_mode == "constant":
        out = img.new_empty((*img.shape[:-2], height + top + bottom, width + left + right))
        if isinstance(fill, (list, tuple)):
            if len(fill) != 1 and len(fill) != img.size(-3):
                raise ValueError(f"The number of elements in 'fill' does not match the number of channels of the image "
                                 f"({len(fill)} != {img.size(-3)})")
            out.copy_(_C._tensor_from(list(fill), img.dtype, img.device).view(-1, 1, 1).expand_as(out))
        else:
            out.fill_(fill or 0)
        out[..., top:top + height, left:left + width] = img
        return out
    if padding_mode not in ("edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    rows = _C._tensor_from(_outside(height, top, bottom, padding_mode), _C.int64, img.device)
    columns = _C._tensor_from(_outside(width, left, right, padding_mode), _C.int64, img.device)
    return img.index_select(-2, rows).index_select(-1, columns)


def pad(img, padding, fill=0, padding_mode="constant"):
    """Adds pixels around: one number of them, (left and right, top and bottom), or (left, top, right, bottom)."""
    return _pad(img, sides_of(padding), fill, padding_mode)


@of_pictures
def crop(img, top, left, height, width):
    """A piece; what lies outside of the picture is 0."""
    rows, columns = img.shape[-2:]
    piece = img[..., max(top, 0):max(top + height, 0), max(left, 0):max(left + width, 0)]
    if top < 0 or left < 0 or top + height > rows or left + width > columns:
        sides = [max(-left + min(0, left + width), 0), max(-top + min(0, top + height), 0),
                 max(left + width - max(columns, left), 0), max(top + height - max(rows, top), 0)]
        out = img.new_zeros((*img.shape[:-2], height, width))
        out[..., sides[1]:sides[1] + piece.size(-2), sides[0]:sides[0] + piece.size(-1)] = piece
        return out
    return piece


def center_crop(img, output_size):
    """The middle; zeros are added around a picture that is smaller."""
    height, width = pair_of(output_size)
    _, rows, columns = get_dimensions(img)
    if width > columns or height > rows:
        more_w, more_h = max(width - columns, 0), max(height - rows, 0)
        img = pad(img, [more_w // 2, more_h // 2, (more_w + 1) // 2, (more_h + 1) // 2])
        _, rows, columns = get_dimensions(img)
        if (rows, columns) == (height, width):
            return img
    return crop(img, int(round((rows - height) / 2.0)), int(round((columns - width) / 2.0)), height, width)


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
    height, width = pair_of(size)
    _, rows, columns = get_dimensions(img)
    if width > columns or height > rows:
        raise ValueError(f"Requested crop size {(height, width)} is bigger than input size {(rows, columns)}")
    places = [(0, 0), (0, columns - width), (rows - height, 0), (rows - height, columns - width)]
    return (*(crop(img, top, left, height, width) for top, left in places), center_crop(img, [height, width]))


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
    if any(n % 2 == 0 or n < 0 for n in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    if sigma is None:
        sigma = [n * 0.15 + 0.35 for n in sizes]
    sigma = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else list(sigma) * (3 - len(sigma))
    if any(s <= 0 for s in sigma):
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return _gaussian_blur(img, sizes, sigma)


def _bell(n, sigma, like):
    places = _C.linspace(-(n - 1) * 0.5, (n - 1) * 0.5, n, dtype=like.dtype, device=like.device)
    weights = _C.exp(-0.5 * (places / sigma) ** 2)
    return weights / weights.sum()


@of_pictures
def _gaussian_blur(img, sizes, sigma):
    from ...nn.functional import conv2d
    floats = img if img.is_floating_point() else img.to(_C.float32)
    kernel = _bell(sizes[1], sigma[1], floats)[:, None] * _bell(sizes[0], sigma[0], floats)
    flat = floats.reshape(-1, 1, *floats.shape[-2:])
    flat = _pad(flat, (sizes[0] // 2, sizes[1] // 2, sizes[0] // 2, sizes[1] // 2), 0, "reflect")
    out = conv2d(flat, kernel[None, None]).reshape(img.shape)
    return out if img.is_floating_point() else out.round().clamp(0, 255).to(img.dtype)
