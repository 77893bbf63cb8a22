"""RetinaNet: a loss for classes that are rare (Lin, Goyal, Girshick, He, Dollár, arXiv:1708.02002)."""

import functools
import math

from .... import _C, nn
from ...ops.feature_pyramid_network import LastLevelP6P7
from ...ops.losses import sigmoid_focal_loss
from ...ops.misc import Conv2dNormActivation
from .._weights import on_backbone, weights_of
from ..resnet import ResNet50_Weights, resnet50
from ._utils import BoxCoder, Matcher, box_loss
from .anchor_utils import AnchorGenerator
from .backbone_utils import _resnet_fpn_extractor, _validate_trainable_layers, trained_resnet
from .faster_rcnn import without_eps
from .one_step import OneStep, check_parts, in_normal, in_rows

__all__ = ["RetinaNet", "RetinaNet_ResNet50_FPN_Weights", "RetinaNet_ResNet50_FPN_V2_Weights", "retinanet_resnet50_fpn",
           "retinanet_resnet50_fpn_v2"]


def _default_anchorgen():
    sizes = tuple((n, int(n * 2 ** (1.0 / 3)), int(n * 2 ** (2.0 / 3))) for n in (32, 64, 128, 256, 512))
    return AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * len(sizes))


class _Branch(nn.Module):
    """Four convolutions, and one that gives `columns` numbers for each anchor."""

    _version = 2

    def _convolutions(self, in_channels, norm_layer):
        self.conv = nn.Sequential(*(Conv2dNormActivation(in_channels, in_channels, norm_layer=norm_layer) for _ in range(4)))

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *others):
        if (local_metadata.get("version") or 1) < 2:
            for i in range(4):
                for kind in ("weight", "bias"):
                    old = f"{prefix}conv.{2 * i}.{kind}"
                    if old in state_dict:
                        state_dict[f"{prefix}conv.{i}.0.{kind}"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *others)


class RetinaNetClassificationHead(_Branch):
    """Logits of the classes of each anchor."""

    def __init__(self, in_channels, num_anchors, num_classes, prior_probability=0.01, norm_layer=None):
        super().__init__()
        self._convolutions(in_channels, norm_layer)
        in_normal(self.conv.modules())
        self.cls_logits = nn.Conv2d(in_channels, num_anchors * num_classes, kernel_size=3, stride=1, padding=1)
        nn.init.normal_(self.cls_logits.weight, std=0.01)
        nn.init.constant_(self.cls_logits.bias, -math.log((1 - prior_probability) / prior_probability))
        self.num_classes, self.num_anchors = num_classes, num_anchors

    def compute_loss(self, targets, head_outputs, matched_idxs):
        losses = []
        for target, logits, matches in zip(targets, head_outputs["cls_logits"], matched_idxs):
            objects, valid = matches >= 0, matches != Matcher.BETWEEN_THRESHOLDS
            wanted = _C.zeros_like(logits)
            wanted[objects, target["labels"][matches[objects]]] = 1.0
            loss = sigmoid_focal_loss(logits[valid], wanted[valid], reduction="sum")
            losses.append(loss / objects.sum().clamp(min=1))
        return sum(losses[1:], losses[0]) / len(targets)

    def forward(self, x):
        return _C.cat([in_rows(self.cls_logits(self.conv(features)), self.num_classes) for features in x], 1)


class RetinaNetRegressionHead(_Branch):
    """The box of each anchor."""

    def __init__(self, in_channels, num_anchors, norm_layer=None):
        super().__init__()
        self._convolutions(in_channels, norm_layer)
        self.bbox_reg = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=3, stride=1, padding=1)
        in_normal([self.bbox_reg])
        in_normal(self.conv.modules())
        self.box_coder = BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self._loss_type = "l1"

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        losses = []
        for target, moves, boxes, matches in zip(targets, head_outputs["bbox_regression"], anchors, matched_idxs):
            objects = _C.where(matches >= 0)[0]
            loss = box_loss(self._loss_type, self.box_coder, boxes[objects], target["boxes"][matches[objects]], moves[objects])
            losses.append(loss / max(1, objects.numel()))
        return sum(losses[1:], losses[0]) / max(1, len(targets))

    def forward(self, x):
        return _C.cat([in_rows(self.bbox_reg(self.conv(features)), 4) for features in x], 1)


