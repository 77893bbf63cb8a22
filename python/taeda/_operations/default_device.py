"""The device on which functions make tensors that name none: of the process, or within `with torch.device(...)`.

While there is one, the functions below are replaced by others that name it; else nothing is paid for the choice."""

import functools
import sys

from .. import _C
from . import create

_NAMES = ("arange", "bartlett_window", "blackman_window", "empty", "empty_strided", "eye", "fftfreq", "full", "hamming_window",
          "hann_window", "kaiser_window", "linspace", "logspace", "ones", "rand", "randint", "randn", "randperm", "range",
          "rfftfreq", "tril_indices", "triu_indices", "zeros")
_found = {}  # original functions by (module, name)
_before = []  # what to go back to, for each block that was entered


def _naming(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        if kwargs.get("device") is None and kwargs.get("out") is None:
            kwargs["device"] = create._default_device
        return function(*args, **kwargs)
    return wrapped


def _replace():
    package = sys.modules["taeda"]
    for name in _NAMES:
        original = getattr(_C, name, None)
        if original is None:
            continue
        wrapped = _naming(original)
        for module in (package, _C):
            if module.__dict__.get(name) is original:
                _found[module, name] = original
                setattr(module, name, wrapped)


def set_default_device(device):
    """Where functions like torch.ones make tensors that name no device.

    device: a device or its name, a text; None for the CPU

    >>> torch.set_default_device("meta")
    >>> torch.ones(2).device
    device(type='meta')
    >>> torch.set_default_device(None)
    """
    device = None if device is None else _C.device(device)
    create._default_device = device
    if device is None:
        for (module, name), original in _found.items():
            setattr(module, name, original)
        _found.clear()
    elif not _found:
        _replace()


def get_default_device():
    """Where functions like torch.ones make tensors that name no device. Takes no arguments.

    >>> torch.get_default_device()
    device(type='cpu')
    """
    return create._default_device or _C.device("cpu")


def _enter(self):
    _before.append(create._default_device)
    set_default_device(self)
    return self


def _leave(self, *error):
    set_default_device(_before.pop())


_C.device.__enter__ = _enter
_C.device.__exit__ = _leave
