"""What the networks of this package share."""

import collections

from .... import nn
from ....nn import functional as F
from .._utils import IntermediateLayerGetter
from ..resnet import resnet50, resnet101

RESNETS = {50: resnet50, 101: resnet101}


def resized(x, like):
    """x with the sides of another tensor."""
    return F.interpolate(x, size=like.shape[-2:], mode="bilinear", align_corners=False)


class _SimpleSegmentationModel(nn.Module):
    """A dict of classes of each pixel, "out" and, with another classifier, "aux", of what `backbone` finds by these names."""

    def __init__(self, backbone, classifier, aux_classifier=None):
        super().__init__()
        self.backbone, self.classifier, self.aux_classifier = backbone, classifier, aux_classifier

    def forward(self, x):
        features, result = self.backbone(x), collections.OrderedDict()
        result["out"] = resized(self.classifier(features["out"]), x)
        if self.aux_classifier is not None:
            result["aux"] = resized(self.aux_classifier(features["aux"]), x)
        return result


def dilated_resnet(depth, weights, aux):
    """The stages of a ResNet with an eighth of the sides at the end."""
    layers = {"layer4": "out", **({"layer3": "aux"} if aux else {})}
    made = RESNETS[depth](weights=weights, replace_stride_with_dilation=[False, True, True])
    return IntermediateLayerGetter(made, layers)
