"""The network that proposes boxes (Ren, He, Girshick, Sun, arXiv:1506.01497)."""

from .... import _C, nn
from ....nn import functional as F
from ...ops import boxes as box_ops
from ...ops.misc import Conv2dNormActivation
from ._utils import BalancedPositiveNegativeSampler, BoxCoder, Matcher, only
from .anchor_utils import AnchorGenerator  # noqa: F401


class RPNHead(nn.Module):
    """For each place and anchor of each map how likely it is an object, and how its box differs."""

    _version = 2

    def __init__(self, in_channels, num_anchors, conv_depth=1):
        super().__init__()
        self.conv = nn.Sequential(*(Conv2dNormActivation(in_channels, in_channels, kernel_size=3, norm_layer=None)
                                    for _ in range(conv_depth)))
        self.cls_logits = nn.Conv2d(in_channels, num_anchors, kernel_size=1, stride=1)
        self.bbox_pred = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=1, stride=1)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.normal_(layer.weight, std=0.01)
                if layer.bias is not None:
                    nn.init.constant_(layer.bias, 0)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *others):
        if (local_metadata.get("version") or 1) < 2:
            for kind in ("weight", "bias"):
                if f"{prefix}conv.{kind}" in state_dict:
                    state_dict[f"{prefix}conv.0.0.{kind}"] = state_dict.pop(f"{prefix}conv.{kind}")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *others)

    def forward(self, x):
        inside = [self.conv(feature) for feature in x]
        return [self.cls_logits(t) for t in inside], [self.bbox_pred(t) for t in inside]


def permute_and_flatten(layer, N, A, C, H, W):
    """[N, A * C, H, W] as [N, H * W * A, C]."""
    return layer.view(N, -1, C, H, W).permute(0, 3, 4, 1, 2).reshape(N, -1, C)


def concat_box_prediction_layers(box_cls, box_regression):
    """Logits and boxes of all maps as [N * anchors, classes] and [N * anchors, 4], picture by picture."""
    logits, boxes = [], []
    for kinds, moves in zip(box_cls, box_regression):
        n, channels, height, width = kinds.shape
        anchors = moves.shape[1] // 4
        logits.append(permute_and_flatten(kinds, n, anchors, channels // anchors, height, width))
        boxes.append(permute_and_flatten(moves, n, anchors, 4, height, width))
    return _C.cat(logits, 1).flatten(0, -2), _C.cat(boxes, 1).reshape(-1, 4)


class RegionProposalNetwork(nn.Module):
    """The best boxes of each picture and, while training, losses of finding and of placing them."""

    def __init__(self, anchor_generator, head, fg_iou_thresh, bg_iou_thresh, batch_size_per_image, positive_fraction,
                 pre_nms_top_n, post_nms_top_n, nms_thresh, score_thresh=0.0):
        super().__init__()
        self.anchor_generator, self.head = anchor_generator, head
        self.box_coder = BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self.box_similarity = box_ops.box_iou
        self.proposal_matcher = Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self.fg_bg_sampler = BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self._pre_nms_top_n, self._post_nms_top_n = pre_nms_top_n, post_nms_top_n
        self.nms_thresh, self.score_thresh, self.min_size = nms_thresh, score_thresh, 1e-3

    def pre_nms_top_n(self):
        return self._pre_nms_top_n["training" if self.training else "testing"]

    def post_nms_top_n(self):
        return self._post_nms_top_n["training" if self.training else "testing"]

    def assign_targets_to_anchors(self, anchors, targets):
        """For each picture's anchors 1, 0 (background) or -1 (neither), and the true boxes."""
        labels, matched = [], []
        for boxes, target in zip(anchors, targets):
            truth = target["boxes"]
            if truth.numel() == 0:
                matched.append(_C.zeros_like(boxes, dtype=_C.float32))
                labels.append(_C.zeros(len(boxes), dtype=_C.float32, device=boxes.device))
                continue
            matches = self.proposal_matcher(self.box_similarity(truth, boxes))
            matched.append(truth[matches.clamp(min=0)])
            labels.append((matches >= 0).float().masked_fill(matches == Matcher.BETWEEN_THRESHOLDS, -1.0))
        return labels, matched

    def _best(self, objectness, num_anchors_per_level):
        """Numbers of the best anchors of each map, [N, number]."""
        best, first = [], 0
        for level in objectness.split(num_anchors_per_level, 1):
            best.append(level.topk(min(self.pre_nms_top_n(), level.shape[1]), dim=1)[1] + first)
            first += level.shape[1]
        return _C.cat(best, 1)

    def filter_proposals(self, proposals, objectness, image_shapes, num_anchors_per_level):
        """Boxes and scores of each picture: the best of each map that are large enough and no doubles."""
        n, device = len(proposals), proposals.device
        objectness = objectness.detach().reshape(n, -1)
        levels = _C.cat([_C.full((count,), level, dtype=_C.int64, device=device)
                         for level, count in enumerate(num_anchors_per_level)]).expand_as(objectness)
        at = _C.arange(n, device=device)[:, None], self._best(objectness, num_anchors_per_level)
        final_boxes, final_scores = [], []
        for boxes, scores, level, shape in zip(proposals[at], objectness[at].sigmoid(), levels[at], image_shapes):
            boxes = box_ops.clip_boxes_to_image(boxes, shape)
            boxes, scores, level = only(box_ops.remove_small_boxes(boxes, self.min_size), boxes, scores, level)
            boxes, scores, level = only(_C.where(scores >= self.score_thresh)[0], boxes, scores, level)
            kept = box_ops.batched_nms(boxes, scores, level, self.nms_thresh)[:self.post_nms_top_n()]
            boxes, scores = only(kept, boxes, scores)
            final_boxes.append(boxes)
            final_scores.append(scores)
        return final_boxes, final_scores

    def compute_loss(self, objectness, pred_bbox_deltas, labels, regression_targets):
        objects, others = (_C.where(_C.cat(chosen))[0] for chosen in self.fg_bg_sampler(labels))
        sampled = _C.cat([objects, others])
        labels, wanted = _C.cat(labels), _C.cat(list(regression_targets))
        boxes = F.smooth_l1_loss(pred_bbox_deltas[objects], wanted[objects], beta=1 / 9, reduction="sum") / sampled.numel()
        return F.binary_cross_entropy_with_logits(objectness.flatten()[sampled], labels[sampled]), boxes

    def forward(self, images, features, targets=None):
        features = list(features.values())
        objectness, deltas = self.head(features)
        anchors = self.anchor_generator(images, features)
        counts = [level[0].numel() for level in objectness]
        objectness, deltas = concat_box_prediction_layers(objectness, deltas)
        proposals = self.box_coder.decode(deltas.detach(), anchors).view(len(anchors), -1, 4)
        boxes, _ = self.filter_proposals(proposals, objectness, images.image_sizes, counts)
        if not self.training:
            return boxes, {}
        if targets is None:
            raise ValueError("targets should not be None")
        labels, matched = self.assign_targets_to_anchors(anchors, targets)
        losses = self.compute_loss(objectness, deltas, labels, self.box_coder.encode(matched, anchors))
        return boxes, dict(zip(("loss_objectness", "loss_rpn_box_reg"), losses))
