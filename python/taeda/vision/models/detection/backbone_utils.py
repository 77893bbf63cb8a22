"""Networks whose inner features detectors look at."""


from .... import nn
from ...ops.feature_pyramid_network import FeaturePyramidNetwork, LastLevelMaxPool
from ...ops.misc import FrozenBatchNorm2d
from .. import mobilenet, mobilenetv3, resnet
from .._utils import IntermediateLayerGetter, stages_of
from ...._core.warnings import warn


class BackboneWithFPN(nn.Module):
    """Inner features of a network, each with what the smaller ones know; `out_channels` of each."""

    def __init__(self, backbone, return_layers, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        self.body = IntermediateLayerGetter(backbone, return_layers=return_layers)
        self.fpn = FeaturePyramidNetwork(in_channels_list, out_channels, extra_blocks or LastLevelMaxPool(), norm_layer)
        self.out_channels = out_channels

    def forward(self, x):
        return self.fpn(self.body(x))


def _check_range(what, low, high, values, shown):
    if min(values) < low or max(values) > high:
        raise ValueError(f"{what} should be in the range [{low},{high}]{shown}")


def _resnet_fpn_extractor(backbone, trainable_layers, returned_layers=None, extra_blocks=None, norm_layer=None):
    """A ResNet with the last `trainable_layers` of its five layers free to change."""
    _check_range("Trainable layers", 0, 5, [trainable_layers], f", got {trainable_layers}")
    free = tuple(["layer4", "layer3", "layer2", "layer1", "conv1"][:trainable_layers])
    free += ("bn1",) if trainable_layers == 5 else ()
    for name, parameter in backbone.named_parameters():
        if not name.startswith(free):
            parameter.requires_grad_(False)
    returned = returned_layers or [1, 2, 3, 4]
    _check_range("Each returned layer", 1, 4, returned, f". Got {returned}")
    width = backbone.inplanes // 8
    return BackboneWithFPN(backbone, {f"layer{k}": str(i) for i, k in enumerate(returned)},
                           [width * 2 ** (k - 1) for k in returned], 256, extra_blocks, norm_layer)


def _mobilenet_extractor(backbone, fpn, trainable_layers, returned_layers=None, extra_blocks=None, norm_layer=None):
    """A MobileNet with the last `trainable_layers` of its stages free to change."""
    features = backbone.features
    stages = stages_of(features)
    _check_range("Trainable layers", 0, len(stages), [trainable_layers], f", got {trainable_layers} ")
    fixed = len(features) if trainable_layers == 0 else stages[len(stages) - trainable_layers]
    for layer in features[:fixed]:
        layer.requires_grad_(False)
    if not fpn:
        made = nn.Sequential(features, nn.Conv2d(features[-1].out_channels, 256, 1))
        made.out_channels = 256
        return made
    returned = returned_layers or [len(stages) - 2, len(stages) - 1]
    _check_range("Each returned layer", 0, len(stages) - 1, returned, f", got {returned} ")
    return BackboneWithFPN(features, {str(stages[k]): str(i) for i, k in enumerate(returned)},
                           [features[stages[k]].out_channels for k in returned], 256, extra_blocks, norm_layer)


def resnet_fpn_backbone(*, backbone_name, weights, norm_layer=FrozenBatchNorm2d, trainable_layers=3, returned_layers=None,
                        extra_blocks=None):
    """A ResNet by its name, with a pyramid of features."""
    made = getattr(resnet, backbone_name)(weights=weights, norm_layer=norm_layer)
    return _resnet_fpn_extractor(made, trainable_layers, returned_layers, extra_blocks)


def mobilenet_backbone(*, backbone_name, weights, fpn, norm_layer=FrozenBatchNorm2d, trainable_layers=2, returned_layers=None,
                       extra_blocks=None):
    """A MobileNet by its name, with a pyramid of features if `fpn`."""
    home = mobilenetv3 if hasattr(mobilenetv3, backbone_name) else mobilenet
    made = getattr(home, backbone_name)(weights=weights, norm_layer=norm_layer)
    return _mobilenet_extractor(made, fpn, trainable_layers, returned_layers, extra_blocks)


def _validate_trainable_layers(is_trained, trainable_backbone_layers, max_value, default_value):
    """How many layers of a backbone may change: all where none was trained before."""
    if not is_trained:
        if trainable_backbone_layers is not None:
            warn("Changing trainable_backbone_layers has no effect if neither pretrained nor pretrained_backbone have "
                 f"been set to True, falling back to trainable_backbone_layers={max_value} so that all layers are "
                 "trainable")
        return max_value
    layers = default_value if trainable_backbone_layers is None else trainable_backbone_layers
    if layers < 0 or layers > max_value:
        raise ValueError(f"Trainable backbone layers should be in the range [0,{max_value}], got {layers} ")
    return layers


def trained_resnet(weights, chosen, trainable_backbone_layers):
    """A ResNet of 50 layers with a pyramid: its batch norms are frozen where it, or the whole, was trained before."""
    trained = weights is not None or chosen is not None
    layers = _validate_trainable_layers(trained, trainable_backbone_layers, 5, 3)
    made = resnet.resnet50(weights=weights, norm_layer=FrozenBatchNorm2d if trained else nn.BatchNorm2d)
    return made, layers
