"""MobileNetV2 (Sandler et al., arXiv:1801.04381)."""

from ... import nn
from ...nn.functional import adaptive_avg_pool2d
from ._weights import builder, weights_of

__all__ = ["MobileNetV2", "MobileNet_V2_Weights", "mobilenet_v2"]


def _rounded(value, divisor=8):
    """The nearest multiple of the divisor that is not smaller by more than a tenth."""
    new = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return new + divisor if new < 0.9 * value else new


def _first_weights(model, draw):
    """Convolutions by their outputs (He et al., arXiv:1502.01852), norms that change nothing, linear layers by draw(layer);
    biases of 0."""
    for m in model.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode="fan_out")
        elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
            nn.init.ones_(m.weight)
        elif isinstance(m, nn.Linear):
            draw(m)
        else:
            continue
        if m.bias is not None:
            nn.init.zeros_(m.bias)


class ConvNormActivation(nn.Sequential):
    """A convolution, normalization, and an activation."""

    def __init__(self, inp, oup, kernel_size=3, stride=1, groups=1, norm_layer=nn.BatchNorm2d):
        super().__init__(nn.Conv2d(inp, oup, kernel_size, stride, (kernel_size - 1) // 2, groups=groups, bias=False),
                         norm_layer(oup), nn.ReLU6(inplace=True))
        self.out_channels = oup


class InvertedResidual(nn.Module):
    """A wide convolution by channels between two narrow ends."""

    def __init__(self, inp, oup, stride, expand_ratio, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        self.stride, self.use_res_connect = stride, stride == 1 and inp == oup
        hidden = int(round(inp * expand_ratio))
        layers = [ConvNormActivation(inp, hidden, 1, norm_layer=norm_layer)] if expand_ratio != 1 else []
        layers += [ConvNormActivation(hidden, hidden, 3, stride, hidden, norm_layer),
                   nn.Conv2d(hidden, oup, 1, 1, 0, bias=False), norm_layer(oup)]
        self.conv = nn.Sequential(*layers)
        self.out_channels = oup

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


_STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


class MobileNetV2(nn.Module):
    """Inverted residuals: `inverted_residual_setting` lists expansion, channels, blocks and stride of each stage."""

    def __init__(self, num_classes=1000, width_mult=1.0, inverted_residual_setting=None, round_nearest=8, block=None,
                 norm_layer=None, dropout=0.2):
        super().__init__()
        block, norm_layer = block or InvertedResidual, norm_layer or nn.BatchNorm2d
        width = _rounded(32 * width_mult, round_nearest)
        self.last_channel = _rounded(1280 * max(1.0, width_mult), round_nearest)
        features = [ConvNormActivation(3, width, stride=2, norm_layer=norm_layer)]
        for expansion, channels, blocks, stride in inverted_residual_setting or _STAGES:
            out = _rounded(channels * width_mult, round_nearest)
            for i in range(blocks):
                features.append(block(width, out, stride if i == 0 else 1, expand_ratio=expansion, norm_layer=norm_layer))
                width = out
        features.append(ConvNormActivation(width, self.last_channel, 1, norm_layer=norm_layer))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes))
        _first_weights(self, lambda linear: nn.init.normal_(linear.weight, 0, 0.01))

    def forward(self, x):
        return self.classifier(adaptive_avg_pool2d(self.features(x), (1, 1)).flatten(1))


MobileNet_V2_Weights = weights_of("MobileNet_V2_Weights", "IMAGENET1K_V2", IMAGENET1K_V1="mobilenet_v2-b0353104.pth",
                                  IMAGENET1K_V2="mobilenet_v2-7ebf99e0.pth")


@builder(MobileNet_V2_Weights)
def mobilenet_v2(**kwargs):
    """MobileNetV2."""
    return MobileNetV2(**kwargs)
