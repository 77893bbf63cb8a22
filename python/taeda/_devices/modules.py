"""The modules of device types: torch.cpu, torch.cuda and the like."""

import taeda

from .. import _C
from ..accelerator import current_accelerator


def get_device_module(device=None):
    """torch.cpu, torch.cuda and the like. The argument is a device or its name, by default that of the accelerator, if there is
    one.

    >>> torch.get_device_module("cpu").__name__.endswith(".cpu")
    True
    """
    if device is None:
        found = current_accelerator()
        name = "cpu" if found is None else found.type
    else:
        name = _C.device(device).type if not isinstance(device, _C.device) else device.type
    module = getattr(taeda, name, None)
    if module is None:
        raise RuntimeError(f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'.")
    return module


def _get_available_device_type():
    """The type of the accelerator, None where there is none."""
    found = current_accelerator()
    return found and found.type


def _get_device_module(device_type):
    """torch.cuda for "cuda", and so on."""
    return get_device_module(device_type)
