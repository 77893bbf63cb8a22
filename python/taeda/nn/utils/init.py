"""Modules made without drawing their first values."""

import inspect


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters hold whatever the memory held: no time is spent on first values.

    module_cls: a class of modules that takes `device`, else RuntimeError; args, kwargs: its arguments

    Shapes: the module's.

    >>> nn.utils.skip_init(nn.Linear, 3, 2).weight.shape
    torch.Size([2, 3])
    """
    from ..modules.module import Module
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
