"""Rotations, shears and perspectives: where each pixel of the result comes from, and what is there."""

import math

from ... import _C
from .. import picture as pictures
from ._pictures import _PIL_CODES, InterpolationMode, get_dimensions, mode_of, of_pictures


def _sampled(img, grid, mode, fill):
    """Values of a picture at places from -1 to 1, `fill` outside of it."""
    from ...nn.functional import grid_sample
    floats = img if img.is_floating_point() else img.to(_C.float32)
    flat = floats.reshape(-1, *floats.shape[-3:])
    grid = grid.to(floats.dtype).expand(flat.size(0), *grid.shape[1:])
    if fill is not None:
        flat = _C.cat([flat, _C.ones_like(flat[:, :1])], 1)
    out = grid_sample(flat, grid, mode=mode.value, padding_mode="zeros", align_corners=False)
    if fill is not None:
        inside, out = out[:, -1:].expand_as(out[:, :-1]), out[:, :-1]
        colour = _C._tensor_from([float(f) for f in fill], out.dtype, out.device).view(1, len(fill), 1, 1).expand_as(out)
        if mode == InterpolationMode.NEAREST:
            out = _C.where(inside < 0.5, colour, out)
        else:
            out = out * inside + (1 - inside) * colour
    out = out.reshape(*img.shape[:-2], *out.shape[-2:])
    return out if img.is_floating_point() else out.round().to(img.dtype)


def _colour(img, fill):
    if fill is None:
        return None
    if isinstance(fill, (int, float)):
        return [float(fill)] * get_dimensions(img)[0]
    return list(fill)


def _by_pil(img):
    """Whether it is a picture of PIL's, which turns its own: it rounds otherwise than tensors are."""
    return pictures.is_picture(img) and not isinstance(img, pictures.Picture)


def _pil_fill(img, fill):
    """Options for the colour outside of a picture of PIL's."""
    bands = len(img.getbands())
    fill = 0 if fill is None else fill
    if bands > 1:
        fill = (int(fill),) * bands if isinstance(fill, (int, float)) else tuple(map(int, fill))
        fill = fill * bands if len(fill) == 1 else fill
        if len(fill) != bands:
            raise ValueError(f"The number of elements in 'fill' does not match the number of channels of the image "
                             f"({len(fill)} != {bands})")
    elif not isinstance(fill, (int, float)):
        fill = fill[0]
    return {"fillcolor": fill}


def _pil_transform(img, method, numbers, interpolation, fill):
    """PIL's transform by the six numbers of an affine map (method 0) or the eight of a perspective (2)."""
    return img.transform(img.size, method, numbers, _PIL_CODES[mode_of(interpolation).value], **_pil_fill(img, fill))


def _check(interpolation):
    mode = mode_of(interpolation)
    if mode not in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
        raise ValueError(f"Resampling mode {mode.value!r} is not supported, only nearest and bilinear")
    return mode


