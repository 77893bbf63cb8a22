"""Many pictures in one, and in files."""

from .. import _C
from .._core.warnings import warn
from .picture import write_bytes


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


def draw_segmentation_masks(image, masks, alpha=0.8, colors=None):
    """A picture (3, height, width) with the pixels of boolean masks (N, height, width) in N colours, `alpha` of each."""
    if not isinstance(image, _C.TensorBase):
        raise TypeError(f"The image must be a tensor, got {type(image)}")
    if not (image.dtype == _C.uint8 or image.is_floating_point()):
        raise ValueError(f"The image dtype must be uint8 or float, got {image.dtype}")
    if image.dim() != 3 or image.size(0) != 3:
        raise ValueError("Pass individual RGB images, not batches" if image.dim() != 3 else "Pass an RGB image. Other Image "
                         "formats are not supported")
    masks = masks[None] if masks.dim() == 2 else masks
    if masks.dim() != 3:
        raise ValueError("masks must be of shape (H, W) or (batch_size, H, W)")
    if masks.dtype != _C.bool:
        raise ValueError(f"The masks must be of dtype bool. Got {masks.dtype}")
    if masks.shape[-2:] != image.shape[-2:]:
        raise ValueError("The image and the masks must have the same height and width")
    if masks.size(0) == 0:
        warn("masks doesn't contain any mask. No mask was drawn")
        return image
    painted, covered = image.detach().clone(), masks.any(0)
    for mask, colour in zip(masks, _colours(colors, masks.size(0))):
        value = _C._tensor_from(colour, _C.float32 if image.is_floating_point() else _C.uint8, image.device)
        value = value / 255 if image.is_floating_point() else value
        painted[:, mask] = value.to(image.dtype)[:, None]
    mixed = image * (1 - alpha) + painted * alpha
    return _C.where(covered, mixed, image.to(mixed.dtype)).to(image.dtype)


def _colours(colors, count):
    """One colour (red, green, blue) for each of several things."""
    if colors is None:  # far from each other: a step through the bits of the channels for each number
        base = (2 ** 25 - 1, 2 ** 15 - 1, 2 ** 21 - 1)
        return [tuple(i * part % 255 for part in base) for i in range(count)]
    colors = colors if isinstance(colors, list) else [colors] * count
    if len(colors) < count:
        raise ValueError("Number of colors must be equal or larger than the number of objects, but got "
                         f"{len(colors)} < {count}")
    return [_named_colour(c) if isinstance(c, str) else c for c in colors[:count]]


def _named_colour(name):
    """The numbers of a colour that PIL knows by name."""
    from PIL import ImageColor
    return ImageColor.getrgb(name)


def draw_bounding_boxes(image, boxes, labels=None, colors=None, fill=False, width=1, font=None, font_size=None,
                        label_colors=None, label_background_colors=None, fill_labels=False):
    """A picture (3 or 1, height, width) with boxes [N, 4] of (left, top, right, bottom), and texts at them. Needs PIL."""
    if not isinstance(image, _C.TensorBase):
        raise TypeError(f"Tensor expected, got {type(image)}")
    if not (image.dtype == _C.uint8 or image.is_floating_point()):
        raise ValueError(f"The image dtype must be uint8 or float, got {image.dtype}")
    if image.dim() != 3 or image.size(0) not in (1, 3):
        raise ValueError("Pass individual images, not batches" if image.dim() != 3 else "Only grayscale and RGB images are "
                         "supported")
    if bool((boxes[:, 0] > boxes[:, 2]).any()) or bool((boxes[:, 1] > boxes[:, 3]).any()):
        raise ValueError("Boxes need to be in (xmin, ymin, xmax, ymax) format. Use torchvision.ops.box_convert to convert them")
    count = boxes.size(0)
    labels = [None] * count if labels is None else labels
    if len(labels) != count:
        raise ValueError(f"Number of boxes ({count}) and labels ({len(labels)}) mismatch. Please specify labels for each box.")
    from PIL import ImageDraw, ImageFont
    from .transforms import functional
    was = image.dtype
    pixels = functional.convert_image_dtype(image, _C.uint8) if image.is_floating_point() else image
    drawn = functional.to_pil_image(pixels.expand(3, -1, -1))
    pen = ImageDraw.Draw(drawn, "RGBA" if fill else None)
    letters = ImageFont.load_default() if font is None else ImageFont.truetype(font, font_size or 10)
    texts = _colours(label_colors, count) if label_colors else _colours(colors, count)
    for box, label, colour, text in zip(boxes.to(_C.int64).tolist(), labels, _colours(colors, count), texts):
        pen.rectangle(box, width=width, outline=colour, fill=(*colour[:3], 100) if fill else None)
        if label is not None:
            pen.text((box[0] + width + 1, box[1] + width + 1), label, fill=text, font=letters)
    made = functional.pil_to_tensor(drawn)
    return functional.convert_image_dtype(made, was) if image.is_floating_point() else made


def _no_grad():
    from ..autograd.modes import no_grad
    return no_grad()


def save_image(tensor, fp, format=None, **kwargs):
    """Writes a picture from 0 to 1, or a batch as a grid, to a PNG or JPEG file; other arguments are make_grid's."""
    grid = make_grid(tensor, **kwargs)
    write_bytes(grid.mul(255).add_(0.5).clamp_(0, 255).to("cpu", _C.uint8), fp, format)


def _log_api_usage_once(obj):
    """Nobody is told what programs use."""
