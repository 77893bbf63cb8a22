"""EfficientNet (Tan, Le, arXiv:1905.11946) and its second version (arXiv:2104.00298)."""

import functools
import math

from ... import _C, nn
from ..ops.drops import StochasticDepth
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._weights import defined
from .mobilenet import _first_weights, _rounded

__all__ = ["EfficientNet"]


def _within_outputs(linear):
    bound = 1.0 / math.sqrt(linear.out_features)
    nn.init.uniform_(linear.weight, -bound, bound)


class MBConvConfig:
    """Expansion, kernel, stride, channels before and behind, and how often the block is repeated."""

    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, width_mult=1.0, depth_mult=1.0,
                 block=None):
        self.expand_ratio, self.kernel, self.stride = expand_ratio, kernel, stride
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.num_layers = math.ceil(num_layers * depth_mult)
        self.block = block or MBConv

    @staticmethod
    def adjust_channels(channels, width_mult, min_value=None):
        return _rounded(channels * width_mult)


class _Block(nn.Module):
    """Layers beside the identity, of which training leaves some out."""

    def __init__(self, cnf, layers, stochastic_depth_prob):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, input):
        result = self.block(input)
        return self.stochastic_depth(result) + input if self.use_res_connect else result


class MBConv(_Block):
    """A wide convolution by channels between two narrow ends, with weights of channels."""

    def __init__(self, cnf, stochastic_depth_prob, norm_layer, se_layer=SqueezeExcitation):
        wide = _rounded(cnf.input_channels * cnf.expand_ratio)
        layers = []
        if wide != cnf.input_channels:
            layers.append(Conv2dNormActivation(cnf.input_channels, wide, kernel_size=1, norm_layer=norm_layer,
                                               activation_layer=nn.SiLU))
        layers.append(Conv2dNormActivation(wide, wide, kernel_size=cnf.kernel, stride=cnf.stride, groups=wide,
                                           norm_layer=norm_layer, activation_layer=nn.SiLU))
        layers.append(se_layer(wide, max(1, cnf.input_channels // 4), activation=functools.partial(nn.SiLU, inplace=True)))
        layers.append(Conv2dNormActivation(wide, cnf.out_channels, kernel_size=1, norm_layer=norm_layer, activation_layer=None))
        super().__init__(cnf, layers, stochastic_depth_prob)


class FusedMBConv(_Block):
    """A wide convolution, and one of 1 x 1 back."""

    def __init__(self, cnf, stochastic_depth_prob, norm_layer):
        wide = _rounded(cnf.input_channels * cnf.expand_ratio)
        widens = wide != cnf.input_channels
        layers = [Conv2dNormActivation(cnf.input_channels, wide if widens else cnf.out_channels, kernel_size=cnf.kernel,
                                       stride=cnf.stride, norm_layer=norm_layer, activation_layer=nn.SiLU)]
        if widens:
            layers.append(Conv2dNormActivation(wide, cnf.out_channels, kernel_size=1, norm_layer=norm_layer,
                                               activation_layer=None))
        super().__init__(cnf, layers, stochastic_depth_prob)


class EfficientNet(nn.Module):
    """Stages of blocks; the later a block, the more often training leaves it out, at most `stochastic_depth_prob` of the
    time."""

    def __init__(self, inverted_residual_setting, dropout, stochastic_depth_prob=0.2, num_classes=1000, norm_layer=None,
                 last_channel=None):
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not all(isinstance(s, MBConvConfig) for s in inverted_residual_setting):
            raise TypeError("The inverted_residual_setting should be List[MBConvConfig]")
        norm_layer = norm_layer or nn.BatchNorm2d
        layers = [Conv2dNormActivation(3, inverted_residual_setting[0].input_channels, kernel_size=3, stride=2,
                                       norm_layer=norm_layer, activation_layer=nn.SiLU)]
        total, number = sum(cnf.num_layers for cnf in inverted_residual_setting), 0
        for cnf in inverted_residual_setting:
            stage, cnf = [], _copy(cnf)
            for _ in range(cnf.num_layers):
                if stage:
                    cnf = _copy(cnf)
                    cnf.input_channels, cnf.stride = cnf.out_channels, 1
                stage.append(cnf.block(cnf, stochastic_depth_prob * float(number) / total, norm_layer))
                number += 1
            layers.append(nn.Sequential(*stage))
        width = inverted_residual_setting[-1].out_channels
        last = last_channel if last_channel is not None else 4 * width
        layers.append(Conv2dNormActivation(width, last, kernel_size=1, norm_layer=norm_layer, activation_layer=nn.SiLU))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(last, num_classes))
        _first_weights(self, _within_outputs)

    def forward(self, x):
        return self.classifier(_C.flatten(self.avgpool(self.features(x)), 1))


def _copy(cnf):
    made = object.__new__(type(cnf))
    made.__dict__.update(cnf.__dict__)
    return made


_FIRST = [(1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3),
          (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1)]
# Of the second version: the same numbers, and how many of the first stages have fused blocks.
_SECOND = {"s": ([(1, 3, 1, 24, 24, 2), (4, 3, 2, 24, 48, 4), (4, 3, 2, 48, 64, 4), (4, 3, 2, 64, 128, 6),
                  (6, 3, 1, 128, 160, 9), (6, 3, 2, 160, 256, 15)], 0.2),
           "m": ([(1, 3, 1, 24, 24, 3), (4, 3, 2, 24, 48, 5), (4, 3, 2, 48, 80, 5), (4, 3, 2, 80, 160, 7),
                  (6, 3, 1, 160, 176, 14), (6, 3, 2, 176, 304, 18), (6, 3, 1, 304, 512, 5)], 0.3),
           "l": ([(1, 3, 1, 32, 32, 4), (4, 3, 2, 32, 64, 7), (4, 3, 2, 64, 96, 7), (4, 3, 2, 96, 192, 10),
                  (6, 3, 1, 192, 224, 19), (6, 3, 2, 224, 384, 25), (6, 3, 1, 384, 640, 7)], 0.4)}
_FUSED = 3


def _define(name, weights, default, urls, settings, dropout, **fixed):
    @defined(name, weights, f"EfficientNet {name.removeprefix('efficientnet_')}.", urls, default)
    def build(**kwargs):
        return EfficientNet(settings(), kwargs.pop("dropout", dropout), **{**fixed, **kwargs})


def _define_first(number, width, depth, dropout, urls, **fixed):
    def settings():
        return [MBConvConfig(*stage, width, depth) for stage in _FIRST]
    _define(f"efficientnet_b{number}", f"EfficientNet_B{number}_Weights", list(urls)[-1], urls, settings, dropout, **fixed)


def _define_second(size, url):
    stages, dropout = _SECOND[size]

    def settings():
        return [MBConvConfig(*stage, block=FusedMBConv if i < _FUSED else None) for i, stage in enumerate(stages)]
    _define(f"efficientnet_v2_{size}", f"EfficientNet_V2_{size.upper()}_Weights", "IMAGENET1K_V1", {"IMAGENET1K_V1": url},
            settings, dropout, last_channel=1280, norm_layer=functools.partial(nn.BatchNorm2d, eps=1e-03))


_WIDE = {"norm_layer": functools.partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)}
_define_first(0, 1.0, 1.0, 0.2, {"IMAGENET1K_V1": "efficientnet_b0_rwightman-7f5810bc.pth"})
_define_first(1, 1.0, 1.1, 0.2, {"IMAGENET1K_V1": "efficientnet_b1_rwightman-bac287d4.pth",
                                 "IMAGENET1K_V2": "efficientnet_b1-c27df63c.pth"})
_define_first(2, 1.1, 1.2, 0.3, {"IMAGENET1K_V1": "efficientnet_b2_rwightman-c35c1473.pth"})
_define_first(3, 1.2, 1.4, 0.3, {"IMAGENET1K_V1": "efficientnet_b3_rwightman-b3899882.pth"})
_define_first(4, 1.4, 1.8, 0.4, {"IMAGENET1K_V1": "efficientnet_b4_rwightman-23ab8bcd.pth"})
_define_first(5, 1.6, 2.2, 0.4, {"IMAGENET1K_V1": "efficientnet_b5_lukemelas-1a07897c.pth"}, **_WIDE)
_define_first(6, 1.8, 2.6, 0.5, {"IMAGENET1K_V1": "efficientnet_b6_lukemelas-24a108a5.pth"}, **_WIDE)
_define_first(7, 2.0, 3.1, 0.5, {"IMAGENET1K_V1": "efficientnet_b7_lukemelas-c5b4e57e.pth"}, **_WIDE)
_define_second("s", "efficientnet_v2_s-dd5fe13b.pth")
_define_second("m", "efficientnet_v2_m-dc08266a.pth")
_define_second("l", "efficientnet_v2_l-59c71312.pth")
