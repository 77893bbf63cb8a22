"""Points of objects, each learned as one pixel of a square for its box."""

from .... import _C
from ....nn import functional as F


def keypoints_to_heatmap(keypoints, rois, heatmap_size):
    """The pixel that each point [N, K, 3] is in, y * heatmap_size + x, and whether it is seen and in its box."""
    corner, far = rois[:, None, :2], rois[:, None, 2:]
    at = ((keypoints[..., :2] - corner) * (heatmap_size / (far - corner))).floor().long()
    at = _C.where(keypoints[..., :2] == far, heatmap_size - 1, at)
    valid = ((at >= 0) & (at < heatmap_size)).all(-1) & (keypoints[..., 2] > 0)
    return (at[..., 1] * heatmap_size + at[..., 0]) * valid, valid.long()


def keypointrcnn_loss(keypoint_logits, proposals, gt_keypoints, keypoint_matched_idxs):
    """The cross entropy of pixels, over points that are seen."""
    n, points, height, width = keypoint_logits.shape
    if height != width:
        raise ValueError("keypoint_logits height and width (last two elements of shape) should be equal. Instead got H = "
                         f"{height} and W = {width}")
    made = [keypoints_to_heatmap(gt[at], boxes, height)
            for boxes, gt, at in zip(proposals, gt_keypoints, keypoint_matched_idxs)]
    targets, valid = (_C.cat([part.view(-1) for part in parts]) for parts in zip(*made))
    valid = _C.where(valid)[0]
    if targets.numel() == 0 or len(valid) == 0:
        return keypoint_logits.sum() * 0
    return F.cross_entropy(keypoint_logits.view(n * points, height * width)[valid], targets[valid])


def _most_likely(maps, roi):
    """Of logits [K, H, W] of one box, stretched over its pixels, the best pixels' middles [K, 3] and their logits [K]."""
    sides = (roi[2:] - roi[:2]).clamp(min=1)
    width, height = (int(side) for side in sides.ceil().tolist())
    maps = F.interpolate(maps[:, None], size=(height, width), mode="bicubic", align_corners=False)[:, 0].flatten(1)
    scores, best = maps.max(1)
    x, y = best % width, best.div(width, rounding_mode="floor")
    at = [(v.float() + 0.5) * (side / n) + start for v, side, n, start in zip((x, y), sides, (width, height), roi[:2])]
    return _C.stack((*at, _C.ones_like(at[0])), 1), scores


def heatmaps_to_keypoints(maps, rois):
    """Points [N, K, 3] and their scores [N, K] from logits [N, K, H, W] of boxes."""
    if not len(rois):
        return maps.new_zeros((0, maps.shape[1], 3)), maps.new_zeros((0, maps.shape[1]))
    points, scores = zip(*(_most_likely(m, roi) for m, roi in zip(maps, rois)))
    return _C.stack(points), _C.stack(scores)


def keypointrcnn_inference(x, boxes):
    """Lists of points and of their scores, one of each for a picture."""
    pairs = [heatmaps_to_keypoints(maps, rois) for maps, rois in zip(x.split([len(b) for b in boxes]), boxes)]
    return [p for p, _ in pairs], [s for _, s in pairs]
