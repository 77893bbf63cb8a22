"""GoogLeNet (Szegedy et al., arXiv:1409.4842), with normalization by batches."""

import collections

from ... import _C, nn
from ...nn.functional import adaptive_avg_pool2d, relu
from ._weights import builder, weights_of
from ..._core.warnings import warn

__all__ = ["GoogLeNet", "GoogLeNetOutputs", "GoogLeNet_Weights", "googlenet"]

GoogLeNetOutputs = collections.namedtuple("GoogLeNetOutputs", ["logits", "aux_logits2", "aux_logits1"])
GoogLeNetOutputs.__module__ = "torchvision.models.googlenet"


class BasicConv2d(nn.Module):
    """A convolution, normalization and ReLU."""

    def __init__(self, in_channels, out_channels, **kwargs):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x):
        return relu(self.bn(self.conv(x)), inplace=True)


def for_unit_range(x):
    """Pictures normalized as other networks want them, as this one does: by means and deviations of 0.5."""
    parts = [x[:, i:i + 1] * (deviation / 0.5) + (mean - 0.5) / 0.5
             for i, (mean, deviation) in enumerate(((0.485, 0.229), (0.456, 0.224), (0.406, 0.225)))]
    return _C.cat(parts, 1)


def first_weights(model, deviation):
    """Truncated normal ones."""
    for m in model.modules():
        if isinstance(m, (nn.Conv2d, nn.Linear)):
            nn.init.trunc_normal_(m.weight, mean=0.0, std=deviation(m), a=-2, b=2)
        elif isinstance(m, nn.BatchNorm2d):
            nn.init.constant_(m.weight, 1)
            nn.init.constant_(m.bias, 0)


def wanted_weights(init_weights, name):
    """Whether to make them, which takes long."""
    if init_weights is None:
        warn(f"The default weight initialization of {name} will be changed in future releases of torchvision. If you "
             "wish to keep the old behavior (which leads to long initialization times due to scipy/scipy#11299), "
             "please set init_weights=True.", FutureWarning)
        return True
    return init_weights


class Inception(nn.Module):
    """Convolutions of several sizes, and pooling, side by side."""

    def __init__(self, in_channels, ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj, conv_block=None):
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1 = conv(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(conv(in_channels, ch3x3red, kernel_size=1),
                                     conv(ch3x3red, ch3x3, kernel_size=3, padding=1))
        # Its name says 5 x 5, the weights that others trained are of 3 x 3.
        self.branch3 = nn.Sequential(conv(in_channels, ch5x5red, kernel_size=1),
                                     conv(ch5x5red, ch5x5, kernel_size=3, padding=1))
        self.branch4 = nn.Sequential(nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True),
                                     conv(in_channels, pool_proj, kernel_size=1))

    def forward(self, x):
        return _C.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class InceptionAux(nn.Module):
    """Classes by what half of the network knows, for training."""

    def __init__(self, in_channels, num_classes, conv_block=None, dropout=0.7):
        super().__init__()
        self.conv = (conv_block or BasicConv2d)(in_channels, 128, kernel_size=1)
        self.fc1 = nn.Linear(2048, 1024)
        self.fc2 = nn.Linear(1024, num_classes)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x):
        x = _C.flatten(self.conv(adaptive_avg_pool2d(x, (4, 4))), 1)
        return self.fc2(self.dropout(relu(self.fc1(x), inplace=True)))


_BLOCKS = {"3a": (192, 64, 96, 128, 16, 32, 32), "3b": (256, 128, 128, 192, 32, 96, 64), "4a": (480, 192, 96, 208, 16, 48, 64),
           "4b": (512, 160, 112, 224, 24, 64, 64), "4c": (512, 128, 128, 256, 24, 64, 64),
           "4d": (512, 112, 144, 288, 32, 64, 64),
           "4e": (528, 256, 160, 320, 32, 128, 128), "5a": (832, 256, 160, 320, 32, 128, 128),
           "5b": (832, 384, 192, 384, 48, 128, 128)}


class GoogLeNet(nn.Module):
    """Nine blocks. While it trains with `aux_logits` it gives GoogLeNetOutputs, else logits."""

    def __init__(self, num_classes=1000, aux_logits=True, transform_input=False, init_weights=None, blocks=None, dropout=0.2,
                 dropout_aux=0.7):
        super().__init__()
        conv, block, auxiliary = blocks or (BasicConv2d, Inception, InceptionAux)
        init_weights = wanted_weights(init_weights, "GoogleNet")
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.conv1 = conv(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.conv2 = conv(64, 64, kernel_size=1)
        self.conv3 = conv(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        for name, channels in _BLOCKS.items():
            if name == "4a":
                self.maxpool3 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
            if name == "5a":
                self.maxpool4 = nn.MaxPool2d(2, stride=2, ceil_mode=True)
            setattr(self, f"inception{name}", block(*channels))
        self.aux1 = auxiliary(512, num_classes, dropout=dropout_aux) if aux_logits else None
        self.aux2 = auxiliary(528, num_classes, dropout=dropout_aux) if aux_logits else None
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(1024, num_classes)
        if init_weights:
            first_weights(self, lambda m: 0.01)

    def forward(self, x):
        x = for_unit_range(x) if self.transform_input else x
        x = self.maxpool2(self.conv3(self.conv2(self.maxpool1(self.conv1(x)))))
        x = self.inception4a(self.maxpool3(self.inception3b(self.inception3a(x))))
        aux1 = self.aux1(x) if self.training and self.aux1 is not None else None
        x = self.inception4d(self.inception4c(self.inception4b(x)))
        aux2 = self.aux2(x) if self.training and self.aux2 is not None else None
        x = self.inception5b(self.inception5a(self.maxpool4(self.inception4e(x))))
        x = self.fc(self.dropout(_C.flatten(self.avgpool(x), 1)))
        return GoogLeNetOutputs(x, aux2, aux1) if self.training and self.aux_logits else x


GoogLeNet_Weights = weights_of("GoogLeNet_Weights", "IMAGENET1K_V1", IMAGENET1K_V1="googlenet-1378be20.pth")


def made_whole(standard, *parts):
    """With weights: a model is made with its helping classifiers `parts`, which go afterwards unless aux_logits (`standard`
    if it is not given) wants them."""
    def complete(kwargs):
        kwargs.setdefault("transform_input", True)
        wanted = kwargs.get("aux_logits", standard)
        kwargs.update(aux_logits=True, init_weights=False)

        def finish(model):
            model.aux_logits = wanted
            if not wanted:
                for part in parts:
                    setattr(model, part, None)
        return finish
    return complete


@builder(GoogLeNet_Weights, made_whole(False, "aux1", "aux2"))
def googlenet(**kwargs):
    """GoogLeNet."""
    return GoogLeNet(**kwargs)
