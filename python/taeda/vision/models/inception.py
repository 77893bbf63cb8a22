"""The third Inception network (Szegedy et al., arXiv:1512.00567)."""

import collections

from ... import _C, nn
from ...nn.functional import adaptive_avg_pool2d, avg_pool2d, max_pool2d
from ._weights import builder, weights_of
from .googlenet import BasicConv2d, first_weights, for_unit_range, made_whole, wanted_weights

__all__ = ["Inception3", "InceptionOutputs", "Inception_V3_Weights", "inception_v3"]

InceptionOutputs = collections.namedtuple("InceptionOutputs", ["logits", "aux_logits"])
InceptionOutputs.__module__ = "torchvision.models.inception"


class _Branches(nn.Module):
    """Rows of convolutions side by side. `_ROWS` names each row's convolutions in order; `_LAYERS` has their channels (a text
    stands for a number that the block is given), kernels, and what else they are made with."""

    _LAYERS, _ROWS = {}, ()

    def __init__(self, conv_block=None, **numbers):
        super().__init__()
        conv = conv_block or BasicConv2d
        for name, (before, behind, kernel, options) in self._LAYERS.items():
            setattr(self, name, conv(numbers.get(before, before), numbers.get(behind, behind), kernel_size=kernel, **options))

    def _pooled(self, x):
        return self.branch_pool(avg_pool2d(x, kernel_size=3, stride=1, padding=1))

    def _row(self, names, x):
        for name in names:
            x = _C.cat([getattr(self, part)(x) for part in name], 1) if isinstance(name, tuple) else getattr(self, name)(x)
        return x

    def forward(self, x):
        return _C.cat([self._row(names, x) for names in self._ROWS] + [self._pooled(x)], 1)


_WIDE, _HIGH = {"padding": (0, 3)}, {"padding": (3, 0)}


