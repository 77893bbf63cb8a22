"""SqueezeNet (Iandola et al., arXiv:1602.07360)."""

from ... import _C, nn
from ._weights import builder, weights_of

__all__ = ["SqueezeNet", "SqueezeNet1_0_Weights", "SqueezeNet1_1_Weights", "squeezenet1_0", "squeezenet1_1"]


class Fire(nn.Module):
    """Few channels, then many: half of them by convolutions of 1 x 1, half of 3 x 3."""

    def __init__(self, inplanes, squeeze_planes, expand1x1_planes, expand3x3_planes):
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, kernel_size=3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.squeeze_activation(self.squeeze(x))
        return _C.cat([self.expand1x1_activation(self.expand1x1(x)), self.expand3x3_activation(self.expand3x3(x))], 1)


# Width and kernel of the first convolution, then squeezed channels and halves of wide ones, "M" for pooling.
_LAYERS = {"1_0": (96, 7, ["M", (16, 64), (16, 64), (32, 128), "M", (32, 128), (48, 192), (48, 192), (64, 256),
                       "M", (64, 256)]),
           "1_1": (64, 3, ["M", (16, 64), (16, 64), "M", (32, 128), (32, 128), "M", (48, 192), (48, 192),
                       (64, 256), (64, 256)])}


class SqueezeNet(nn.Module):
    """`version` "1_0", or "1_1" with less to compute."""

    def __init__(self, version="1_0", num_classes=1000, dropout=0.5):
        super().__init__()
        if version not in _LAYERS:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        self.num_classes = num_classes
        width, kernel, rest = _LAYERS[version]
        layers = [nn.Conv2d(3, width, kernel_size=kernel, stride=2), nn.ReLU(inplace=True)]
        for part in rest:
            if part == "M":
                layers.append(nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True))
            else:
                layers.append(Fire(width, part[0], part[1], part[1]))
                width = 2 * part[1]
        self.features = nn.Sequential(*layers)
        last = nn.Conv2d(512, num_classes, kernel_size=1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), last, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)))
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                if m is last:
                    nn.init.normal_(m.weight, mean=0.0, std=0.01)
                else:
                    nn.init.kaiming_uniform_(m.weight)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        return _C.flatten(self.classifier(self.features(x)), 1)


SqueezeNet1_0_Weights = weights_of("SqueezeNet1_0_Weights", "IMAGENET1K_V1", IMAGENET1K_V1="squeezenet1_0-b66bff10.pth")
SqueezeNet1_1_Weights = weights_of("SqueezeNet1_1_Weights", "IMAGENET1K_V1", IMAGENET1K_V1="squeezenet1_1-b8a52dc0.pth")


@builder(SqueezeNet1_0_Weights)
def squeezenet1_0(**kwargs):
    """SqueezeNet as published first."""
    return SqueezeNet("1_0", **kwargs)


@builder(SqueezeNet1_1_Weights)
def squeezenet1_1(**kwargs):
    """SqueezeNet with 2.4 times less to compute."""
    return SqueezeNet("1_1", **kwargs)
