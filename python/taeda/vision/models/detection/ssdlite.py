"""SSD with convolutions by channels (Sandler et al., arXiv:1801.04381, section 6.2; Howard et al., arXiv:1905.02244)."""

import collections
import functools

from .... import nn
from ...ops.misc import Conv2dNormActivation
from .._utils import stages_of
from .._weights import on_backbone, weights_of
from ..mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from ._utils import retrieve_out_channels
from .anchor_utils import DefaultBoxGenerator
from .backbone_utils import _validate_trainable_layers
from .ssd import SSD, SSDScoringHead, check_maps, warn_of_size

__all__ = ["SSDLite320_MobileNet_V3_Large_Weights", "ssdlite320_mobilenet_v3_large"]


def _layer(channels, out, norm_layer, **how):
    return Conv2dNormActivation(channels, out, norm_layer=norm_layer, activation_layer=nn.ReLU6, **how)


def _extra_block(in_channels, out_channels, norm_layer):
    inside = out_channels // 2
    return nn.Sequential(_layer(in_channels, inside, norm_layer, kernel_size=1),
                         _layer(inside, inside, norm_layer, kernel_size=3, stride=2, groups=inside),
                         _layer(inside, out_channels, norm_layer, kernel_size=1))


def _normal_init(module):
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, mean=0.0, std=0.03)
            if layer.bias is not None:
                nn.init.constant_(layer.bias, 0.0)


def _predictions(in_channels, num_anchors, columns, norm_layer):
    made = nn.ModuleList(nn.Sequential(_layer(channels, channels, norm_layer, kernel_size=3, groups=channels),
                                       nn.Conv2d(channels, columns * n, 1)) for channels, n in zip(in_channels, num_anchors))
    _normal_init(made)
    return made


class SSDLiteClassificationHead(SSDScoringHead):
    """Logits of classes."""

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer):
        super().__init__(_predictions(in_channels, num_anchors, num_classes, norm_layer), num_classes)


class SSDLiteRegressionHead(SSDScoringHead):
    """Boxes."""

    def __init__(self, in_channels, num_anchors, norm_layer):
        super().__init__(_predictions(in_channels, num_anchors, 4, norm_layer), 4)


class SSDLiteHead(nn.Module):
    """Boxes and classes."""

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer):
        super().__init__()
        self.classification_head = SSDLiteClassificationHead(in_channels, num_anchors, num_classes, norm_layer)
        self.regression_head = SSDLiteRegressionHead(in_channels, num_anchors, norm_layer)

    def forward(self, x):
        return {"bbox_regression": self.regression_head(x), "cls_logits": self.classification_head(x)}


class SSDLiteFeatureExtractorMobileNet(nn.Module):
    """Maps of a MobileNet, the first from within the block `c4_pos`, and of more layers behind it."""

    def __init__(self, backbone, c4_pos, norm_layer, width_mult=1.0, min_depth=16):
        super().__init__()
        if backbone[c4_pos].use_res_connect:
            raise ValueError("backbone[c4_pos].use_res_connect should be False")
        middle = backbone[c4_pos].block
        self.features = nn.Sequential(nn.Sequential(*backbone[:c4_pos], middle[0]),
                                      nn.Sequential(middle[1:], *backbone[c4_pos + 1:]))
        widths = [backbone[-1].out_channels, *(max(min_depth, int(n * width_mult)) for n in (512, 256, 256, 128))]
        self.extra = nn.ModuleList(_extra_block(a, b, norm_layer) for a, b in zip(widths, widths[1:]))
        _normal_init(self.extra)

    def forward(self, x):
        output = collections.OrderedDict()
        for block in (*self.features, *self.extra):
            x = block(x)
            output[str(len(output))] = x
        return output


def _mobilenet_extractor(backbone, trainable_layers, norm_layer):
    features = backbone.features
    stages = stages_of(features)
    fixed = len(features) if trainable_layers == 0 else stages[len(stages) - trainable_layers]
    for layer in features[:fixed]:
        layer.requires_grad_(False)
    return SSDLiteFeatureExtractorMobileNet(features, stages[-2], norm_layer)


SSDLite320_MobileNet_V3_Large_Weights = weights_of("SSDLite320_MobileNet_V3_Large_Weights", "COCO_V1",
                                                   COCO_V1="ssdlite320_mobilenet_v3_large_coco-a79551df.pth")


@on_backbone(SSDLite320_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights, 91)
def ssdlite320_mobilenet_v3_large(num_classes, weights_backbone, chosen, trainable_backbone_layers=None, norm_layer=None,
                                  **kwargs):
    """SSDLite for pictures of 320 x 320, on MobileNetV3."""
    warn_of_size(kwargs)
    trained = weights_backbone is not None or chosen is not None
    layers = _validate_trainable_layers(trained, trainable_backbone_layers, 6, 6)
    norm_layer = norm_layer or functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.03)
    backbone = mobilenet_v3_large(weights=weights_backbone, norm_layer=norm_layer, reduced_tail=weights_backbone is None)
    if weights_backbone is None:
        _normal_init(backbone)
    backbone = _mobilenet_extractor(backbone, layers, norm_layer)
    anchors = DefaultBoxGenerator([[2, 3] for _ in range(6)], min_ratio=0.2, max_ratio=0.95)
    channels = retrieve_out_channels(backbone, (320, 320))
    check_maps(channels, anchors)
    usual = {"score_thresh": 0.001, "nms_thresh": 0.55, "detections_per_img": 300, "topk_candidates": 300,
             "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    head = SSDLiteHead(channels, anchors.num_anchors_per_location(), num_classes, norm_layer)
    return SSD(backbone, anchors, (320, 320), num_classes, head=head, **{**usual, **kwargs})
