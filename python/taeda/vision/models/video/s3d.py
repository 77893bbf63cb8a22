"""S3D: inception blocks whose convolutions see space and time in turn (Xie et al., arXiv:1712.04851)."""

import functools

from .... import _C, nn
from ...ops.misc import Conv3dNormActivation
from .._weights import builder, weights_of

__all__ = ["S3D", "S3D_Weights", "s3d"]


class TemporalSeparableConv(nn.Sequential):
    """A convolution over space and one over time."""

    def __init__(self, in_planes, out_planes, kernel_size, stride, padding, norm_layer):
        k, s, p = kernel_size, stride, padding
        made = functools.partial(Conv3dNormActivation, bias=False, norm_layer=norm_layer)
        super().__init__(made(in_planes, out_planes, kernel_size=(1, k, k), stride=(1, s, s), padding=(0, p, p)),
                         made(out_planes, out_planes, kernel_size=(k, 1, 1), stride=(s, 1, 1), padding=(p, 0, 0)))


class SepInceptionBlock3D(nn.Module):
    """Four branches side by side."""

    def __init__(self, in_planes, b0_out, b1_mid, b1_out, b2_mid, b2_out, b3_out, norm_layer):
        super().__init__()
        one = functools.partial(Conv3dNormActivation, in_planes, kernel_size=1, norm_layer=norm_layer)
        self.branch0 = one(out_channels=b0_out)
        self.branch1 = nn.Sequential(one(out_channels=b1_mid), TemporalSeparableConv(b1_mid, b1_out, 3, 1, 1, norm_layer))
        self.branch2 = nn.Sequential(one(out_channels=b2_mid), TemporalSeparableConv(b2_mid, b2_out, 3, 1, 1, norm_layer))
        self.branch3 = nn.Sequential(nn.MaxPool3d((3, 3, 3), 1, 1), one(out_channels=b3_out))

    def forward(self, x):
        return _C.cat([branch(x) for branch in (self.branch0, self.branch1, self.branch2, self.branch3)], 1)


# What blocks are made of, and (kernel, stride, padding) of pools between them.
_LAYERS = [(192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64), (3, 2, 1), (480, 192, 96, 208, 16, 48, 64),
           (512, 160, 112, 224, 24, 64, 64), (512, 128, 128, 256, 24, 64, 64), (512, 112, 144, 288, 32, 64, 64),
           (528, 256, 160, 320, 32, 128, 128), (2, 2, 0), (832, 256, 160, 320, 32, 128, 128),
           (832, 384, 192, 384, 48, 128, 128)]


class S3D(nn.Module):
    """Videos of at least 14 pictures of 224 by 224."""

    def __init__(self, num_classes=400, dropout=0.2, norm_layer=None):
        super().__init__()
        norm = norm_layer or functools.partial(nn.BatchNorm3d, eps=0.001, momentum=0.001)

        def flat_pool():
            return nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1))
        layers = [TemporalSeparableConv(3, 64, 7, 2, 3, norm), flat_pool(),
                  Conv3dNormActivation(64, 64, kernel_size=1, norm_layer=norm), TemporalSeparableConv(64, 192, 3, 1, 1, norm),
                  flat_pool()]
        for layer in _LAYERS:
            layers.append(SepInceptionBlock3D(*layer, norm) if len(layer) > 3 else nn.MaxPool3d(*((n,) * 3 for n in layer)))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AvgPool3d((2, 7, 7), 1)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Conv3d(1024, num_classes, 1))

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x))).mean((2, 3, 4))


S3D_Weights = weights_of("S3D_Weights", "KINETICS400_V1", KINETICS400_V1="s3d-d76dad2f.pth")


@builder(S3D_Weights)
def s3d(**kwargs):
    """S3D."""
    return S3D(**kwargs)
