"""FCOS: a box at each place, without anchors of several shapes (Tian, Shen, Chen, He, arXiv:1904.01355)."""

import functools
import math

from .... import _C, nn
from ....nn import functional as F
from ...ops.feature_pyramid_network import LastLevelP6P7
from ...ops.losses import generalized_box_iou_loss, sigmoid_focal_loss
from .._weights import on_backbone, weights_of
from ..resnet import ResNet50_Weights
from ._utils import BoxLinearCoder
from .anchor_utils import AnchorGenerator
from .backbone_utils import _resnet_fpn_extractor, trained_resnet
from .one_step import OneStep, check_parts, in_normal, in_rows

__all__ = ["FCOS", "FCOS_ResNet50_FPN_Weights", "fcos_resnet50_fpn"]


def _convolutions(channels, count, norm_layer):
    norm_layer = norm_layer or functools.partial(nn.GroupNorm, 32)
    return nn.Sequential(*(layer for _ in range(count) for layer in (
        nn.Conv2d(channels, channels, kernel_size=3, stride=1, padding=1), norm_layer(channels), nn.ReLU())))


class FCOSClassificationHead(nn.Module):
    """Logits of the classes of each place."""

    def __init__(self, in_channels, num_anchors, num_classes, num_convs=4, prior_probability=0.01, norm_layer=None):
        super().__init__()
        self.num_classes, self.num_anchors = num_classes, num_anchors
        self.conv = _convolutions(in_channels, num_convs, norm_layer)
        in_normal(self.conv.children())
        self.cls_logits = nn.Conv2d(in_channels, num_anchors * num_classes, kernel_size=3, stride=1, padding=1)
        nn.init.normal_(self.cls_logits.weight, std=0.01)
        nn.init.constant_(self.cls_logits.bias, -math.log((1 - prior_probability) / prior_probability))

    def forward(self, x):
        return _C.cat([in_rows(self.cls_logits(self.conv(features)), self.num_classes) for features in x], 1)


class FCOSRegressionHead(nn.Module):
    """The box of each place, and how much the place is its middle."""

    def __init__(self, in_channels, num_anchors, num_convs=4, norm_layer=None):
        super().__init__()
        self.conv = _convolutions(in_channels, num_convs, norm_layer)
        self.bbox_reg = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=3, stride=1, padding=1)
        self.bbox_ctrness = nn.Conv2d(in_channels, num_anchors, kernel_size=3, stride=1, padding=1)
        in_normal([self.bbox_reg, self.bbox_ctrness])
        in_normal(self.conv.children())

    def forward(self, x):
        inside = [self.conv(features) for features in x]
        return (_C.cat([in_rows(F.relu(self.bbox_reg(t)), 4) for t in inside], 1),
                _C.cat([in_rows(self.bbox_ctrness(t), 1) for t in inside], 1))


class FCOSHead(nn.Module):
    """Classes, boxes and middles of each place."""

    def __init__(self, in_channels, num_anchors, num_classes, num_convs=4):
        super().__init__()
        self.box_coder = BoxLinearCoder(normalize_by_size=True)
        self.classification_head = FCOSClassificationHead(in_channels, num_anchors, num_classes, num_convs)
        self.regression_head = FCOSRegressionHead(in_channels, num_anchors, num_convs)

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        logits, labels, truth = head_outputs["cls_logits"], [], []
        for target, matches in zip(targets, matched_idxs):
            at = matches.clamp(min=0)
            if len(target["labels"]):
                labels.append(target["labels"][at].masked_fill(matches < 0, -1))
                truth.append(target["boxes"][at])
            else:
                labels.append(target["labels"].new_full((len(at),), -1))
                truth.append(target["boxes"].new_zeros((len(at), 4)))
        truth, labels, anchors = _C.stack(truth), _C.stack(labels), _C.stack(anchors)
        objects = labels >= 0
        wanted = _C.zeros_like(logits)
        wanted[objects, labels[objects]] = 1.0
        boxes = self.box_coder.decode(head_outputs["bbox_regression"], anchors)
        losses = {"classification": sigmoid_focal_loss(logits, wanted, reduction="sum"),
                  "bbox_regression": generalized_box_iou_loss(boxes[objects], truth[objects], reduction="sum"),
                  "bbox_ctrness": F.binary_cross_entropy_with_logits(
                      head_outputs["bbox_ctrness"].squeeze(2)[objects], self._middles(anchors, truth)[objects],
                      reduction="sum")}
        return {name: loss / max(1, objects.sum().item()) for name, loss in losses.items()}

    def _middles(self, anchors, truth):
        """How much places are the middles of boxes, from 0 to 1 (equation 3)."""
        distances = self.box_coder.encode(anchors, truth).unflatten(-1, (2, 2))
        return (distances.amin(-2) / distances.amax(-2)).prod(-1).sqrt()

    def forward(self, x):
        logits = self.classification_head(x)
        boxes, middles = self.regression_head(x)
        return {"cls_logits": logits, "bbox_regression": boxes, "bbox_ctrness": middles}


