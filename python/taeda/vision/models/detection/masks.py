"""Masks of objects: learned in a square for each box, pasted into the picture when they are found."""

from .... import _C
from ....nn import functional as F
from ...ops.pools import roi_align


def maskrcnn_inference(x, labels):
    """From logits [N, classes, M, M] the probabilities [L, 1, M, M] of each picture's boxes, for the classes that they have."""
    chosen = x.sigmoid()[_C.arange(x.shape[0], device=x.device), _C.cat(labels)]
    return chosen[:, None].split([len(label) for label in labels])


def project_masks_on_boxes(gt_masks, boxes, matched_idxs, M):
    """What each box shows of the mask that it was matched with, [L, M, M]."""
    rows = _C.cat([matched_idxs.to(boxes)[:, None], boxes], 1)
    return roi_align(gt_masks[:, None].to(rows), rows, (M, M), 1.0)[:, 0]


def maskrcnn_loss(mask_logits, proposals, gt_masks, gt_labels, mask_matched_idxs):
    """The cross entropy of masks, those of the true classes alone."""
    size = mask_logits.shape[-1]
    labels = _C.cat([label[at] for label, at in zip(gt_labels, mask_matched_idxs)])
    targets = _C.cat([project_masks_on_boxes(m, p, at, size) for m, p, at in zip(gt_masks, proposals, mask_matched_idxs)])
    if targets.numel() == 0:
        return mask_logits.sum() * 0
    chosen = mask_logits[_C.arange(len(labels), device=labels.device), labels]
    return F.binary_cross_entropy_with_logits(chosen, targets)


def _wider(boxes, scale):
    """Boxes around the same middles, with sides `scale` times as long."""
    middle, half = (boxes[:, 2:] + boxes[:, :2]) * 0.5, (boxes[:, 2:] - boxes[:, :2]) * 0.5 * scale
    return _C.cat((middle - half, middle + half), 1)


def _pasted(mask, box, height, width):
    """A mask [M, M] in a picture, stretched over the pixels of its box."""
    left, top, right, bottom = box
    sides = max(bottom - top + 1, 1), max(right - left + 1, 1)
    mask = F.interpolate(mask[None, None], size=sides, mode="bilinear", align_corners=False)[0, 0]
    picture = mask.new_zeros((height, width))
    rows, columns = slice(max(top, 0), min(bottom + 1, height)), slice(max(left, 0), min(right + 1, width))
    picture[rows, columns] = mask[rows.start - top:rows.stop - top, columns.start - left:columns.stop - left]
    return picture


def paste_masks_in_image(masks, boxes, img_shape, padding=1):
    """Masks [N, 1, M, M] of boxes as [N, 1, height, width], 0 outside of the boxes."""
    size = masks.shape[-1]
    masks = F.pad(masks, (padding,) * 4)
    boxes = _wider(boxes, float(size + 2 * padding) / size).to(_C.int64).tolist()
    pasted = [_pasted(mask[0], box, *img_shape) for mask, box in zip(masks, boxes)]
    return _C.stack(pasted)[:, None] if pasted else masks.new_empty((0, 1, *img_shape))
