"""Losses of boxes and of classes that are rare."""

from ... import _C
from ...autograd.modes import no_grad
from ...nn import functional as F
from .boxes import ratios_differ, upcast


def _reduced(loss, reduction):
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean() if loss.numel() else 0.0 * loss.sum()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(f"Invalid Value for arg 'reduction': '{reduction} \n Supported reduction modes: 'none', 'mean', 'sum'")


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2, reduction="none"):
    """The cross entropy of logits times (1 - p) ** gamma, where p is the right answer's probability (arXiv:1708.02002), and
    times `alpha` for ones and 1 - alpha for zeros (a negative alpha: neither)."""
    if not (0 <= alpha <= 1) and alpha != -1:
        raise ValueError(f"Invalid alpha value: {alpha}. alpha must be in the range [0,1] or -1 for ignore.")
    chance = _C.sigmoid(inputs)
    right = chance * targets + (1 - chance) * (1 - targets)
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none") * (1 - right) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return _reduced(loss, reduction)


def _overlap(boxes1, boxes2, eps):
    """For pairs of boxes: what they share as part of both together, the latter, and the sides of the box around them."""
    low, high = _C.max(boxes1[..., :2], boxes2[..., :2]), _C.min(boxes1[..., 2:], boxes2[..., 2:])
    sides = high - low
    shared = _C.where((sides > 0).all(-1), sides[..., 0] * sides[..., 1], _C.zeros_like(sides[..., 0]))
    areas = ((b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1]) for b in (boxes1, boxes2))
    both = sum(areas) - shared
    around = _C.max(boxes1[..., 2:], boxes2[..., 2:]) - _C.min(boxes1[..., :2], boxes2[..., :2])
    return shared / (both + eps), both, around


def _distance(boxes1, boxes2, eps):
    part, _, around = _overlap(boxes1, boxes2, eps)
    apart = (((boxes1[..., :2] + boxes1[..., 2:]) / 2 - (boxes2[..., :2] + boxes2[..., 2:]) / 2) ** 2).sum(-1)
    return 1 - part + apart / ((around ** 2).sum(-1) + eps), part


def generalized_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """1 - generalized_box_iou of pairs."""
    boxes1, boxes2 = upcast(boxes1), upcast(boxes2)
    part, both, around = _overlap(boxes1, boxes2, eps)
    area = around[..., 0] * around[..., 1]
    return _reduced(1 - (part - (area - both) / (area + eps)), reduction)


def distance_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """1 - distance_box_iou of pairs."""
    return _reduced(_distance(upcast(boxes1), upcast(boxes2), eps)[0], reduction)


def complete_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """1 - complete_box_iou of pairs."""
    boxes1, boxes2 = upcast(boxes1), upcast(boxes2)
    loss, part = _distance(boxes1, boxes2, eps)
    differ = ratios_differ(boxes1, boxes2)
    with no_grad():
        weight = differ / (1 - part + differ + eps)
    return _reduced(loss + weight * differ, reduction)
