"""What models on other models share."""

import collections

from ... import nn
from .mobilenet import _rounded


def _make_divisible(v, divisor, min_value=None):
    """The nearest multiple of `divisor` that is not smaller by more than a tenth, nor than `min_value`."""
    made = _rounded(v, divisor)
    return made if min_value is None else max(made, min_value)


class IntermediateLayerGetter(nn.ModuleDict):
    """The children of a model up to the last that `return_layers` names; it gives a dict of what these children give, under the
    names that `return_layers` maps theirs to."""

    _version = 2

    def __init__(self, model, return_layers):
        wanted = {str(k): str(v) for k, v in return_layers.items()}
        children = collections.OrderedDict(model.named_children())
        if not wanted.keys() <= children.keys():
            raise ValueError("return_layers are not present in model")
        names = list(children)
        last = max((names.index(name) for name in wanted), default=0)
        super().__init__(collections.OrderedDict((name, children[name]) for name in names[:last + 1]))
        self.return_layers = return_layers

    def forward(self, x):
        out = collections.OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out


def stages_of(features):
    """The numbers of the layers behind which a MobileNet has another size: the first, those before the strides, the last."""
    return [0] + [i for i, layer in enumerate(features) if getattr(layer, "_is_cn", False)] + [len(features) - 1]
