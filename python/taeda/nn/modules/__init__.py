"""The modules of torch.nn."""

import importlib as _importlib

from .module import Module

_FAMILIES = ("activation", "adaptive", "batchnorm", "channelshuffle", "container", "conv", "distance", "dropout", "flatten",
             "fold", "instancenorm", "linear", "loss", "normalization", "padding", "pixelshuffle", "pooling", "rnn", "sparse",
             "transformer", "upsampling")

for _family in _FAMILIES:
    _found = _importlib.import_module("." + _family, __name__)
    globals().update({_name: _value for _name, _value in vars(_found).items() if isinstance(_value, type)
                      and issubclass(_value, Module) and _value.__module__.endswith("." + _family) and _name[0] != "_"})

__all__ = sorted(_name for _name, _value in list(globals().items()) if isinstance(_value, type) and issubclass(_value, Module))
