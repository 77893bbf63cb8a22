"""Networks whose widths follow a straight line (Radosavovic, Kosaraju, Girshick, He, Dollár, arXiv:2003.13678)."""

import collections
import functools
import math

from ... import nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._weights import defined
from .mobilenet import _rounded

__all__ = ["RegNet"]


class SimpleStemIN(Conv2dNormActivation):
    """The convolution before the blocks."""

    def __init__(self, width_in, width_out, norm_layer, activation_layer):
        super().__init__(width_in, width_out, kernel_size=3, stride=2, norm_layer=norm_layer,
                         activation_layer=activation_layer)


class BottleneckTransform(nn.Sequential):
    """Convolutions of 1 x 1, 3 x 3 in groups, and 1 x 1, with weights of channels before the last if `se_ratio` is given."""

    def __init__(self, width_in, width_out, stride, norm_layer, activation_layer, group_width, bottleneck_multiplier, se_ratio):
        inside = int(round(width_out * bottleneck_multiplier))
        layer = functools.partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=activation_layer)
        layers = collections.OrderedDict()
        layers["a"] = layer(width_in, inside, kernel_size=1)
        layers["b"] = layer(inside, inside, kernel_size=3, stride=stride, groups=inside // group_width)
        if se_ratio:
            layers["se"] = SqueezeExcitation(inside, int(round(se_ratio * width_in)), activation=activation_layer)
        layers["c"] = layer(inside, width_out, kernel_size=1, activation_layer=None)
        super().__init__(layers)


class ResBottleneckBlock(nn.Module):
    """BottleneckTransform beside the identity, or beside a convolution where sizes change."""

    def __init__(self, width_in, width_out, stride, norm_layer, activation_layer, group_width=1, bottleneck_multiplier=1.0,
                 se_ratio=None):
        super().__init__()
        self.proj = None
        if width_in != width_out or stride != 1:
            self.proj = Conv2dNormActivation(width_in, width_out, kernel_size=1, stride=stride, norm_layer=norm_layer,
                                             activation_layer=None)
        self.f = BottleneckTransform(width_in, width_out, stride, norm_layer, activation_layer, group_width,
                                     bottleneck_multiplier, se_ratio)
        self.activation = activation_layer(inplace=True)

    def forward(self, x):
        return self.activation((x if self.proj is None else self.proj(x)) + self.f(x))


class AnyStage(nn.Sequential):
    """`depth` blocks of one width."""

    def __init__(self, width_in, width_out, stride, depth, block_constructor, norm_layer, activation_layer, group_width,
                 bottleneck_multiplier, se_ratio=None, stage_index=0):
        super().__init__()
        for i in range(depth):
            self.add_module(f"block{stage_index}-{i}", block_constructor(
                width_out if i else width_in, width_out, 1 if i else stride, norm_layer, activation_layer, group_width,
                bottleneck_multiplier, se_ratio))


class BlockParams:
    """Depths, widths and groups of the stages."""

    def __init__(self, depths, widths, group_widths, bottleneck_multipliers, strides, se_ratio=None):
        self.depths, self.widths, self.group_widths = depths, widths, group_widths
        self.bottleneck_multipliers, self.strides, self.se_ratio = bottleneck_multipliers, strides, se_ratio

    @classmethod
    def from_init_params(cls, depth, w_0, w_a, w_m, group_width, bottleneck_multiplier=1.0, se_ratio=None, **kwargs):
        """Block j of `depth` has the width w_0 + w_a j, rounded to w_0 times a power of `w_m` and then to a multiple of 8
        (section 3.3); blocks of one width are a stage."""
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8 != 0:
            raise ValueError("Invalid RegNet settings")
        powers = (round(math.log((w_0 + w_a * j) / w_0) / math.log(w_m)) for j in range(depth))
        stages = collections.Counter(int(round(w_0 * w_m ** power / 8)) * 8 for power in powers)
        widths, groups = [], []
        for width in stages:
            inside = int(width * bottleneck_multiplier)
            groups.append(min(group_width, inside))
            widths.append(int(_rounded(inside, groups[-1]) / bottleneck_multiplier))
        n = len(stages)
        return cls(list(stages.values()), widths, groups, [bottleneck_multiplier] * n, [2] * n, se_ratio)

    def _get_expanded_params(self):
        return zip(self.widths, self.strides, self.depths, self.group_widths, self.bottleneck_multipliers)


class RegNet(nn.Module):
    """The stages of `block_params` on a convolution; `fc` tells the classes apart."""

    def __init__(self, block_params, num_classes=1000, stem_width=32, stem_type=None, block_type=None, norm_layer=None,
                 activation=None):
        super().__init__()
        norm_layer, activation = norm_layer or nn.BatchNorm2d, activation or nn.ReLU
        self.stem = (stem_type or SimpleStemIN)(3, stem_width, norm_layer, activation)
        width, stages = stem_width, collections.OrderedDict()
        for i, (out, stride, depth, group_width, multiplier) in enumerate(block_params._get_expanded_params(), 1):
            stages[f"block{i}"] = AnyStage(width, out, stride, depth, block_type or ResBottleneckBlock, norm_layer, activation,
                                           group_width, multiplier, block_params.se_ratio, stage_index=i)
            width = out
        self.trunk_output = nn.Sequential(stages)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(in_features=width, out_features=num_classes)
        self._first_weights()

    def _first_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                fan_out = m.kernel_size[0] * m.kernel_size[1] * m.out_channels
                nn.init.normal_(m.weight, mean=0.0, std=math.sqrt(2.0 / fan_out))
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.ones_(m.weight)
                nn.init.zeros_(m.bias)
            elif isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0.0, std=0.01)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.fc(self.avgpool(self.trunk_output(self.stem(x))).flatten(start_dim=1))


