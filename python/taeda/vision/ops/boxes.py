"""Boxes [..., 4] as corners (x1, y1, x2, y2), with x1 < x2 and y1 < y2."""

import math

from ... import _C
from ...autograd.modes import no_grad

# Formats by what they are as corners: (to corners, from corners).
_FORMATS = {
    "xyxy": (lambda a, b, c, d: (a, b, c, d), lambda x1, y1, x2, y2: (x1, y1, x2, y2)),
    "xywh": (lambda x, y, w, h: (x, y, x + w, y + h), lambda x1, y1, x2, y2: (x1, y1, x2 - x1, y2 - y1)),
    "cxcywh": (lambda x, y, w, h: (x - 0.5 * w, y - 0.5 * h, x + 0.5 * w, y + 0.5 * h),
               lambda x1, y1, x2, y2: ((x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1)),
}


def _turns(r):
    angle = r * (math.pi / 180)
    return angle.cos(), angle.sin()


def _turned_corners(x, y, w, h, r):
    """Four corners, clockwise, of a box whose sides are turned counter-clockwise by r degrees; (x, y) is the first."""
    cos, sin = _turns(r)
    return x, y, x + w * cos, y - w * sin, x + w * cos + h * sin, y - w * sin + h * cos, x + h * sin, y + h * cos


def _from_turned_corners(x1, y1, x2, y2, x3, y3, *_):
    angle = _C.atan2(y1 - y2, x2 - x1) * (180 / math.pi)
    return x1, y1, ((x2 - x1) ** 2 + (y1 - y2) ** 2).sqrt(), ((x3 - x2) ** 2 + (y3 - y2) ** 2).sqrt(), angle


def _middle_of_turned(x, y, w, h, r, sign=1):
    """The middle of a box whose corner is (x, y); with sign -1, the corner of one whose middle that is."""
    cos, sin = _turns(r)
    return x + sign * (w * cos + h * sin) / 2, y + sign * (h * cos - w * sin) / 2, w, h, r


# The same of boxes that are turned: (to the first corner, sides and degrees, and from them).
_TURNED_FORMATS = {
    "xywhr": (lambda *numbers: numbers, lambda *numbers: numbers),
    "cxcywhr": (lambda *numbers: _middle_of_turned(*numbers, sign=-1), _middle_of_turned),
    "xyxyxyxy": (_from_turned_corners, _turned_corners),
}


def upcast(t):
    """Numbers whose products do not overflow: half-precision ones as float32, integers as 64 bits."""
    if t.is_floating_point():
        return t if t.dtype in (_C.float32, _C.float64) else t.float()
    return t if t.dtype in (_C.int32, _C.int64) else t.int()


def box_convert(boxes, in_fmt, out_fmt):
    """Boxes in another format: "xyxy" corners, "xywh" a corner and sides, "cxcywh" the middle and sides. Of boxes that are
    turned counter-clockwise by r degrees, "xywhr" the first corner, "cxcywhr" the middle, "xyxyxyxy" all corners."""
    unsupported = f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}"
    if any(fmt not in _FORMATS and fmt not in _TURNED_FORMATS for fmt in (in_fmt, out_fmt)):
        raise ValueError(unsupported)
    if in_fmt == out_fmt:
        return boxes.clone()
    formats = _FORMATS if in_fmt in _FORMATS else _TURNED_FORMATS
    if out_fmt not in formats:
        raise NotImplementedError(unsupported)
    made = _C.stack(formats[out_fmt][1](*formats[in_fmt][0](*boxes.unbind(-1))), -1)
    return made if boxes.is_floating_point() or formats is _FORMATS else made.round().to(boxes.dtype)


def box_area(boxes, fmt="xyxy"):
    """Width times height."""
    boxes = upcast(boxes if fmt == "xyxy" else box_convert(boxes, fmt, "xyxy"))
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def _sides(low, high):
    """Widths and heights, 0 where there is nothing between the corners."""
    return upcast(high - low).clamp(min=0)


def _common(boxes1, boxes2):
    """The areas that each of boxes1 shares with each of boxes2, and the areas of both together: [..., N, M]."""
    one, two = boxes1[..., None, :], boxes2[..., None, :, :]
    sides = _sides(_C.max(one[..., :2], two[..., :2]), _C.min(one[..., 2:], two[..., 2:]))
    shared = sides[..., 0] * sides[..., 1]
    return shared, box_area(boxes1)[..., None] + box_area(boxes2)[..., None, :] - shared


def _around(boxes1, boxes2):
    """Widths and heights of the smallest boxes around two."""
    one, two = boxes1[..., None, :], boxes2[..., None, :, :]
    return _sides(_C.min(one[..., :2], two[..., :2]), _C.max(one[..., 2:], two[..., 2:]))