class InceptionA(_Branches):
    """1 x 1, 5 x 5, twice 3 x 3, and the mean."""

    _LAYERS = {"branch1x1": ("n", 64, 1, {}), "branch5x5_1": ("n", 48, 1, {}), "branch5x5_2": (48, 64, 5, {"padding": 2}),
               "branch3x3dbl_1": ("n", 64, 1, {}), "branch3x3dbl_2": (64, 96, 3, {"padding": 1}),
               "branch3x3dbl_3": (96, 96, 3, {"padding": 1}), "branch_pool": ("n", "pool", 1, {})}
    _ROWS = (("branch1x1",), ("branch5x5_1", "branch5x5_2"), ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"))

    def __init__(self, in_channels, pool_features, conv_block=None):
        super().__init__(conv_block, n=in_channels, pool=pool_features)


class _Halving(_Branches):
    """A block that halves rows and columns."""

    def __init__(self, in_channels, conv_block=None):
        super().__init__(conv_block, n=in_channels)

    def _pooled(self, x):
        return max_pool2d(x, kernel_size=3, stride=2)


class InceptionB(_Halving):
    """3 x 3, twice 3 x 3, and the maximum."""

    _LAYERS = {"branch3x3": ("n", 384, 3, {"stride": 2}), "branch3x3dbl_1": ("n", 64, 1, {}),
               "branch3x3dbl_2": (64, 96, 3, {"padding": 1}), "branch3x3dbl_3": (96, 96, 3, {"stride": 2})}
    _ROWS = (("branch3x3",), ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"))


class InceptionC(_Branches):
    """1 x 1, 7 x 7 as two lines, twice that, and the mean."""

    _LAYERS = {"branch1x1": ("n", 192, 1, {}), "branch7x7_1": ("n", "c", 1, {}), "branch7x7_2": ("c", "c", (1, 7), _WIDE),
               "branch7x7_3": ("c", 192, (7, 1), _HIGH), "branch7x7dbl_1": ("n", "c", 1, {}),
               "branch7x7dbl_2": ("c", "c", (7, 1), _HIGH), "branch7x7dbl_3": ("c", "c", (1, 7), _WIDE),
               "branch7x7dbl_4": ("c", "c", (7, 1), _HIGH), "branch7x7dbl_5": ("c", 192, (1, 7), _WIDE),
               "branch_pool": ("n", 192, 1, {})}
    _ROWS = (("branch1x1",), ("branch7x7_1", "branch7x7_2", "branch7x7_3"),
             ("branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4", "branch7x7dbl_5"))

    def __init__(self, in_channels, channels_7x7, conv_block=None):
        super().__init__(conv_block, n=in_channels, c=channels_7x7)


class InceptionD(_Halving):
    """3 x 3, 7 x 7 and 3 x 3, and the maximum."""

    _LAYERS = {"branch3x3_1": ("n", 192, 1, {}), "branch3x3_2": (192, 320, 3, {"stride": 2}),
               "branch7x7x3_1": ("n", 192, 1, {}),
               "branch7x7x3_2": (192, 192, (1, 7), _WIDE), "branch7x7x3_3": (192, 192, (7, 1), _HIGH),
               "branch7x7x3_4": (192, 192, 3, {"stride": 2})}
    _ROWS = (("branch3x3_1", "branch3x3_2"), ("branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3", "branch7x7x3_4"))


class InceptionE(_Branches):
    """1 x 1, two lines of 3 side by side, the same behind 3 x 3, and the mean."""

    _LAYERS = {"branch1x1": ("n", 320, 1, {}), "branch3x3_1": ("n", 384, 1, {}),
               "branch3x3_2a": (384, 384, (1, 3), {"padding": (0, 1)}), "branch3x3_2b": (384, 384, (3, 1), {"padding": (1, 0)}),
               "branch3x3dbl_1": ("n", 448, 1, {}), "branch3x3dbl_2": (448, 384, 3, {"padding": 1}),
               "branch3x3dbl_3a": (384, 384, (1, 3), {"padding": (0, 1)}),
               "branch3x3dbl_3b": (384, 384, (3, 1), {"padding": (1, 0)}), "branch_pool": ("n", 192, 1, {})}
    _ROWS = (("branch1x1",), ("branch3x3_1", ("branch3x3_2a", "branch3x3_2b")),
             ("branch3x3dbl_1", "branch3x3dbl_2", ("branch3x3dbl_3a", "branch3x3dbl_3b")))

    def __init__(self, in_channels, conv_block=None):
        super().__init__(conv_block, n=in_channels)


class InceptionAux(nn.Module):
    """Classes by what half of the network knows, for training."""

    def __init__(self, in_channels, num_classes, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.conv0 = conv(in_channels, 128, kernel_size=1)
        self.conv1 = conv(128, 768, kernel_size=5)
        self.conv1.stddev = 0.01
        self.fc = nn.Linear(768, num_classes)
        self.fc.stddev = 0.001

    def forward(self, x):
        x = self.conv1(self.conv0(avg_pool2d(x, kernel_size=5, stride=3)))
        return self.fc(_C.flatten(adaptive_avg_pool2d(x, (1, 1)), 1))


class Inception3(nn.Module):
    """Eleven blocks, for pictures of 299 x 299. While it trains with `aux_logits` it gives InceptionOutputs, else logits."""

    def __init__(self, num_classes=1000, aux_logits=True, transform_input=False, inception_blocks=None, init_weights=None,
                 dropout=0.5):
        super().__init__()
        conv, a, b, c, d, e, auxiliary = inception_blocks or (BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD,
                                                              InceptionE, InceptionAux)
        init_weights = wanted_weights(init_weights, "inception_v3")
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.Conv2d_1a_3x3 = conv(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = conv(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = conv(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Conv2d_3b_1x1 = conv(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = conv(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Mixed_5b, self.Mixed_5c = a(192, pool_features=32), a(256, pool_features=64)
        self.Mixed_5d = a(288, pool_features=64)
        self.Mixed_6a = b(288)
        self.Mixed_6b, self.Mixed_6c = c(768, channels_7x7=128), c(768, channels_7x7=160)
        self.Mixed_6d, self.Mixed_6e = c(768, channels_7x7=160), c(768, channels_7x7=192)
        self.AuxLogits = auxiliary(768, num_classes) if aux_logits else None
        self.Mixed_7a, self.Mixed_7b, self.Mixed_7c = d(768), e(1280), e(2048)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(2048, num_classes)
        if init_weights:
            first_weights(self, lambda m: float(getattr(m, "stddev", 0.1)))

    def forward(self, x):
        x = for_unit_range(x) if self.transform_input else x
        x = self.maxpool1(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))
        aux = self.AuxLogits(x) if self.training and self.AuxLogits is not None else None
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        x = self.fc(_C.flatten(self.dropout(self.avgpool(x)), 1))
        return InceptionOutputs(x, aux) if self.training and self.aux_logits else x


Inception_V3_Weights = weights_of("Inception_V3_Weights", "IMAGENET1K_V1", IMAGENET1K_V1="inception_v3_google-0cc3c7bd.pth")


@builder(Inception_V3_Weights, made_whole(True, "AuxLogits"))
def inception_v3(**kwargs):
    """Inception v3."""
    return Inception3(**kwargs)
