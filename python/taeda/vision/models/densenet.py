"""DenseNet: each layer gets what all before it gave (Huang, Liu, van der Maaten, Weinberger, arXiv:1608.06993)."""

import collections
import re

from ... import _C, nn
from ...nn.functional import adaptive_avg_pool2d, dropout, relu
from ...utils.checkpoint import checkpoint
from ._weights import defined

__all__ = ["DenseNet"]

_OLD_NAME = re.compile(r"(denselayer\d+\.(?:norm|relu|conv))\.(\d)")  # of layers in files of the first versions


class _DenseLayer(nn.Module):
    """A convolution of 1 x 1 and one of 3 x 3, which adds `growth_rate` channels."""

    def __init__(self, num_input_features, growth_rate, bn_size, drop_rate, memory_efficient=False):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, bn_size * growth_rate, kernel_size=1, bias=False)
        self.norm2 = nn.BatchNorm2d(bn_size * growth_rate)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, kernel_size=3, padding=1, bias=False)
        self.drop_rate, self.memory_efficient = float(drop_rate), memory_efficient

    def _narrowed(self, *inputs):
        return self.conv1(self.relu1(self.norm1(_C.cat(inputs, 1))))

    def forward(self, input):
        inputs = [input] if isinstance(input, _C.TensorBase) else input
        if self.memory_efficient and any(x.requires_grad for x in inputs):
            narrow = checkpoint(self._narrowed, *inputs, use_reentrant=False)
        else:
            narrow = self._narrowed(*inputs)
        made = self.conv2(self.relu2(self.norm2(narrow)))
        return dropout(made, self.drop_rate, self.training) if self.drop_rate > 0 else made


class _DenseBlock(nn.ModuleDict):
    def __init__(self, num_layers, num_input_features, bn_size, growth_rate, drop_rate, memory_efficient=False):
        super().__init__()
        for i in range(num_layers):
            self.add_module(f"denselayer{i + 1}", _DenseLayer(num_input_features + i * growth_rate, growth_rate, bn_size,
                                                              drop_rate, memory_efficient))

    def forward(self, init_features):
        features = [init_features]
        for layer in self.values():
            features.append(layer(features))
        return _C.cat(features, 1)


class _Transition(nn.Sequential):
    """Fewer channels, and half as many rows and columns."""

    def __init__(self, num_input_features, num_output_features):
        super().__init__(collections.OrderedDict(
            norm=nn.BatchNorm2d(num_input_features), relu=nn.ReLU(inplace=True),
            conv=nn.Conv2d(num_input_features, num_output_features, kernel_size=1, bias=False),
            pool=nn.AvgPool2d(kernel_size=2, stride=2)))


class DenseNet(nn.Module):
    """Blocks of `block_config` layers, with transitions between; `memory_efficient` computes concatenations again in
    backward."""

    def __init__(self, growth_rate=32, block_config=(6, 12, 24, 16), num_init_features=64, bn_size=4, drop_rate=0,
                 num_classes=1000, memory_efficient=False):
        super().__init__()
        self.features = nn.Sequential(collections.OrderedDict(
            conv0=nn.Conv2d(3, num_init_features, kernel_size=7, stride=2, padding=3, bias=False),
            norm0=nn.BatchNorm2d(num_init_features), relu0=nn.ReLU(inplace=True),
            pool0=nn.MaxPool2d(kernel_size=3, stride=2, padding=1)))
        width = num_init_features
        for i, layers in enumerate(block_config, 1):
            self.features.add_module(f"denseblock{i}", _DenseBlock(layers, width, bn_size, growth_rate, drop_rate,
                                                                   memory_efficient))
            width += layers * growth_rate
            if i < len(block_config):
                self.features.add_module(f"transition{i}", _Transition(width, width // 2))
                width //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(width))
        self.classifier = nn.Linear(width, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight)
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)
            elif isinstance(m, nn.Linear):
                nn.init.constant_(m.bias, 0)

    def _load_from_state_dict(self, state_dict, *others):
        for key in list(state_dict):
            renamed = _OLD_NAME.sub(r"\1\2", key)
            if renamed != key:
                state_dict[renamed] = state_dict.pop(key)
        super()._load_from_state_dict(state_dict, *others)

    def forward(self, x):
        features = relu(self.features(x), inplace=True)
        return self.classifier(_C.flatten(adaptive_avg_pool2d(features, (1, 1)), 1))


def _define(depth, url, *config):
    name, weights = f"densenet{depth}", f"DenseNet{depth}_Weights"
    @defined(name, weights, f"DenseNet with {depth} layers.", {"IMAGENET1K_V1": url})
    def build(**kwargs):
        return DenseNet(*config, **kwargs)


_define(121, "densenet121-a639ec97.pth", 32, (6, 12, 24, 16), 64)
_define(161, "densenet161-8d451a50.pth", 48, (6, 12, 36, 24), 96)
_define(169, "densenet169-b2777c0a.pth", 32, (6, 12, 32, 32), 64)
_define(201, "densenet201-c1103571.pth", 32, (6, 12, 48, 32), 64)
