"""Features of several sizes, each with what the smaller ones know (arXiv:1612.03144)."""

import collections

from ...nn import Conv2d, Module, ModuleList
from ...nn import functional as F
from ...nn import init
from .misc import Conv2dNormActivation


class ExtraFPNBlock(Module):
    """What may add levels: it gets the results, the features they were made of, and the names, and gives results and names."""

    def forward(self, results, x, names):
        raise NotImplementedError(f"{type(self).__name__} has no forward")


class FeaturePyramidNetwork(Module):
    """A dict of features, the largest first, becomes one of the same names with `out_channels` channels each."""

    def __init__(self, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        self.inner_blocks, self.layer_blocks = ModuleList(), ModuleList()
        for channels in in_channels_list:
            if channels == 0:
                raise ValueError("in_channels=0 is currently not supported")
            self.inner_blocks.append(Conv2dNormActivation(channels, out_channels, 1, padding=0, norm_layer=norm_layer,
                                                          activation_layer=None))
            self.layer_blocks.append(Conv2dNormActivation(out_channels, out_channels, 3, norm_layer=norm_layer,
                                                          activation_layer=None))
        for module in self.modules():
            if isinstance(module, Conv2d):
                init.kaiming_uniform_(module.weight, a=1)
                if module.bias is not None:
                    init.constant_(module.bias, 0)
        if extra_blocks is not None and not isinstance(extra_blocks, ExtraFPNBlock):
            raise TypeError(f"extra_blocks should be of type ExtraFPNBlock not {type(extra_blocks)}")
        self.extra_blocks = extra_blocks

    def forward(self, x):
        names, features = list(x), list(x.values())
        results, above = [], None
        for feature, inner, layer in reversed(list(zip(features, self.inner_blocks, self.layer_blocks))):
            here = inner(feature)
            above = here if above is None else here + F.interpolate(above, size=here.shape[-2:], mode="nearest")
            results.insert(0, layer(above))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, features, names)
        return collections.OrderedDict(zip(names, results))


class LastLevelMaxPool(ExtraFPNBlock):
    """One more level, of every other pixel of the last, called "pool"."""

    def forward(self, results, x, names):
        return [*results, F.max_pool2d(results[-1], 1, 2, 0)], [*names, "pool"]


class LastLevelP6P7(ExtraFPNBlock):
    """Two more levels by convolutions, of the last result or, where `in_channels` are others, of the last features."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.p6 = Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7 = Conv2d(out_channels, out_channels, 3, 2, 1)
        for module in (self.p6, self.p7):
            init.kaiming_uniform_(module.weight, a=1)
            init.constant_(module.bias, 0)
        self.use_P5 = in_channels == out_channels

    def forward(self, results, x, names):
        sixth = self.p6(results[-1] if self.use_P5 else x[-1])
        return [*results, sixth, self.p7(F.relu(sixth))], [*names, "p6", "p7"]
