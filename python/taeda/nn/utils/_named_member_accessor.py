"""Tensors of modules by name, whether parameters, buffers or plain attributes."""

from ... import _C

_MISSING = object()


def swap_tensor(module, name, tensor, allow_missing=False):
    """Puts a tensor, which may be None, in the place of a module's own of that name, and gives that one back.

    KeyError for a name with dots or none; AttributeError where there is no such tensor, unless `allow_missing`; TypeError where
    something else is.
    """
    if "." in name or not name:
        raise KeyError(f'tensor name can\'t contain "." or be empty, got: {name!r}')
    if tensor is not None and not isinstance(tensor, _C.TensorBase):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    home = next((registry for registry in (module._parameters, module._buffers) if name in registry), vars(module))
    before = home.get(name, _MISSING)
    if before is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if before is not None and before is not _MISSING and not isinstance(before, _C.TensorBase):
        raise TypeError(f"{before} is not an instance of torch.Tensor")
    if tensor is not None or home is not vars(module):
        home[name] = tensor
    else:
        home.pop(name, None)
    return None if before is _MISSING else before