def _inverse(center, angle, translate, scale, shear):
    """The 2 x 3 matrix from places of the result to places of the picture."""
    rotation, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    cx, cy = center
    tx, ty = translate
    a = math.cos(rotation - shear_y) / math.cos(shear_y)
    b = -math.cos(rotation - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(rotation)
    c = math.sin(rotation - shear_y) / math.cos(shear_y)
    d = -math.sin(rotation - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(rotation)
    matrix = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
    matrix[2] += matrix[0] * (-cx - tx) + matrix[1] * (-cy - ty) + cx
    matrix[5] += matrix[3] * (-cx - tx) + matrix[4] * (-cy - ty) + cy
    return matrix


def _grid(matrix, width, height, out_width, out_height, like):
    theta = _C._tensor_from(matrix, like.dtype, like.device).view(1, 2, 3)
    base = _C.empty((1, out_height, out_width, 3), dtype=like.dtype, device=like.device)
    base[..., 0].copy_(_C.linspace(-out_width * 0.5 + 0.5, out_width * 0.5 + 0.5 - 1, out_width, device=like.device))
    base[..., 1].copy_(_C.linspace(-out_height * 0.5 + 0.5, out_height * 0.5 + 0.5 - 1, out_height,
                                   device=like.device).unsqueeze(-1))
    base[..., 2].fill_(1)
    scaled = theta.transpose(1, 2) / _C._tensor_from([0.5 * width, 0.5 * height], like.dtype, like.device)
    return base.view(1, out_height * out_width, 3).bmm(scaled).view(1, out_height, out_width, 2)


def _floats(img):
    return img if img.is_floating_point() else img.to(_C.float32)


def _enclosing(matrix, width, height):
    """(width, height) of what holds the whole turned picture."""
    corners = [(x, y) for x in (-0.5 * width, 0.5 * width) for y in (-0.5 * height, 0.5 * height)]
    turned = [(matrix[0] * x + matrix[1] * y + matrix[2], matrix[3] * x + matrix[4] * y + matrix[5]) for x, y in corners]
    sizes = []
    for axis, n in ((0, width), (1, height)):
        places = [p[axis] + n * 0.5 for p in turned]
        low, high = (round(v * 1e4) / 1e4 for v in (min(places), max(places)))
        sizes.append(int(math.ceil(high) - math.floor(low)))
    return sizes


@of_pictures
def _rotate(img, matrix, mode, expand, fill):
    height, width = img.shape[-2:]
    out_width, out_height = _enclosing(matrix, width, height) if expand else (width, height)
    return _sampled(img, _grid(matrix, width, height, out_width, out_height, _floats(img)), mode, _colour(img, fill))


def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    """Turns by `angle` degrees, against the clock; with `expand` the result holds all of the picture."""
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if _by_pil(img):
        return img.rotate(angle, _PIL_CODES[mode_of(interpolation).value], expand, center, **_pil_fill(img, fill))
    _, height, width = get_dimensions(img)
    middle = [0.0, 0.0] if center is None else [center[0] - width * 0.5, center[1] - height * 0.5]
    return _rotate(img, _inverse(middle, -angle, [0.0, 0.0], 1.0, [0.0, 0.0]), _check(interpolation), expand, fill)


@of_pictures
def _affine(img, matrix, mode, fill):
    height, width = img.shape[-2:]
    return _sampled(img, _grid(matrix, width, height, width, height, _floats(img)), mode, _colour(img, fill))


def affine(img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    """Turns (with the clock), moves by pixels, scales and shears (degrees) around the middle."""
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    shear = [shear, 0.0] if isinstance(shear, (int, float)) else list(shear) * (3 - len(shear))
    _, height, width = get_dimensions(img)
    places = [float(t) for t in translate], scale, [float(s) for s in shear]
    if _by_pil(img):
        middle = [width * 0.5, height * 0.5] if center is None else center
        return _pil_transform(img, 0, _inverse(middle, angle, *places), interpolation, fill)
    middle = [0.0, 0.0] if center is None else [center[0] - width * 0.5, center[1] - height * 0.5]
    return _affine(img, _inverse(middle, angle, *places), _check(interpolation), fill)


def _coefficients(startpoints, endpoints):
    """The eight numbers of the perspective that takes end points to start points."""
    rows = []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    targets = [float(n) for point in startpoints for n in point]
    matrix = _C._tensor_from([[float(n) for n in row] for row in rows], _C.float64, None)
    return _C._linalg.solve(matrix, _C._tensor_from(targets, _C.float64, None)).to(_C.float32).tolist()


@of_pictures
def _perspective(img, numbers, mode, fill):
    height, width = img.shape[-2:]
    like = _floats(img)
    xs = _C.linspace(0.5, width - 0.5, width, dtype=like.dtype, device=like.device)
    ys = _C.linspace(0.5, height - 0.5, height, dtype=like.dtype, device=like.device).unsqueeze(-1)
    below = numbers[6] * xs + numbers[7] * ys + 1
    x = (numbers[0] * xs + numbers[1] * ys + numbers[2]) / below
    y = (numbers[3] * xs + numbers[4] * ys + numbers[5]) / below
    grid = _C.stack([x / (0.5 * width) - 1, y / (0.5 * height) - 1], -1).unsqueeze(0)
    return _sampled(img, grid, mode, _colour(img, fill))


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Moves four corners, given as (x, y), from the start points to the end points."""
    numbers = _coefficients(startpoints, endpoints)
    if _by_pil(img):
        return _pil_transform(img, 2, numbers, interpolation, fill)
    return _perspective(img, numbers, _check(interpolation), fill)
