"""SSD: boxes of several maps at once (Liu et al., arXiv:1512.02325)."""

import collections

from .... import _C, nn
from ....nn import functional as F
from ...ops import boxes as box_ops
from .._weights import on_backbone, weights_of
from ..vgg import VGG16_Weights, vgg16
from ._utils import BoxCoder, SSDMatcher, retrieve_out_channels
from .anchor_utils import DefaultBoxGenerator
from .backbone_utils import _validate_trainable_layers
from .one_step import OneStep, in_rows
from ...._core.warnings import warn

__all__ = ["SSD", "SSD300_VGG16_Weights", "ssd300_vgg16"]


def _xavier_init(module):
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.constant_(layer.bias, 0.0)


class SSDScoringHead(nn.Module):
    """A module for each map, which gives `num_columns` numbers for each box."""

    def __init__(self, module_list, num_columns):
        super().__init__()
        self.module_list, self.num_columns = module_list, num_columns

    def forward(self, x):
        return _C.cat([in_rows(module(features), self.num_columns) for module, features in zip(self.module_list, x)], 1)


def _convolutions(in_channels, num_anchors, columns):
    made = nn.ModuleList(nn.Conv2d(channels, columns * n, kernel_size=3, padding=1)
                         for channels, n in zip(in_channels, num_anchors))
    _xavier_init(made)
    return made


class SSDClassificationHead(SSDScoringHead):
    """Logits of classes."""

    def __init__(self, in_channels, num_anchors, num_classes):
        super().__init__(_convolutions(in_channels, num_anchors, num_classes), num_classes)


class SSDRegressionHead(SSDScoringHead):
    """Boxes."""

    def __init__(self, in_channels, num_anchors):
        super().__init__(_convolutions(in_channels, num_anchors, 4), 4)


class SSDHead(nn.Module):
    """Boxes and classes."""

    def __init__(self, in_channels, num_anchors, num_classes):
        super().__init__()
        self.classification_head = SSDClassificationHead(in_channels, num_anchors, num_classes)
        self.regression_head = SSDRegressionHead(in_channels, num_anchors)

    def forward(self, x):
        return {"bbox_regression": self.regression_head(x), "cls_logits": self.classification_head(x)}


def check_maps(out_channels, anchor_generator):
    wanted = len(anchor_generator.aspect_ratios)
    if len(out_channels) != wanted:
        raise ValueError(f"The length of the output channels from the backbone ({len(out_channels)}) do not match the length "
                         f"of the anchor generator aspect ratios ({wanted})")


class SSD(OneStep):
    """A detector for pictures that become `size` (width, height); pictures, targets and what it gives are FasterRCNN's."""

    def __init__(self, backbone, anchor_generator, size, num_classes, image_mean=None, image_std=None, head=None,
                 score_thresh=0.01, nms_thresh=0.45, detections_per_img=200, iou_thresh=0.5, topk_candidates=400,
                 positive_fraction=0.25, **kwargs):
        super().__init__()
        if head is None:
            channels = backbone.out_channels if hasattr(backbone, "out_channels") else retrieve_out_channels(backbone, size)
            check_maps(channels, anchor_generator)
            head = SSDHead(channels, anchor_generator.num_anchors_per_location(), num_classes)
        self._prepare(backbone, anchor_generator, head, BoxCoder(weights=(10.0, 10.0, 5.0, 5.0)), SSDMatcher(iou_thresh))
        self._resize(min(size), max(size), image_mean, image_std, size_divisible=1, fixed_size=size, **kwargs)
        self._limit(score_thresh, nms_thresh, detections_per_img, topk_candidates)
        self.neg_to_pos_ratio = (1.0 - positive_fraction) / positive_fraction

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        logits, count, boxes, wanted = head_outputs["cls_logits"], 0, [], []
        for target, moves, start, matches in zip(targets, head_outputs["bbox_regression"], anchors, matched_idxs):
            objects = _C.where(matches >= 0)[0]
            mine = matches[objects]
            count += mine.numel()
            truth = self.box_coder.encode_single(target["boxes"][mine], start[objects])
            boxes.append(F.smooth_l1_loss(moves[objects], truth, reduction="sum"))
            classes = target["labels"].new_zeros(len(matches))
            classes[objects] = target["labels"][mine]
            wanted.append(classes)
        wanted = _C.stack(wanted)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), wanted.view(-1), reduction="none").view(wanted.size())
        objects = wanted > 0
        # The background that is hardest to tell, so much for each object (section 2.2).
        order = loss.masked_fill(objects, -float("inf")).sort(1, descending=True)[1].sort(1)[1]
        others = order < self.neg_to_pos_ratio * objects.sum(1, keepdim=True)
        return {"bbox_regression": _C.stack(boxes).sum() / max(1, count),
                "classification": (loss[objects].sum() + loss[others].sum()) / max(1, count)}

    def _losses(self, targets, outputs, anchors, places):
        return self.compute_loss(targets, outputs, anchors, self._match(targets, anchors))

    def _found(self, outputs, anchors, image_shapes, places):
        found = []
        scores = F.softmax(outputs["cls_logits"], dim=-1)
        for moves, score, start, shape in zip(outputs["bbox_regression"], scores, anchors, image_shapes):
            boxes = box_ops.clip_boxes_to_image(self.box_coder.decode_single(moves, start), shape)
            kept = [], [], []
            for label in range(1, score.shape[-1]):
                places = _C.where(score[:, label] > self.score_thresh)[0]
                best, order = score[places, label].topk(min(self.topk_candidates, len(places)))
                for many, few in zip(kept, (boxes[places[order]], best, _C.full_like(best, label, dtype=_C.int64))):
                    many.append(few)
            found.append(self._best(*kept))
        return found


