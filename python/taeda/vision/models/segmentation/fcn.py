"""Fully convolutional networks (Shelhamer, Long, Darrell, arXiv:1411.4038)."""

from .... import nn
from .._weights import defined, on_backbone
from ..resnet import ResNet50_Weights, ResNet101_Weights
from ._utils import _SimpleSegmentationModel, dilated_resnet

__all__ = ["FCN"]


class FCN(_SimpleSegmentationModel):
    """Classes of pixels by two convolutions."""


class FCNHead(nn.Sequential):
    """Two convolutions."""

    def __init__(self, in_channels, channels):
        inside = in_channels // 4
        super().__init__(nn.Conv2d(in_channels, inside, 3, padding=1, bias=False), nn.BatchNorm2d(inside), nn.ReLU(),
                         nn.Dropout(0.1), nn.Conv2d(inside, channels, 1))


def _define(depth, backbone, url):
    name, weights = f"fcn_resnet{depth}", f"FCN_ResNet{depth}_Weights"
    @defined(name, weights, f"FCN on a ResNet of {depth} layers.",
              {"COCO_WITH_VOC_LABELS_V1": url}, register=lambda kinds: on_backbone(kinds, backbone, 21, aux_loss=True))
    def build(num_classes, weights_backbone, chosen, aux_loss=None, **_):
        stages = dilated_resnet(depth, weights_backbone, aux_loss)
        aux = FCNHead(1024, num_classes) if aux_loss else None
        return FCN(stages, FCNHead(2048, num_classes), aux)


_define(50, ResNet50_Weights, "fcn_resnet50_coco-1167a1af.pth")
_define(101, ResNet101_Weights, "fcn_resnet101_coco-7ecb50ca.pth")
