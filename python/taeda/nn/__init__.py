"""torch.nn."""

from .._tensors.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from .modules import *  # noqa: F403
from . import attention, functional, grad, init, modules, utils
from .._tensors import parameter

from .modules import Module
from .parallel import DataParallel


def factory_kwargs(kwargs):
    """{"device": ..., "dtype": ..., "memory_format": ...} of what a module's constructor was given by name, as far as it was.
    TypeError for other names. What is in `factory_kwargs` of `kwargs` counts, too. The argument is a dict.

    >>> nn.factory_kwargs({"dtype": torch.float64})
    {'dtype': torch.float64}
    """
    if kwargs is None:
        return {}
    names = ("device", "dtype", "memory_format")
    if others := kwargs.keys() - {*names, "factory_kwargs"}:
        raise TypeError(f"unexpected kwargs {others}")
    made = dict(kwargs.get("factory_kwargs", {}))
    for name in names:
        if name in kwargs:
            if name in made:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            made[name] = kwargs[name]
    return made