class RetinaNetHead(nn.Module):
    """Classes and boxes of each anchor."""

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer=None):
        super().__init__()
        self.classification_head = RetinaNetClassificationHead(in_channels, num_anchors, num_classes, norm_layer=norm_layer)
        self.regression_head = RetinaNetRegressionHead(in_channels, num_anchors, norm_layer=norm_layer)

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        return {"classification": self.classification_head.compute_loss(targets, head_outputs, matched_idxs),
                "bbox_regression": self.regression_head.compute_loss(targets, head_outputs, anchors, matched_idxs)}

    def forward(self, x):
        return {"cls_logits": self.classification_head(x), "bbox_regression": self.regression_head(x)}


class RetinaNet(OneStep):
    """A detector on `backbone`; pictures, targets and what it gives are FasterRCNN's, but classes start with 0."""

    def __init__(self, backbone, num_classes, min_size=800, max_size=1333, image_mean=None, image_std=None,
                 anchor_generator=None, head=None, proposal_matcher=None, score_thresh=0.05, nms_thresh=0.5,
                 detections_per_img=300, fg_iou_thresh=0.5, bg_iou_thresh=0.4, topk_candidates=1000, **kwargs):
        super().__init__()
        check_parts(backbone, anchor_generator)
        anchors = anchor_generator or _default_anchorgen()
        head = head or RetinaNetHead(backbone.out_channels, anchors.num_anchors_per_location()[0], num_classes)
        matcher = proposal_matcher or Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self._prepare(backbone, anchors, head, BoxCoder(weights=(1.0, 1.0, 1.0, 1.0)), matcher)
        self._resize(min_size, max_size, image_mean, image_std, **kwargs)
        self._limit(score_thresh, nms_thresh, detections_per_img, topk_candidates)

    def compute_loss(self, targets, head_outputs, anchors):
        return self.head.compute_loss(targets, head_outputs, anchors, self._match(targets, anchors))

    def _losses(self, targets, outputs, anchors, places):
        return self.compute_loss(targets, outputs, anchors)

    def _found(self, outputs, anchors, image_shapes, places):
        at_each = outputs["cls_logits"].shape[1] // sum(places)
        return self._by_level(outputs, anchors, image_shapes, [n * at_each for n in places],
                              lambda here: here["cls_logits"].sigmoid(), self.box_coder.decode_single)


RetinaNet_ResNet50_FPN_Weights = weights_of("RetinaNet_ResNet50_FPN_Weights", "COCO_V1",
                                            COCO_V1="retinanet_resnet50_fpn_coco-eeacb38b.pth")
RetinaNet_ResNet50_FPN_V2_Weights = weights_of("RetinaNet_ResNet50_FPN_V2_Weights", "COCO_V1",
                                               COCO_V1="retinanet_resnet50_fpn_v2_coco-5905b1c5.pth")


@on_backbone(RetinaNet_ResNet50_FPN_Weights, ResNet50_Weights, 91, finish=without_eps)
def retinanet_resnet50_fpn(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """RetinaNet on a ResNet of 50 layers."""
    backbone = _resnet_fpn_extractor(*trained_resnet(weights_backbone, chosen, trainable_backbone_layers),
                                     returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256))
    return RetinaNet(backbone, num_classes, **kwargs)


@on_backbone(RetinaNet_ResNet50_FPN_V2_Weights, ResNet50_Weights, 91, first=None)
def retinanet_resnet50_fpn_v2(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """RetinaNet with group norms and a loss of boxes that share (arXiv:1912.02424)."""
    layers = _validate_trainable_layers(weights_backbone is not None or chosen is not None, trainable_backbone_layers, 5, 3)
    backbone = _resnet_fpn_extractor(resnet50(weights=weights_backbone), layers, returned_layers=[2, 3, 4],
                                     extra_blocks=LastLevelP6P7(2048, 256))
    anchors = _default_anchorgen()
    head = RetinaNetHead(backbone.out_channels, anchors.num_anchors_per_location()[0], num_classes,
                         norm_layer=functools.partial(nn.GroupNorm, 32))
    head.regression_head._loss_type = "giou"
    return RetinaNet(backbone, num_classes, anchor_generator=anchors, head=head, **kwargs)
