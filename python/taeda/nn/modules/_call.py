"""A call of a module that has hooks, or of any while all have."""

import itertools

from ... import _C
from ...autograd import graph
from . import _hooks


def _pre_hooks(module):
    own_kwargs = module._forward_pre_hooks_with_kwargs
    for number, hook in list(_hooks.forward_pre.calls.items()):
        yield hook, number in _hooks.forward_pre.with_kwargs
    for number, hook in list(module._forward_pre_hooks.items()):
        yield hook, number in own_kwargs


def _before(module, args, kwargs):
    for hook, with_kwargs in _pre_hooks(module):
        if with_kwargs:
            replaced = hook(module, args, kwargs)
            if replaced is None:
                continue
            if not (isinstance(replaced, tuple) and len(replaced) == 2):
                raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                                   f"{replaced}.")
            args, kwargs = replaced
        else:
            replaced = hook(module, args)
            if replaced is not None:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
    return args, kwargs


def _after_hooks(module):
    """(hook, with_kwargs, always_call) in the order of calls."""
    for number, hook in list(_hooks.forward.calls.items()):
        yield hook, number in _hooks.forward.with_kwargs, number in _hooks.forward.always
    for number, hook in list(module._forward_hooks.items()):
        yield hook, number in module._forward_hooks_with_kwargs, number in module._forward_hooks_always_called


def _legacy_backward(module, hooks, output):
    """Has hooks called behind the operation that made the output."""
    tensor = output
    while not isinstance(tensor, _C.TensorBase):
        tensor = next(v for v in tensor.values() if isinstance(v, _C.TensorBase)) if isinstance(tensor, dict) else tensor[0]
    if tensor.grad_fn is not None:
        for hook in hooks:
            graph.register_hook(tensor.grad_fn, lambda grad_in, grad_out, hook=hook: hook(module, grad_in, grad_out))


def with_hooks(module, args, kwargs):
    """forward with the hooks of the module and those of all modules around it."""
    full, legacy = [], []
    (full if _hooks.backward_is_full else legacy).extend(_hooks.backward.calls.values())
    (full if module._is_full_backward_hook else legacy).extend(module._backward_hooks.values())
    before_backward = list(itertools.chain(_hooks.backward_pre.calls.values(), module._backward_pre_hooks.values()))
    output, called = None, set()
    try:
        args, kwargs = _before(module, args, kwargs)
        edge = _hooks.BackwardHooks(module, full, before_backward) if full or before_backward else None
        if edge:
            args = edge.around_inputs(args)
        output = module.forward(*args, **kwargs)
        for hook, with_kwargs, _ in _after_hooks(module):
            called.add(hook)
            replaced = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
            if replaced is not None:
                output = replaced
        if edge:
            output = edge.around_output(output)
        if legacy:
            _legacy_backward(module, legacy, output)
        return output
    except Exception:
        _always(module, args, kwargs, output, called)
        raise


def _always(module, args, kwargs, output, called):
    """Calls the hooks that are to run after an error, too, and have not."""
    for hook, with_kwargs, always in _after_hooks(module):
        if not always or hook in called:
            continue
        try:
            replaced = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
            output = output if replaced is None else replaced
        except Exception as error:
            import warnings
            warnings.warn("module forward hook with ``always_call=True`` raised an exception that was silenced as another "
                          f"error was raised in forward: {error}", stacklevel=2)
