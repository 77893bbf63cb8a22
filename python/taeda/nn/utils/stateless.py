"""Calls of modules with other tensors in the places of their own."""

import contextlib

from ... import _C
from ..._core.warnings import deprecated

_MISSING = object()

@contextlib.contextmanager
def _swapped(module, tensors):
    before = []
    try:
        for name, tensor in tensors.items():
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            for registry in (owner._parameters, owner._buffers):
                if last in registry:
                    before.append((registry, last, registry[last]))
                    registry[last] = tensor
                    break
            else:  # a name that the module has not is an attribute for the call
                own = vars(owner)
                if last in own and not isinstance(own[last], _C.TensorBase):
                    raise TypeError(f"{own[last]} is not an instance of torch.Tensor")
                before.append((own, last, own.get(last, _MISSING)))
                own[last] = tensor
        yield
    finally:
        for registry, name, tensor in reversed(before):
            if tensor is _MISSING:
                del registry[name]
            else:
                registry[name] = tensor


def call_with(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the tensors of a dict, or of several, in the places of those of the same names."""
    if isinstance(parameters_and_buffers, (list, tuple)):
        parameters_and_buffers = {k: v for each in parameters_and_buffers for k, v in each.items()}
    given = dict(parameters_and_buffers)
    named = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    if strict:
        missing, unexpected = set(named) - set(given), set(given) - set(named)
        if missing or unexpected:
            found = [f"\n\t{what} key(s): {', '.join(map(repr, sorted(names)))}."
                     for what, names in (("Unexpected", unexpected), ("Missing", missing)) if names]
            raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:" + "".join(found))
    for tensor in given.values():
        if not isinstance(tensor, _C.TensorBase):
            raise TypeError(f"{tensor!r} is not an instance of torch.Tensor")
    if tie_weights:
        places = {id(named[name]): tensor for name, tensor in given.items() if name in named}
        given |= {name: places[id(t)] for name, t in named.items() if id(t) in places and name not in given}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(module, given):
        return module(*args, **(kwargs or {}))


@deprecated("`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
            "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.")
def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """torch.func.functional_call, by its former name; shapes as there.

    >>> layer = nn.Linear(2, 1, bias=False)
    >>> nn.utils.stateless.functional_call(layer, {"weight": torch.tensor([[1.0, 2.0]])}, (torch.ones(2),))
    tensor([3.])
    """
    return call_with(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