def _define(size, first, second, *settings, se_ratio=None, swag=()):
    """The model regnet_`size`, with `settings` depth, w_0, w_a, w_m and group_width, and the ends of its files' names."""
    name, weights = f"regnet_{size}", f"RegNet_{size.upper()}_Weights"
    files = {"IMAGENET1K_V1": ("", first), "IMAGENET1K_V2": ("", second),
             **dict(zip(("IMAGENET1K_SWAG_E2E_V1", "IMAGENET1K_SWAG_LINEAR_V1"), zip(("_swag", "_lc_swag"), swag)))}
    urls = {member: f"{name}{kind}-{end}.pth" for member, (kind, end) in files.items() if end}
    @defined(name, weights, f"A RegNet of {settings[0]} blocks.", urls, "IMAGENET1K_V2" if second else "IMAGENET1K_SWAG_E2E_V1")
    def build(**kwargs):
        params = BlockParams.from_init_params(*settings, se_ratio=se_ratio, **kwargs)
        norm_layer = kwargs.pop("norm_layer", functools.partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1))
        return RegNet(params, norm_layer=norm_layer, **kwargs)


_define("y_400mf", "c65dace8", "e6988f5f", 16, 48, 27.89, 2.09, 8, se_ratio=0.25)
_define("y_800mf", "1b27b58c", "58fc7688", 14, 56, 38.84, 2.4, 16, se_ratio=0.25)
_define("y_1_6gf", "b11a554e", "0d7bc02a", 27, 48, 20.71, 2.65, 24, se_ratio=0.25)
_define("y_3_2gf", "b5a9779c", "9180c971", 21, 80, 42.63, 2.66, 24, se_ratio=0.25)
_define("y_8gf", "d0d0e4a8", "dc2b1b54", 17, 192, 76.82, 2.19, 56, se_ratio=0.25)
_define("y_16gf", "9e6ed7dd", "3e4a00f9", 18, 200, 106.23, 2.48, 112, se_ratio=0.25, swag=("43afe44d", "f3ec0043"))
_define("y_32gf", "4dee3f7a", "8db6d4b5", 20, 232, 115.89, 2.53, 232, se_ratio=0.25, swag=("04fdfa75", "e1583746"))
_define("y_128gf", None, None, 27, 456, 160.83, 2.52, 264, se_ratio=0.25, swag=("c8ce3e52", "cbe8ce12"))
_define("x_400mf", "adf1edd5", "62229a5f", 22, 24, 24.48, 2.54, 16)
_define("x_800mf", "ad17e45c", "94a99ebd", 16, 56, 35.73, 2.28, 16)
_define("x_1_6gf", "e3633e7f", "a12f2b72", 18, 80, 34.01, 2.25, 24)
_define("x_3_2gf", "f342aeae", "7071aa85", 25, 88, 26.31, 2.25, 48)
_define("x_8gf", "03ceed89", "2b70d774", 23, 80, 49.56, 2.88, 120)
_define("x_16gf", "2007eb11", "ba3796d7", 22, 216, 55.59, 2.1, 128)
_define("x_32gf", "9d47f8d0", "6eb8fdc6", 23, 320, 69.86, 2.0, 168)
