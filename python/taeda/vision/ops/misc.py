"""Blocks of layers that many networks are made of."""

from ... import _C
from ...nn import (
    AdaptiveAvgPool2d, BatchNorm2d, BatchNorm3d, Conv2d, Conv3d, Dropout, Linear, Module, ReLU, Sequential, Sigmoid)
from ...nn.modules.utils import ntuple


class FrozenBatchNorm2d(Module):
    """Batch normalization by means, variances, weights and biases that never change."""

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        for name, made in (("weight", _C.ones), ("bias", _C.zeros), ("running_mean", _C.zeros), ("running_var", _C.ones)):
            self.register_buffer(name, made(num_features))

    def _load_from_state_dict(self, state_dict, prefix, *others):
        state_dict.pop(prefix + "num_batches_tracked", None)
        super()._load_from_state_dict(state_dict, prefix, *others)

    def forward(self, x):
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        bias = self.bias - self.running_mean * scale
        return x * scale.view(1, -1, 1, 1) + bias.view(1, -1, 1, 1)

    def __repr__(self):
        return f"{type(self).__name__}({self.weight.size(0)}, eps={self.eps})"


class _ConvNormActivation(Sequential):
    """A convolution that keeps sizes, normalization and activation; each of the latter two may be None."""

    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer=None,
                 activation_layer=ReLU, dilation=1, inplace=True, bias=None, *, conv, sides):
        if padding is None:
            padding = tuple((k - 1) // 2 * d for k, d in zip(ntuple(sides)(kernel_size), ntuple(sides)(dilation)))
        bias = norm_layer is None if bias is None else bias
        layers = [conv(in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups, bias=bias)]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(**({} if inplace is None else {"inplace": inplace})))
        super().__init__(*layers)
        self.out_channels = out_channels


class Conv2dNormActivation(_ConvNormActivation):
    """Conv2d, normalization, activation."""

    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer=BatchNorm2d,
                 activation_layer=ReLU, dilation=1, inplace=True, bias=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer, activation_layer,
                         dilation, inplace, bias, conv=Conv2d, sides=2)


class Conv3dNormActivation(_ConvNormActivation):
    """Conv3d, normalization, activation."""

    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer=BatchNorm3d,
                 activation_layer=ReLU, dilation=1, inplace=True, bias=None):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer, activation_layer,
                         dilation, inplace, bias, conv=Conv3d, sides=3)


class SqueezeExcitation(Module):
    """Channels times weights that a small network finds from their means (arXiv:1709.01507)."""

    def __init__(self, input_channels, squeeze_channels, activation=ReLU, scale_activation=Sigmoid):
        super().__init__()
        self.avgpool = AdaptiveAvgPool2d(1)
        self.fc1 = Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = Conv2d(squeeze_channels, input_channels, 1)
        self.activation, self.scale_activation = activation(), scale_activation()

    def forward(self, input):
        return input * self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input)))))


class MLP(Sequential):
    """Linear layers of the widths `hidden_channels`, with normalization, activation and dropout between."""

    def __init__(self, in_channels, hidden_channels, norm_layer=None, activation_layer=ReLU, inplace=None, bias=True,
                 dropout=0.0):
        options = {} if inplace is None else {"inplace": inplace}
        layers, before = [], in_channels
        for i, width in enumerate(hidden_channels):
            layers.append(Linear(before, width, bias=bias))
            if i + 1 < len(hidden_channels):
                if norm_layer is not None:
                    layers.append(norm_layer(width))
                layers.append(activation_layer(**options))
            layers.append(Dropout(dropout, **options))
            before = width
        super().__init__(*layers)


class Permute(Module):
    """Dimensions in another order."""

    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return x.permute(self.dims)