def _extra(channels, inside, out, **how):
    return nn.Sequential(nn.Conv2d(channels, inside, kernel_size=1), nn.ReLU(inplace=True), nn.Conv2d(inside, out, **how),
                         nn.ReLU(inplace=True))


class SSDFeatureExtractorVGG(nn.Module):
    """Maps of a VGG network, and of more layers behind it."""

    def __init__(self, backbone, highres):
        super().__init__()
        pools = [i for i, layer in enumerate(backbone) if isinstance(layer, nn.MaxPool2d)]
        backbone[pools[2]].ceil_mode = True  # section 3: rounded up, so that 75 becomes 38
        self.scale_weight = nn.Parameter(_C.ones(512) * 20)
        self.features = nn.Sequential(*backbone[:pools[3]])
        extra = nn.ModuleList([
            _extra(1024, 256, 512, kernel_size=3, padding=1, stride=2),
            _extra(512, 128, 256, kernel_size=3, padding=1, stride=2),
            _extra(256, 128, 256, kernel_size=3), _extra(256, 128, 256, kernel_size=3)])
        if highres:
            extra.append(_extra(256, 128, 256, kernel_size=4))
        _xavier_init(extra)
        fc = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=False),
            nn.Conv2d(in_channels=512, out_channels=1024, kernel_size=3, padding=6, dilation=6), nn.ReLU(inplace=True),
            nn.Conv2d(in_channels=1024, out_channels=1024, kernel_size=1), nn.ReLU(inplace=True))
        _xavier_init(fc)
        extra.insert(0, nn.Sequential(*backbone[pools[3]:-1], fc))
        self.extra = extra

    def forward(self, x):
        x = self.features(x)
        output = [self.scale_weight.view(1, -1, 1, 1) * F.normalize(x)]
        for block in self.extra:
            x = block(x)
            output.append(x)
        return collections.OrderedDict((str(i), v) for i, v in enumerate(output))


def _vgg_extractor(backbone, highres, trainable_layers):
    features = backbone.features
    stages = [0] + [i for i, layer in enumerate(features) if isinstance(layer, nn.MaxPool2d)][:-1]
    fixed = len(features) if trainable_layers == 0 else stages[len(stages) - trainable_layers]
    for layer in features[:fixed]:
        layer.requires_grad_(False)
    return SSDFeatureExtractorVGG(features, highres)


def warn_of_size(kwargs):
    if "size" in kwargs:
        warn("The size of the model is already fixed; ignoring the parameter.")
        kwargs.pop("size")


SSD300_VGG16_Weights = weights_of("SSD300_VGG16_Weights", "COCO_V1", COCO_V1="ssd300_vgg16_coco-b556d3b4.pth")


@on_backbone(SSD300_VGG16_Weights, VGG16_Weights, 91, first=VGG16_Weights.IMAGENET1K_FEATURES)
def ssd300_vgg16(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, **kwargs):
    """SSD for pictures of 300 x 300, on a VGG network."""
    warn_of_size(kwargs)
    layers = _validate_trainable_layers(weights_backbone is not None or chosen is not None, trainable_backbone_layers, 5, 4)
    backbone = _vgg_extractor(vgg16(weights=weights_backbone), False, layers)
    anchors = DefaultBoxGenerator([[2], [2, 3], [2, 3], [2, 3], [2], [2]],
                                  scales=[0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05], steps=[8, 16, 32, 64, 100, 300])
    usual = {"image_mean": [0.48235, 0.45882, 0.40784], "image_std": [1.0 / 255.0] * 3}
    return SSD(backbone, anchors, (300, 300), num_classes, **{**usual, **kwargs})
