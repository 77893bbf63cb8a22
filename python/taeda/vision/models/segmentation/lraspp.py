"""LR-ASPP: a small head that looks at two scales (Howard et al., arXiv:1905.02244, section 6.4)."""

import collections

from .... import nn
from .._utils import IntermediateLayerGetter, stages_of
from .._weights import on_backbone, weights_of
from ..mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from ._utils import resized

__all__ = ["LRASPP", "lraspp_mobilenet_v3_large", "LRASPP_MobileNet_V3_Large_Weights"]


class LRASPPHead(nn.Module):
    """Classes of "low", many places, plus classes of "high", many channels, weighted by the picture's mean."""

    def __init__(self, low_channels, high_channels, num_classes, inter_channels):
        super().__init__()
        self.cbr = nn.Sequential(nn.Conv2d(high_channels, inter_channels, 1, bias=False), nn.BatchNorm2d(inter_channels),
                                 nn.ReLU(inplace=True))
        self.scale = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(high_channels, inter_channels, 1, bias=False),
                                   nn.Sigmoid())
        self.low_classifier = nn.Conv2d(low_channels, num_classes, 1)
        self.high_classifier = nn.Conv2d(inter_channels, num_classes, 1)

    def forward(self, input):
        low, high = input["low"], input["high"]
        x = resized(self.cbr(high) * self.scale(high), low)
        return self.low_classifier(low) + self.high_classifier(x)


class LRASPP(nn.Module):
    """A dict with the classes of each pixel, "out"."""

    def __init__(self, backbone, low_channels, high_channels, num_classes, inter_channels=128):
        super().__init__()
        self.backbone = backbone
        self.classifier = LRASPPHead(low_channels, high_channels, num_classes, inter_channels)

    def forward(self, input):
        return collections.OrderedDict(out=resized(self.classifier(self.backbone(input)), input))


LRASPP_MobileNet_V3_Large_Weights = weights_of("LRASPP_MobileNet_V3_Large_Weights", "COCO_WITH_VOC_LABELS_V1",
                                               COCO_WITH_VOC_LABELS_V1="lraspp_mobilenet_v3_large-d234d4ea.pth")


@on_backbone(LRASPP_MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights, 21)
def lraspp_mobilenet_v3_large(num_classes, weights_backbone, chosen, **kwargs):
    """LR-ASPP on MobileNetV3."""
    if kwargs.pop("aux_loss", False):
        raise NotImplementedError("This model does not use auxiliary loss")
    features = mobilenet_v3_large(weights=weights_backbone, dilated=True).features
    stages = stages_of(features)
    low, high = stages[-4], stages[-1]
    below = IntermediateLayerGetter(features, {str(low): "low", str(high): "high"})
    return LRASPP(below, features[low].out_channels, features[high].out_channels, num_classes, **kwargs)
