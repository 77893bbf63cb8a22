"""ShuffleNetV2 (Ma, Zhang, Zheng, Sun, arXiv:1807.11164)."""

from ... import _C, nn
from ._weights import defined

__all__ = ["ShuffleNetV2"]


def channel_shuffle(x, groups):
    return _C.channel_shuffle(x, groups)


class InvertedResidual(nn.Module):
    """Half of the channels go through convolutions, the others as they are, or through one of their own where sizes halve."""

    def __init__(self, inp, oup, stride):
        super().__init__()
        if not 1 <= stride <= 3:
            raise ValueError("illegal stride value")
        self.stride, half = stride, oup // 2
        if stride == 1 and inp != half << 1:
            raise ValueError(f"Invalid combination of stride {stride}, inp {inp} and oup {oup} values. If stride == 1 then inp "
                             "should be equal to oup // 2 << 1.")
        self.branch1 = nn.Sequential() if stride == 1 else nn.Sequential(
            self.depthwise_conv(inp, inp, 3, stride, 1), nn.BatchNorm2d(inp),
            nn.Conv2d(inp, half, kernel_size=1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True))
        self.branch2 = nn.Sequential(
            nn.Conv2d(inp if stride > 1 else half, half, kernel_size=1, bias=False), nn.BatchNorm2d(half),
            nn.ReLU(inplace=True),
            self.depthwise_conv(half, half, 3, stride, 1), nn.BatchNorm2d(half),
            nn.Conv2d(half, half, kernel_size=1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True))

    @staticmethod
    def depthwise_conv(i, o, kernel_size, stride=1, padding=0, bias=False):
        return nn.Conv2d(i, o, kernel_size, stride, padding, bias=bias, groups=i)

    def forward(self, x):
        if self.stride == 1:
            kept, changed = x.chunk(2, 1)
            made = _C.cat([kept, self.branch2(changed)], 1)
        else:
            made = _C.cat([self.branch1(x), self.branch2(x)], 1)
        return channel_shuffle(made, 2)


class ShuffleNetV2(nn.Module):
    """`stages_repeats` blocks of each of three stages, and `stages_out_channels` of the first layer, the stages and the
    last."""

    def __init__(self, stages_repeats, stages_out_channels, num_classes=1000, inverted_residual=InvertedResidual):
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError("expected stages_repeats as list of 3 positive ints")
        if len(stages_out_channels) != 5:
            raise ValueError("expected stages_out_channels as list of 5 positive ints")
        self._stage_out_channels = stages_out_channels
        width = stages_out_channels[0]
        self.conv1 = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True))
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        for i, (repeats, out) in enumerate(zip(stages_repeats, stages_out_channels[1:]), 2):
            blocks = [inverted_residual(width, out, 2)] + [inverted_residual(out, out, 1) for _ in range(repeats - 1)]
            setattr(self, f"stage{i}", nn.Sequential(*blocks))
            width = out
        last = stages_out_channels[-1]
        self.conv5 = nn.Sequential(nn.Conv2d(width, last, 1, 1, 0, bias=False), nn.BatchNorm2d(last), nn.ReLU(inplace=True))
        self.fc = nn.Linear(last, num_classes)

    def forward(self, x):
        x = self.stage4(self.stage3(self.stage2(self.maxpool(self.conv1(x)))))
        return self.fc(self.conv5(x).mean([2, 3]))


def _define(size, url, *widths):
    name, weights = f"shufflenet_v2_x{size}", f"ShuffleNet_V2_X{size}_Weights"
    @defined(name, weights, f"ShuffleNetV2 with {size.replace('_', '.')} times the channels.", {"IMAGENET1K_V1": url})
    def build(**kwargs):
        return ShuffleNetV2([4, 8, 4], list(widths), **kwargs)


_define("0_5", "shufflenetv2_x0.5-f707e7126e.pth", 24, 48, 96, 192, 1024)
_define("1_0", "shufflenetv2_x1-5666bf0f80.pth", 24, 116, 232, 464, 1024)
_define("1_5", "shufflenetv2_x1_5-3c479a10.pth", 24, 176, 352, 704, 1024)
_define("2_0", "shufflenetv2_x2_0-8be3c8ee.pth", 24, 244, 488, 976, 2048)
