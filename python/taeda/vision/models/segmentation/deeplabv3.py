"""DeepLabV3: convolutions of several dilations side by side (Chen, Papandreou, Schroff, Adam, arXiv:1706.05587)."""

from .... import _C, nn
from .._utils import IntermediateLayerGetter, stages_of
from .._weights import defined, on_backbone
from ..mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from ..resnet import ResNet50_Weights, ResNet101_Weights
from ._utils import _SimpleSegmentationModel, dilated_resnet, resized
from .fcn import FCNHead

__all__ = ["DeepLabV3"]


class DeepLabV3(_SimpleSegmentationModel):
    """Classes of pixels by ASPP and two convolutions."""


class ASPPConv(nn.Sequential):
    """A dilated convolution."""

    def __init__(self, in_channels, out_channels, dilation):
        super().__init__(nn.Conv2d(in_channels, out_channels, 3, padding=dilation, dilation=dilation, bias=False),
                         nn.BatchNorm2d(out_channels), nn.ReLU())


class ASPPPooling(nn.Sequential):
    """The mean of the picture, everywhere."""

    def __init__(self, in_channels, out_channels):
        super().__init__(nn.AdaptiveAvgPool2d(1), nn.Conv2d(in_channels, out_channels, 1, bias=False),
                         nn.BatchNorm2d(out_channels), nn.ReLU())

    def forward(self, x):
        return resized(super().forward(x), x)


class ASPP(nn.Module):
    """A convolution of 1 x 1, dilated ones and the mean, side by side."""

    def __init__(self, in_channels, atrous_rates, out_channels=256):
        super().__init__()
        self.convs = nn.ModuleList([
            nn.Sequential(nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU()),
            *(ASPPConv(in_channels, out_channels, rate) for rate in atrous_rates), ASPPPooling(in_channels, out_channels)])
        self.project = nn.Sequential(nn.Conv2d(len(self.convs) * out_channels, out_channels, 1, bias=False),
                                     nn.BatchNorm2d(out_channels), nn.ReLU(), nn.Dropout(0.5))

    def forward(self, x):
        return self.project(_C.cat([conv(x) for conv in self.convs], 1))


class DeepLabHead(nn.Sequential):
    """ASPP and two convolutions."""

    def __init__(self, in_channels, num_classes, atrous_rates=(12, 24, 36)):
        super().__init__(ASPP(in_channels, atrous_rates), nn.Conv2d(256, 256, 3, padding=1, bias=False), nn.BatchNorm2d(256),
                         nn.ReLU(), nn.Conv2d(256, num_classes, 1))


def _define(name, weights, backbone, url, stages):
    """`stages(weights, aux)` gives the network below, its channels, and those of what the second classifier sees."""
    @defined(name, weights, f"DeepLabV3 on {name.partition('_')[2]}.",
              {"COCO_WITH_VOC_LABELS_V1": url}, register=lambda kinds: on_backbone(kinds, backbone, 21, aux_loss=True))
    def build(num_classes, weights_backbone, chosen, aux_loss=None, **_):
        below, channels, aux_channels = stages(weights_backbone, aux_loss)
        aux = FCNHead(aux_channels, num_classes) if aux_loss else None
        return DeepLabV3(below, DeepLabHead(channels, num_classes), aux)


def _mobile(weights, aux):
    features = mobilenet_v3_large(weights=weights, dilated=True).features
    stages = stages_of(features)
    layers = {str(stages[-1]): "out", **({str(stages[-4]): "aux"} if aux else {})}
    return (IntermediateLayerGetter(features, layers), *(features[stages[i]].out_channels for i in (-1, -4)))


_define("deeplabv3_resnet50", "DeepLabV3_ResNet50_Weights", ResNet50_Weights, "deeplabv3_resnet50_coco-cd0a2569.pth",
        lambda weights, aux: (dilated_resnet(50, weights, aux), 2048, 1024))
_define("deeplabv3_resnet101", "DeepLabV3_ResNet101_Weights", ResNet101_Weights, "deeplabv3_resnet101_coco-586e9e4e.pth",
        lambda weights, aux: (dilated_resnet(101, weights, aux), 2048, 1024))
_define("deeplabv3_mobilenet_v3_large", "DeepLabV3_MobileNet_V3_Large_Weights", MobileNet_V3_Large_Weights,
        "deeplabv3_mobilenet_v3_large-fc3c493d.pth", _mobile)
