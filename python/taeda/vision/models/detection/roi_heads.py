"""What looks at the boxes that a network proposes: classes, better boxes, masks and points."""

from .... import _C, nn
from ....nn import functional as F
from ...ops import boxes as box_ops
from ._utils import BalancedPositiveNegativeSampler, BoxCoder, Matcher, only
from .keypoints import (  # noqa: F401
    heatmaps_to_keypoints, keypointrcnn_inference, keypointrcnn_loss, keypoints_to_heatmap)
from .masks import maskrcnn_inference, maskrcnn_loss, paste_masks_in_image, project_masks_on_boxes  # noqa: F401


def fastrcnn_loss(class_logits, box_regression, labels, regression_targets):
    """The cross entropy of classes and the loss of the true classes' boxes."""
    labels, wanted = _C.cat(labels), _C.cat(list(regression_targets))
    objects = _C.where(labels > 0)[0]
    moves = box_regression.reshape(len(class_logits), -1, 4)[objects, labels[objects]]
    boxes = F.smooth_l1_loss(moves, wanted[objects], beta=1 / 9, reduction="sum") / labels.numel()
    return F.cross_entropy(class_logits, labels), boxes


class RoIHeads(nn.Module):
    """Pools features under boxes, and makes of them classes and boxes; with the other three parts masks, with the last three
    points. While training it gives losses of a sample of the boxes."""

    def __init__(self, box_roi_pool, box_head, box_predictor, fg_iou_thresh, bg_iou_thresh, batch_size_per_image,
                 positive_fraction, bbox_reg_weights, score_thresh, nms_thresh, detections_per_img, mask_roi_pool=None,
                 mask_head=None, mask_predictor=None, keypoint_roi_pool=None, keypoint_head=None, keypoint_predictor=None):
        super().__init__()
        self.box_similarity = box_ops.box_iou
        self.proposal_matcher = Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=False)
        self.fg_bg_sampler = BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self.box_coder = BoxCoder(bbox_reg_weights or (10.0, 10.0, 5.0, 5.0))
        self.box_roi_pool, self.box_head, self.box_predictor = box_roi_pool, box_head, box_predictor
        self.score_thresh, self.nms_thresh, self.detections_per_img = score_thresh, nms_thresh, detections_per_img
        self.mask_roi_pool, self.mask_head, self.mask_predictor = mask_roi_pool, mask_head, mask_predictor
        self.keypoint_roi_pool, self.keypoint_head = keypoint_roi_pool, keypoint_head
        self.keypoint_predictor = keypoint_predictor

    def _has(self, kind):
        return all(getattr(self, f"{kind}_{part}") is not None for part in ("roi_pool", "head", "predictor"))

    def has_mask(self):
        return self._has("mask")

    def has_keypoint(self):
        return self._has("keypoint")

    def assign_targets_to_proposals(self, proposals, gt_boxes, gt_labels):
        """For each picture's proposals the number of the true box, and its class, 0 for background and -1 for neither."""
        matched, labels = [], []
        for boxes, truth, kinds in zip(proposals, gt_boxes, gt_labels):
            if truth.numel() == 0:
                matched.append(_C.zeros(len(boxes), dtype=_C.int64, device=boxes.device))
                labels.append(matched[-1].clone())
                continue
            matches = self.proposal_matcher(self.box_similarity(truth, boxes))
            matched.append(matches.clamp(min=0))
            kinds = kinds[matched[-1]].to(_C.int64).masked_fill(matches == Matcher.BELOW_LOW_THRESHOLD, 0)
            labels.append(kinds.masked_fill(matches == Matcher.BETWEEN_THRESHOLDS, -1))
        return matched, labels

    def subsample(self, labels):
        return [_C.where(objects | others)[0] for objects, others in zip(*self.fg_bg_sampler(labels))]

    def add_gt_proposals(self, proposals, gt_boxes):
        return [_C.cat(pair) for pair in zip(proposals, gt_boxes)]

    def check_targets(self, targets):
        if targets is None:
            raise ValueError("targets should not be None")
        for key in ("boxes", "labels", *(("masks",) if self.has_mask() else ())):
            if not all(key in target for target in targets):
                raise ValueError(f"Every element of targets should have a {key} key")

    def select_training_samples(self, proposals, targets):
        """A sample of the proposals of each picture, and the numbers, classes and moves of their true boxes."""
        self.check_targets(targets)
        truth = [t["boxes"].to(proposals[0].dtype) for t in targets]
        proposals = self.add_gt_proposals(proposals, truth)
        matched, labels = self.assign_targets_to_proposals(proposals, truth, [t["labels"] for t in targets])
        boxes = []
        for i, chosen in enumerate(self.subsample(labels)):
            proposals[i], labels[i], matched[i] = only(chosen, proposals[i], labels[i], matched[i])
            boxes.append((truth[i] if truth[i].numel() else truth[i].new_zeros((1, 4)))[matched[i]])
        return proposals, matched, labels, self.box_coder.encode(boxes, proposals)

    def postprocess_detections(self, class_logits, box_regression, proposals, image_shapes):
        """Boxes, scores and classes of each picture: those that score enough and are no doubles."""
        counts = [len(boxes) for boxes in proposals]
        all_boxes = self.box_coder.decode(box_regression, proposals).split(counts)
        all_scores = F.softmax(class_logits, -1).split(counts)
        kinds = _C.arange(class_logits.shape[-1], device=class_logits.device)
        found = []
        for boxes, scores, shape in zip(all_boxes, all_scores, image_shapes):
            boxes = box_ops.clip_boxes_to_image(boxes, shape)[:, 1:].reshape(-1, 4)
            labels, scores = kinds.expand_as(scores)[:, 1:].reshape(-1), scores[:, 1:].reshape(-1)
            boxes, scores, labels = only(_C.where(scores > self.score_thresh)[0], boxes, scores, labels)
            boxes, scores, labels = only(box_ops.remove_small_boxes(boxes, min_size=1e-2), boxes, scores, labels)
            kept = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)[:self.detections_per_img]
            found.append(only(kept, boxes, scores, labels))
        return tuple(list(parts) for parts in zip(*found))

    def _check_types(self, targets):
        for target in targets:
            if target["boxes"].dtype not in (_C.float32, _C.float64, _C.float16):
                raise TypeError(f"target boxes must of float type, instead got {target['boxes'].dtype}")
            if target["labels"].dtype != _C.int64:
                raise TypeError(f"target labels must of int64 type, instead got {target['labels'].dtype}")
            if self.has_keypoint() and target["keypoints"].dtype != _C.float32:
                raise TypeError(f"target keypoints must of float type, instead got {target['keypoints'].dtype}")

    def _inside(self, kind, features, boxes, image_shapes):
        """What the parts for masks or points make of boxes."""
        pooled = getattr(self, f"{kind}_roi_pool")(features, boxes, image_shapes)
        return getattr(self, f"{kind}_predictor")(getattr(self, f"{kind}_head")(pooled))

    def _losses_inside(self, features, image_shapes, proposals, matched, labels, targets):
        """Losses of masks and points, of the boxes of objects alone."""
        objects = [_C.where(kinds > 0)[0] for kinds in labels]
        boxes, matched = ([part[at] for part, at in zip(parts, objects)] for parts in (proposals, matched))
        losses = {}
        if self.has_mask():
            truth = [[t[key] for t in targets] for key in ("masks", "labels")]
            losses["loss_mask"] = maskrcnn_loss(self._inside("mask", features, boxes, image_shapes), boxes, *truth, matched)
        if self.has_keypoint():
            losses["loss_keypoint"] = keypointrcnn_loss(self._inside("keypoint", features, boxes, image_shapes), boxes,
                                                        [t["keypoints"] for t in targets], matched)
        return losses

    def _find_inside(self, features, image_shapes, result):
        """Puts masks and points into what was found."""
        boxes = [found["boxes"] for found in result]
        if self.has_mask():
            masks = maskrcnn_inference(self._inside("mask", features, boxes, image_shapes), [f["labels"] for f in result])
            for found, mask in zip(result, masks):
                found["masks"] = mask
        if self.has_keypoint():
            points = keypointrcnn_inference(self._inside("keypoint", features, boxes, image_shapes), boxes)
            for found, *parts in zip(result, *points):
                found["keypoints"], found["keypoints_scores"] = parts

    def forward(self, features, proposals, image_shapes, targets=None):
        if targets is not None:
            self._check_types(targets)
        if self.training:
            proposals, matched, labels, wanted = self.select_training_samples(proposals, targets)
        pooled = self.box_head(self.box_roi_pool(features, proposals, image_shapes))
        logits, moves = self.box_predictor(pooled)
        if self.training:
            losses = dict(zip(("loss_classifier", "loss_box_reg"), fastrcnn_loss(logits, moves, labels, wanted)))
            losses.update(self._losses_inside(features, image_shapes, proposals, matched, labels, targets))
            return [], losses
        found = self.postprocess_detections(logits, moves, proposals, image_shapes)
        result = [{"boxes": b, "labels": k, "scores": s} for b, s, k in zip(*found)]
        self._find_inside(features, image_shapes, result)
        return result, {}
