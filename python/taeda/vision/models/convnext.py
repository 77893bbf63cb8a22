"""ConvNeXt (Liu et al., arXiv:2201.03545)."""

import functools

from ... import _C, nn
from ..ops.drops import StochasticDepth
from ..ops.misc import Conv2dNormActivation, Permute
from ._weights import defined

__all__ = ["ConvNeXt"]


class LayerNorm2d(nn.LayerNorm):
    """LayerNorm over the channels of [N, C, H, W]."""

    def forward(self, x):
        x = nn.functional.layer_norm(x.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    """A convolution of 7 x 7 by channels and two linear layers, scaled by channels, beside the identity."""

    def __init__(self, dim, layer_scale, stochastic_depth_prob, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or functools.partial(nn.LayerNorm, eps=1e-6)
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, bias=True), Permute([0, 2, 3, 1]), norm_layer(dim),
            nn.Linear(dim, 4 * dim, bias=True), nn.GELU(), nn.Linear(4 * dim, dim, bias=True), Permute([0, 3, 1, 2]))
        self.layer_scale = nn.Parameter(_C.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input):
        return input + self.stochastic_depth(self.layer_scale * self.block(input))


class CNBlockConfig:
    """Channels before, channels behind (None for the last stage), and blocks."""

    def __init__(self, input_channels, out_channels, num_layers):
        self.input_channels, self.out_channels, self.num_layers = input_channels, out_channels, num_layers


class ConvNeXt(nn.Module):
    """The stages of `block_setting`, on squares of 4 x 4 pixels."""

    def __init__(self, block_setting, stochastic_depth_prob=0.0, layer_scale=1e-6, num_classes=1000, block=None,
                 norm_layer=None):
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        if not all(isinstance(s, CNBlockConfig) for s in block_setting):
            raise TypeError("The block_setting should be List[CNBlockConfig]")
        block = block or CNBlock
        norm_layer = norm_layer or functools.partial(LayerNorm2d, eps=1e-6)
        layers = [Conv2dNormActivation(3, block_setting[0].input_channels, kernel_size=4, stride=4, padding=0,
                                       norm_layer=norm_layer, activation_layer=None, bias=True)]
        total, number = sum(cnf.num_layers for cnf in block_setting), 0
        for cnf in block_setting:
            stage = []
            for _ in range(cnf.num_layers):
                stage.append(block(cnf.input_channels, layer_scale, stochastic_depth_prob * number / (total - 1.0)))
                number += 1
            layers.append(nn.Sequential(*stage))
            if cnf.out_channels is not None:
                layers.append(nn.Sequential(norm_layer(cnf.input_channels),
                                            nn.Conv2d(cnf.input_channels, cnf.out_channels, kernel_size=2, stride=2)))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1].out_channels or block_setting[-1].input_channels
        self.classifier = nn.Sequential(norm_layer(last), nn.Flatten(1), nn.Linear(last, num_classes))
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.trunc_normal_(m.weight, std=0.02)
                if m.bias is not None:
                    nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)))


def _define(size, widths, depths, stochastic_depth_prob, url):
    name, weights = f"convnext_{size}", f"ConvNeXt_{size.capitalize()}_Weights"
    @defined(name, weights, f"ConvNeXt with {sum(depths)} blocks.", {"IMAGENET1K_V1": url})
    def build(**kwargs):
        stages = [CNBlockConfig(a, b, n) for a, b, n in zip(widths, [*widths[1:], None], depths)]
        return ConvNeXt(stages, kwargs.pop("stochastic_depth_prob", stochastic_depth_prob), **kwargs)


_define("tiny", (96, 192, 384, 768), (3, 3, 9, 3), 0.1, "convnext_tiny-983f1562.pth")
_define("small", (96, 192, 384, 768), (3, 3, 27, 3), 0.4, "convnext_small-0c510722.pth")
_define("base", (128, 256, 512, 1024), (3, 3, 27, 3), 0.5, "convnext_base-6075fbad.pth")
_define("large", (192, 384, 768, 1536), (3, 3, 27, 3), 0.5, "convnext_large-ea097f82.pth")
