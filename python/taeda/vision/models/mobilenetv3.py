"""MobileNetV3 (Howard et al., arXiv:1905.02244)."""

import functools

from ... import _C, nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._weights import builder, weights_of
from .mobilenet import _first_weights, _rounded

__all__ = ["MobileNetV3", "MobileNet_V3_Large_Weights", "MobileNet_V3_Small_Weights", "mobilenet_v3_large",
           "mobilenet_v3_small"]

_Squeezed = functools.partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)


class InvertedResidualConfig:
    """Channels before, kernel, expanded channels, channels behind, whether channels are weighted, "RE" or "HS" for ReLU or
    Hardswish, stride, dilation."""

    def __init__(self, input_channels, kernel, expanded_channels, out_channels, use_se, activation, stride, dilation,
                 width_mult):
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se, self.use_hs, self.stride, self.dilation = use_se, activation == "HS", stride, dilation

    @staticmethod
    def adjust_channels(channels, width_mult):
        return _rounded(channels * width_mult)


class InvertedResidual(nn.Module):
    """A wide convolution by channels between two narrow ends, with weights of channels."""

    def __init__(self, cnf, norm_layer, se_layer=_Squeezed):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        activation, wide = nn.Hardswish if cnf.use_hs else nn.ReLU, cnf.expanded_channels
        layers = []
        if wide != cnf.input_channels:
            layers.append(Conv2dNormActivation(cnf.input_channels, wide, kernel_size=1, norm_layer=norm_layer,
                                               activation_layer=activation))
        layers.append(Conv2dNormActivation(wide, wide, kernel_size=cnf.kernel, stride=1 if cnf.dilation > 1 else cnf.stride,
                                           dilation=cnf.dilation, groups=wide, norm_layer=norm_layer,
                                           activation_layer=activation))
        if cnf.use_se:
            layers.append(se_layer(wide, _rounded(wide // 4)))
        layers.append(Conv2dNormActivation(wide, cnf.out_channels, kernel_size=1, norm_layer=norm_layer, activation_layer=None))
        self.block = nn.Sequential(*layers)
        self.out_channels = cnf.out_channels
        self._is_cn = cnf.stride > 1

    def forward(self, input):
        result = self.block(input)
        return result + input if self.use_res_connect else result


class MobileNetV3(nn.Module):
    """The blocks of `inverted_residual_setting`, and `last_channel` channels before the classes."""

    def __init__(self, inverted_residual_setting, last_channel, num_classes=1000, block=None, norm_layer=None, dropout=0.2):
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not all(isinstance(s, InvertedResidualConfig) for s in inverted_residual_setting):
            raise TypeError("The inverted_residual_setting should be List[InvertedResidualConfig]")
        block = block or InvertedResidual
        norm_layer = norm_layer or functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        first, last = inverted_residual_setting[0].input_channels, inverted_residual_setting[-1].out_channels
        layers = [Conv2dNormActivation(3, first, kernel_size=3, stride=2, norm_layer=norm_layer, activation_layer=nn.Hardswish)]
        layers += [block(cnf, norm_layer) for cnf in inverted_residual_setting]
        layers.append(Conv2dNormActivation(last, 6 * last, kernel_size=1, norm_layer=norm_layer, activation_layer=nn.Hardswish))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(6 * last, last_channel), nn.Hardswish(inplace=True),
                                        nn.Dropout(p=dropout, inplace=True), nn.Linear(last_channel, num_classes))
        _first_weights(self, lambda linear: nn.init.normal_(linear.weight, 0, 0.01))

    def forward(self, x):
        return self.classifier(_C.flatten(self.avgpool(self.features(x)), 1))


# Kernel, expanded channels, channels behind, whether they are weighted, activation, stride; the last stage's may shrink.
_LARGE = [(3, 16, 16, False, "RE", 1), (3, 64, 24, False, "RE", 2), (3, 72, 24, False, "RE", 1), (5, 72, 40, True, "RE", 2),
          (5, 120, 40, True, "RE", 1), (5, 120, 40, True, "RE", 1), (3, 240, 80, False, "HS", 2), (3, 200, 80, False, "HS", 1),
          (3, 184, 80, False, "HS", 1), (3, 184, 80, False, "HS", 1), (3, 480, 112, True, "HS", 1),
          (3, 672, 112, True, "HS", 1),
          (5, 672, 160, True, "HS", 2), (5, 960, 160, True, "HS", 1), (5, 960, 160, True, "HS", 1)]
_SMALL = [(3, 16, 16, True, "RE", 2), (3, 72, 24, False, "RE", 2), (3, 88, 24, False, "RE", 1), (5, 96, 40, True, "HS", 2),
          (5, 240, 40, True, "HS", 1), (5, 240, 40, True, "HS", 1), (5, 120, 48, True, "HS", 1), (5, 144, 48, True, "HS", 1),
          (5, 288, 96, True, "HS", 2), (5, 576, 96, True, "HS", 1), (5, 576, 96, True, "HS", 1)]


def _settings(stages, width_mult=1.0, reduced_tail=False, dilated=False):
    made, width = [], 16
    for i, (kernel, wide, out, se, activation, stride) in enumerate(stages):
        in_tail, narrow = i >= len(stages) - 3, 2 if reduced_tail else 1
        if in_tail:
            out, wide = out // narrow, wide if i == len(stages) - 3 else wide // narrow
        made.append(InvertedResidualConfig(width, kernel, wide, out, se, activation, stride, 2 if in_tail and dilated else 1,
                                           width_mult))
        width = out
    return made


def _model(stages, last, width_mult=1.0, reduced_tail=False, dilated=False, **kwargs):
    last = InvertedResidualConfig.adjust_channels(last // (2 if reduced_tail else 1), width_mult)
    return MobileNetV3(_settings(stages, width_mult, reduced_tail, dilated), last, **kwargs)


MobileNet_V3_Large_Weights = weights_of("MobileNet_V3_Large_Weights", "IMAGENET1K_V2",
                                        IMAGENET1K_V1="mobilenet_v3_large-8738ca79.pth",
                                        IMAGENET1K_V2="mobilenet_v3_large-5c1a4163.pth")
MobileNet_V3_Small_Weights = weights_of("MobileNet_V3_Small_Weights", "IMAGENET1K_V1",
                                        IMAGENET1K_V1="mobilenet_v3_small-047dcff4.pth")


@builder(MobileNet_V3_Large_Weights)
def mobilenet_v3_large(**kwargs):
    """MobileNetV3 for machines with much to spend."""
    return _model(_LARGE, 1280, **kwargs)


@builder(MobileNet_V3_Small_Weights)
def mobilenet_v3_small(**kwargs):
    """MobileNetV3 for machines with little to spend."""
    return _model(_SMALL, 1024, **kwargs)
