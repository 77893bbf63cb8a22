"""Residual networks of convolutions over time and space (Tran et al., arXiv:1711.11248)."""

from .... import nn
from .._weights import builder, weights_of

__all__ = ["MC3_18_Weights", "R2Plus1D_18_Weights", "R3D_18_Weights", "VideoResNet", "mc3_18", "r2plus1d_18", "r3d_18"]


def _conv(inplanes, planes, kernel, stride, padding):
    return nn.Conv3d(inplanes, planes, kernel, stride, padding, bias=False)


class Conv3DSimple(nn.Conv3d):
    """Over time and space at once."""

    def __init__(self, in_planes, out_planes, midplanes=None, stride=1, padding=1):
        super().__init__(in_planes, out_planes, 3, stride, padding, bias=False)

    @staticmethod
    def get_downsample_stride(stride):
        return stride, stride, stride


class Conv2Plus1D(nn.Sequential):
    """Over space, then over time, with `midplanes` channels between."""

    def __init__(self, in_planes, out_planes, midplanes, stride=1, padding=1):
        super().__init__(_conv(in_planes, midplanes, (1, 3, 3), (1, stride, stride), (0, padding, padding)),
                         nn.BatchNorm3d(midplanes), nn.ReLU(inplace=True),
                         _conv(midplanes, out_planes, (3, 1, 1), (stride, 1, 1), (padding, 0, 0)))

    @staticmethod
    def get_downsample_stride(stride):
        return stride, stride, stride


class Conv3DNoTemporal(nn.Conv3d):
    """Over space alone."""

    def __init__(self, in_planes, out_planes, midplanes=None, stride=1, padding=1):
        super().__init__(in_planes, out_planes, (1, 3, 3), (1, stride, stride), (0, padding, padding), bias=False)

    @staticmethod
    def get_downsample_stride(stride):
        return 1, stride, stride


def _between(inplanes, planes):
    """The channels with which two convolutions have as many weights as one over time and space."""
    return inplanes * planes * 27 // (inplanes * 9 + 3 * planes)


class BasicBlock(nn.Module):
    """Two convolutions beside what goes around them."""

    expansion = 1

    def __init__(self, inplanes, planes, conv_builder, stride=1, downsample=None):
        super().__init__()
        middle = _between(inplanes, planes)
        self.conv1 = nn.Sequential(conv_builder(inplanes, planes, middle, stride), nn.BatchNorm3d(planes),
                                   nn.ReLU(inplace=True))
        self.conv2 = nn.Sequential(conv_builder(planes, planes, middle), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x):
        out = self.conv2(self.conv1(x))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(nn.Module):
    """A convolution between two that change the number of channels, beside what goes around them."""

    expansion = 4

    def __init__(self, inplanes, planes, conv_builder, stride=1, downsample=None):
        super().__init__()
        wide = planes * self.expansion
        self.conv1 = nn.Sequential(_conv(inplanes, planes, 1, 1, 0), nn.BatchNorm3d(planes), nn.ReLU(inplace=True))
        self.conv2 = nn.Sequential(conv_builder(planes, planes, _between(inplanes, planes), stride), nn.BatchNorm3d(planes),
                                   nn.ReLU(inplace=True))
        self.conv3 = nn.Sequential(_conv(planes, wide, 1, 1, 0), nn.BatchNorm3d(wide))
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x):
        out = self.conv3(self.conv2(self.conv1(x)))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class BasicStem(nn.Sequential):
    """What comes before the blocks: one convolution."""

    def __init__(self):
        super().__init__(_conv(3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3)), nn.BatchNorm3d(64), nn.ReLU(inplace=True))


class R2Plus1dStem(nn.Sequential):
    """The same, over space and then over time."""

    def __init__(self):
        super().__init__(_conv(3, 45, (1, 7, 7), (1, 2, 2), (0, 3, 3)), nn.BatchNorm3d(45), nn.ReLU(inplace=True),
                         _conv(45, 64, (3, 1, 1), 1, (1, 0, 0)), nn.BatchNorm3d(64), nn.ReLU(inplace=True))


class VideoResNet(nn.Module):
    """Four layers of blocks, each with a convolution of its own."""

    def __init__(self, block, conv_makers, layers, stem, num_classes=400, zero_init_residual=False):
        super().__init__()
        self.inplanes = 64
        self.stem = stem()
        for i, (conv, count) in enumerate(zip(conv_makers, layers)):
            setattr(self, f"layer{i + 1}", self._make_layer(block, conv, 64 * 2 ** i, count, 1 if i == 0 else 2))
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv3d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(layer, nn.Linear):
                nn.init.normal_(layer.weight, 0, 0.01)
                nn.init.zeros_(layer.bias)
        for layer in self.modules() if zero_init_residual else ():
            if isinstance(layer, Bottleneck):
                nn.init.zeros_(layer.conv3[1].weight)

    def _make_layer(self, block, conv_builder, planes, blocks, stride):
        downsample, wide = None, planes * block.expansion
        if stride != 1 or self.inplanes != wide:
            downsample = nn.Sequential(_conv(self.inplanes, wide, 1, conv_builder.get_downsample_stride(stride), 0),
                                       nn.BatchNorm3d(wide))
        made = [block(self.inplanes, planes, conv_builder, stride, downsample)]
        self.inplanes = wide
        return nn.Sequential(*made, *(block(wide, planes, conv_builder) for _ in range(1, blocks)))

    def forward(self, x):
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
        return self.fc(self.avgpool(x).flatten(1))


def _weights(kind, end):
    return weights_of(f"{kind}_Weights", "KINETICS400_V1", KINETICS400_V1=f"{end}.pth")


R3D_18_Weights = _weights("R3D_18", "r3d_18-b3b3357e")
MC3_18_Weights = _weights("MC3_18", "mc3_18-a90a0ba3")
R2Plus1D_18_Weights = _weights("R2Plus1D_18", "r2plus1d_18-91a641e6")


@builder(R3D_18_Weights)
def r3d_18(**kwargs):
    """18 layers over time and space."""
    return VideoResNet(BasicBlock, [Conv3DSimple] * 4, [2] * 4, BasicStem, **kwargs)


@builder(MC3_18_Weights)
def mc3_18(**kwargs):
    """18 layers, of which the first alone see time."""
    return VideoResNet(BasicBlock, [Conv3DSimple] + [Conv3DNoTemporal] * 3, [2] * 4, BasicStem, **kwargs)


@builder(R2Plus1D_18_Weights)
def r2plus1d_18(**kwargs):
    """18 layers over space and time in turn."""
    return VideoResNet(BasicBlock, [Conv2Plus1D] * 4, [2] * 4, R2Plus1dStem, **kwargs)
