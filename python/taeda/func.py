"""torch.func: derivatives as functions of functions."""

from . import _C, _trees, autograd
from .functional import vmap

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "stack_module_state", "vmap", "functional_call",
           "vjp"]


def _fresh(tensor):
    return tensor.detach().requires_grad_() if not tensor.requires_grad else tensor * 1


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's scalar result by the arguments `argnums`, and the result.

    An argument may be a tensor, or a dictionary, list or tuple of them; its gradient has its structure.
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def wrapped(*args, **kwargs):
        args = list(args)
        with autograd.enable_grad():
            for n in numbers:
                args[n] = _trees.mapped(_fresh, args[n])
            out = func(*args, **kwargs)
            value, aux = out if has_aux else (out, None)
            wanted = tuple(args[n] for n in numbers)
            found = autograd.grad(value, _trees.leaves(wanted), create_graph=value.grad_fn is not None, allow_unused=True,
                                  materialize_grads=True) if value.requires_grad else map(_C.zeros_like, _trees.leaves(wanted))
        grads = _trees.like(wanted, iter(found))
        grads = grads[0] if isinstance(argnums, int) else grads
        return (grads, (value, aux)) if has_aux else (grads, value)
    return wrapped


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's scalar result by the arguments `argnums`."""
    both = grad_and_value(func, argnums, has_aux)

    def wrapped(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads
    return wrapped


def jacrev(func, argnums=0):
    """A function that gives the Jacobian of func by one argument."""
    def wrapped(*args):
        def alone(x):
            return func(*args[:argnums], x, *args[argnums + 1:])
        return autograd.functional.jacobian(alone, args[argnums])
    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """jacrev under another name: derivatives are computed backwards here."""
    if has_aux:
        raise NotImplementedError("Taeda's jacfwd has no has_aux")
    return jacrev(func, argnums)


def hessian(func, argnums=0):
    """A function that gives the second derivatives of func by one argument."""
    def wrapped(*args):
        def alone(x):
            return func(*args[:argnums], x, *args[argnums + 1:])
        return jacrev(lambda x: autograd.functional.jacobian(alone, x, create_graph=True))(args[argnums])
    return wrapped


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """func(*primals), and its derivative along the tangents."""
    if has_aux:
        raise NotImplementedError("Taeda's jvp has no has_aux")
    return autograd.functional.jvp(func, tuple(primals), tuple(tangents))


def stack_module_state(models):
    """Two dictionaries, of parameters and of buffers, each tensor those of all models one above the other."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    with autograd.no_grad():
        params, buffers = ({name: _C.stack([table[name] for table in tables]) for name in tables[0]}
                           for tables in ([dict(m.named_parameters()) for m in models],
                                          [dict(m.named_buffers()) for m in models]))
    return {name: stacked.requires_grad_() for name, stacked in params.items()}, buffers


def vjp(func, *primals):
    """func(*primals), and a function from a cotangent to the gradients by the primals."""
    inputs = [p.detach().requires_grad_() for p in primals]
    out = func(*inputs)

    def pull(cotangent, retain_graph=True):
        return autograd.grad(out, inputs, cotangent, retain_graph=retain_graph, allow_unused=True)
    return out, pull


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None):
    """module(*args, **kwargs) with other tensors in the place of its parameters and buffers."""
    dicts = parameter_and_buffer_dicts
    dicts = dicts if isinstance(dicts, (list, tuple)) else [dicts]
    given = {name: tensor for each in dicts for name, tensor in each.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    changed = []
    try:
        for name, tensor in given.items():
            owner_name, _, last = name.rpartition(".")
            owner = module.get_submodule(owner_name)
            table = owner._parameters if last in owner._parameters else owner._buffers
            changed.append((table, last, table[last]))
            table[last] = tensor
        return module(*args, **(kwargs or {}))
    finally:
        for table, last, before in reversed(changed):
            table[last] = before


def __getattr__(name):
    from ._missing import attribute
    return attribute(__name__, name)