def box_iou(boxes1, boxes2, fmt="xyxy"):
    """What each of boxes1 [..., N, 4] shares with each of boxes2 [..., M, 4], as part of both together."""
    if fmt != "xyxy":
        boxes1, boxes2 = (box_convert(b, fmt, "xyxy") for b in (boxes1, boxes2))
    shared, both = _common(boxes1, boxes2)
    return shared / both


def generalized_box_iou(boxes1, boxes2):
    """box_iou less the part of the smallest box around both that is in neither (arXiv:1902.09630)."""
    shared, both = _common(boxes1, boxes2)
    sides = _around(boxes1, boxes2)
    area = sides[..., 0] * sides[..., 1]
    return shared / both - (area - both) / area


def distance_box_iou(boxes1, boxes2, eps=1e-7):
    """box_iou less the squared distance of the middles over that of the outer corners (arXiv:1911.08287)."""
    boxes1, boxes2 = upcast(boxes1), upcast(boxes2)
    far = (_around(boxes1, boxes2) ** 2).sum(-1) + eps
    middles1, middles2 = ((b[..., :2] + b[..., 2:]) / 2 for b in (boxes1, boxes2))
    apart = (upcast(middles1[..., None, :] - middles2[..., None, :, :]) ** 2).sum(-1)
    return box_iou(boxes1, boxes2) - apart / far


def ratios_differ(boxes1, boxes2):
    """4 / pi^2 times the squared difference of the angles of two diagonals."""
    angle1, angle2 = (_C.atan((b[..., 2] - b[..., 0]) / (b[..., 3] - b[..., 1])) for b in (boxes1, boxes2))
    return 4 / math.pi ** 2 * (angle1 - angle2) ** 2


def complete_box_iou(boxes1, boxes2, eps=1e-7):
    """distance_box_iou less what ratios of sides differ (arXiv:1911.08287)."""
    boxes1, boxes2 = upcast(boxes1), upcast(boxes2)
    differ = ratios_differ(boxes1[..., None, :], boxes2[..., None, :, :])
    with no_grad():
        weight = differ / (1 - box_iou(boxes1, boxes2) + differ + eps)
    return distance_box_iou(boxes1, boxes2, eps) - weight * differ


def nms(boxes, scores, iou_threshold):
    """The boxes, best score first, that share at most `iou_threshold` with every better one that stays."""
    return _nms(boxes, scores, iou_threshold)


def _nms(boxes, scores, iou_threshold, classes=None):
    if boxes.dim() != 2 or boxes.size(1) != 4:
        raise RuntimeError(f"boxes should be a 2d tensor with 4 elements in dimension 1, got {list(boxes.shape)}")
    if scores.dim() != 1 or scores.size(0) != boxes.size(0):
        raise RuntimeError("boxes and scores should have same number of elements in dimension 0, got "
                           f"{boxes.size(0)} and {scores.size(0)}")
    if classes is not None and classes.shape != scores.shape:
        raise RuntimeError(f"batched_nms: expected a class for each of {boxes.size(0)} boxes, got classes of shape "
                           f"{list(classes.shape)}")
    with no_grad():
        order = scores.sort(stable=True, dim=0, descending=True)[1]
        return order[_C._vision.nms_of_sorted(boxes[order], iou_threshold, None if classes is None else classes[order])]


def batched_nms(boxes, scores, idxs, iou_threshold):
    """nms among boxes of the same class `idxs` alone."""
    if boxes.numel() == 0:
        return _C.empty(0, dtype=_C.int64, device=boxes.device)
    # Numbers of classes are compared: as distances between boxes, large ones would take the boxes' last digits.
    return _nms(boxes, scores, iou_threshold, idxs)


def remove_small_boxes(boxes, min_size):
    """Where both sides have at least `min_size`."""
    sides = boxes[:, 2:] - boxes[:, :2]
    return _C.where((sides >= min_size).all(1))[0]


def clip_boxes_to_image(boxes, size):
    """Boxes cut where they leave a picture of (height, width)."""
    height, width = size
    return _C.stack((boxes[..., 0::2].clamp(0, width), boxes[..., 1::2].clamp(0, height)), boxes.dim()).reshape(boxes.shape)


def masks_to_boxes(masks):
    """The box around each mask [N, H, W]; zeros for one that is empty."""
    if masks.numel() == 0:
        return _C.zeros((0, 4), device=masks.device)
    masks = masks != 0
    corners = []
    for lines in (masks.any(1), masks.any(2)):
        lines = lines.to(_C.uint8)
        corners.append((lines.argmax(1), lines.size(1) - 1 - lines.flip(1).argmax(1)))
    (x1, x2), (y1, y2) = corners
    boxes = _C.stack((x1, y1, x2, y2), 1).float()
    return boxes * masks.flatten(1).any(1, keepdim=True)