class FCOS(OneStep):
    """A detector on `backbone`; pictures, targets and what it gives are RetinaNet's."""

    def __init__(self, backbone, num_classes, min_size=800, max_size=1333, image_mean=None, image_std=None,
                 anchor_generator=None, head=None, center_sampling_radius=1.5, score_thresh=0.2, nms_thresh=0.6,
                 detections_per_img=100, topk_candidates=1000, **kwargs):
        super().__init__()
        check_parts(backbone, anchor_generator)
        anchors = anchor_generator or AnchorGenerator(((8,), (16,), (32,), (64,), (128,)), ((1.0,),) * 5)
        if anchors.num_anchors_per_location()[0] != 1:
            raise ValueError("anchor_generator.num_anchors_per_location()[0] should be 1 instead of "
                             f"{anchors.num_anchors_per_location()[0]}")
        head = head or FCOSHead(backbone.out_channels, 1, num_classes)
        self._prepare(backbone, anchors, head, BoxLinearCoder(normalize_by_size=True), None)
        self._resize(min_size, max_size, image_mean, image_std, **kwargs)
        self.center_sampling_radius = center_sampling_radius
        self._limit(score_thresh, nms_thresh, detections_per_img, topk_candidates)

    def _matched(self, boxes, truth, places):
        """The smallest true box that each place is near the middle of, and that fits the place's map."""
        if truth.numel() == 0:
            return _C.full((len(boxes),), -1, dtype=_C.int64, device=boxes.device)
        here, middles = (0.5 * (b[:, :2] + b[:, 2:]) for b in (boxes, truth))
        sizes = (boxes[:, 2] - boxes[:, 0])[:, None]
        near = (here[:, None] - middles).abs().amax(2) < self.center_sampling_radius * sizes
        sides = _C.cat((here[:, None] - truth[:, :2], truth[:, 2:] - here[:, None]), 2)
        low, high = sizes * 4, sizes * 8
        low[:places[0]] = 0
        high[-places[-1]:] = math.inf
        far = sides.amax(2)
        fits = near & (sides.amin(2) > 0) & (far > low) & (far < high)
        areas = (truth[:, 2] - truth[:, 0]) * (truth[:, 3] - truth[:, 1])
        value, best = (fits.float() * (1e8 - areas)).max(1)
        return best.masked_fill(value < 1e-5, -1)

    def compute_loss(self, targets, head_outputs, anchors, num_anchors_per_level):
        matched = [self._matched(boxes, target["boxes"], num_anchors_per_level) for boxes, target in zip(anchors, targets)]
        return self.head.compute_loss(targets, head_outputs, anchors, matched)

    def _losses(self, targets, outputs, anchors, places):
        return self.compute_loss(targets, outputs, anchors, places)

    def _found(self, outputs, anchors, image_shapes, places):
        return self._by_level(outputs, anchors, image_shapes, places,
                              lambda here: (here["cls_logits"].sigmoid() * here["bbox_ctrness"].sigmoid()).sqrt(),
                              self.box_coder.decode)


FCOS_ResNet50_FPN_Weights = weights_of("FCOS_ResNet50_FPN_Weights", "COCO_V1", COCO_V1="fcos_resnet50_fpn_coco-99b0c9b7.pth")


@on_backbone(FCOS_ResNet50_FPN_Weights, ResNet50_Weights, 91)
def fcos_resnet50_fpn(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """FCOS on a ResNet of 50 layers."""
    backbone = _resnet_fpn_extractor(*trained_resnet(weights_backbone, chosen, trainable_backbone_layers),
                                     returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256))
    return FCOS(backbone, num_classes, **kwargs)
