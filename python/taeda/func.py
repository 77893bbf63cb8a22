"""torch.func: derivatives as functions of functions."""

from . import _C, autograd
from ._vmap import flatten, vmap
from .nn.utils.stateless import functional_call as _functional_call

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
           "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap"]


def _watched(value, leaves):
    """`value` with tensors in the place of its own that remember what is computed of them; they are appended to `leaves`."""
    found = []
    build = flatten(value, found)
    fresh = [x * 1 if x.requires_grad else x.detach().requires_grad_() for x in found]
    leaves += fresh
    return build(iter(fresh))


def _like(value, leaves):
    return flatten(value, [])(iter(leaves))


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's scalar result by the arguments `argnums`, and the result."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def wrapped(*args, **kwargs):
        args = list(args)
        leaves = []
        recorded = _any_recorded(args, kwargs)
        with autograd.enable_grad():
            for n in numbers:
                args[n] = _watched(args[n], leaves)
            out = func(*args, **kwargs)
            value, aux = out if has_aux else (out, None)
            if not isinstance(value, _C.TensorBase):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got {type(value)}")
            if value.dim() != 0:
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                                   f"{value.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
            found = autograd.grad(value, leaves, create_graph=recorded, allow_unused=True, materialize_grads=True)
        rest = iter(found)
        grads = tuple(_like(args[n], rest) for n in numbers)
        grads = grads[0] if isinstance(argnums, int) else grads
        value = value if recorded else value.detach()
        return (grads, (value, aux)) if has_aux else (grads, value)
    return wrapped


def _any_recorded(args, kwargs):
    """Whether a derivative of the derivative may be asked for: it is being recorded, and an argument is part of a graph."""
    leaves = []
    flatten((args, kwargs), leaves)
    return _C.is_grad_enabled() and any(isinstance(x, _C.TensorBase) and x.requires_grad for x in leaves)


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's scalar result by the arguments `argnums`."""
    both = grad_and_value(func, argnums, has_aux)

    def wrapped(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads
    return wrapped


def _rows(out, xs, recorded):
    """The derivatives of each element of `out` by each of `xs`, as tensors of shape out + x."""
    if not out.requires_grad or not out.numel():
        return [_C.zeros(tuple(out.shape) + tuple(x.shape), dtype=x.dtype) for x in xs]
    rows = [autograd.grad(each, xs, retain_graph=True, create_graph=recorded, allow_unused=True, materialize_grads=True)
            for each in out.reshape(-1)]
    return [_C.stack(list(part)).reshape(tuple(out.shape) + tuple(x.shape)) for part, x in zip(zip(*rows), xs)]


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """A function that gives the Jacobian of func by the arguments `argnums`, one for each pair of leaves."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def wrapped(*args, **kwargs):
        args = list(args)
        recorded = _any_recorded(args, kwargs)
        xs = []
        with autograd.enable_grad():
            for n in numbers:
                args[n] = _watched(args[n], xs)
            out = func(*args, **kwargs)
            out, aux = out if has_aux else (out, None)
            ys = []
            build = flatten(out, ys)
            parts = []
            for y in ys:
                rest = iter(_rows(y, xs, recorded))
                each = tuple(_like(args[n], rest) for n in numbers)
                parts.append(each[0] if isinstance(argnums, int) else each)
        found = build(iter(parts))
        return (found, aux) if has_aux else found
    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """What jacrev gives, column by column: a derivative in the direction of each element of the arguments `argnums`."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def wrapped(*args, **kwargs):
        def chosen(*some):
            given = list(args)
            for n, value in zip(numbers, some):
                given[n] = value
            return func(*given, **kwargs)
        primals = tuple(args[n] for n in numbers)
        xs = []
        flatten(primals, xs)
        columns, found = [], None  # for each leaf of the arguments, the leaves of the result's derivative by it
        for at, x in enumerate(xs):
            derived = []
            for i in range(x.numel()):
                tangents = [_C.zeros_like(y) for y in xs]
                tangents[at].view(-1)[i] = 1
                found = jvp(chosen, primals, _like(primals, iter(tangents)), has_aux=has_aux)
                leaves = []
                flatten(found[1], leaves)
                derived.append(leaves)
            columns.append([_C.stack(list(each), -1).reshape(*each[0].shape, *x.shape) for each in zip(*derived)])
        if found is None or not all(columns):  # nothing to move along
            return jacrev(func, argnums, has_aux=has_aux)(*args, **kwargs)
        parts = []
        for each in zip(*columns):
            by_argument = _like(primals, iter(each))
            parts.append(by_argument[0] if isinstance(argnums, int) else by_argument)
        made = _like(found[0], iter(parts))
        return (made, found[2]) if has_aux else made
    return wrapped


def linearize(func, *primals):
    """func(*primals), and a function from tangents to its derivative in their direction there."""
    result = func(*primals)

    def derivative(*tangents):
        return jvp(func, primals, tangents)[1]
    return result, derivative


def replace_all_batch_norm_modules_(root):
    """Lets batch normalization in a module keep no running statistics, which vmap cannot change; gives the module."""
    from .nn.modules.batchnorm import _BatchNorm
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def hessian(func, argnums=0):
    """A function that gives the second derivatives of func's scalar result."""
    def first(*args, **kwargs):
        return jacrev(func, argnums)(*args, **kwargs)
    return jacrev(first, argnums)


def vjp(func, *primals, has_aux=False):
    """func(*primals), and a function from a cotangent to the gradients by the primals."""
    xs = []
    with autograd.enable_grad():
        out = func(*_watched(primals, xs))
    out, aux = out if has_aux else (out, None)
    ys = []
    build = flatten(out, ys)

    def pull(*cotangents, retain_graph=True, create_graph=None):
        weights = []
        flatten(cotangents, weights)
        graph = _any_recorded((primals, weights), {}) if create_graph is None else create_graph
        pairs = [(y, w) for y, w in zip(ys, weights) if y.requires_grad]
        found = autograd.grad([y for y, _ in pairs], xs, [w for _, w in pairs], retain_graph=retain_graph, create_graph=graph,
                              allow_unused=True, materialize_grads=True) if pairs else map(_C.zeros_like, xs)
        return _like(primals, iter(found))
    result = out if _any_recorded(primals, {}) else build(iter([y.detach() for y in ys]))
    return (result, pull, aux) if has_aux else (result, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """func(*primals), and its derivative in the direction of the tangents, by a gradient of a gradient."""
    xs, directions, ys = [], [], []
    flatten(tangents, directions)
    recorded = _any_recorded((primals, tangents), {})
    with autograd.enable_grad():
        out = func(*_watched(primals, xs))
        out, aux = out if has_aux else (out, None)
        build = flatten(out, ys)
        moving = [y for y in ys if y.requires_grad]  # the others depend on nothing here
        weights = [_C.zeros_like(y).requires_grad_() for y in moving]
        first = autograd.grad(moving, xs, weights, create_graph=True, allow_unused=True,
                              materialize_grads=True) if moving else []
        pairs = [(f, d) for f, d in zip(first, directions) if f.requires_grad]
        found = iter(autograd.grad([f for f, _ in pairs], weights, [d for _, d in pairs], create_graph=recorded,
                                   allow_unused=True, materialize_grads=True) if pairs else map(_C.zeros_like, moving))
        found = [next(found) if y.requires_grad else _C.zeros_like(y) for y in ys]
    result = out if recorded else build(iter([y.detach() for y in ys]))
    derived = _like(out, iter(found))
    return (result, derived, aux) if has_aux else (result, derived)


def stack_module_state(models):
    """Parameters and buffers of models of one class, each stacked along a new first dimension, for vmap over them."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if len({m.training for m in models}) != 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")

    def stacked(tables):
        return {name: _C.stack([t[name].detach() for t in tables]).requires_grad_(each.requires_grad)
                for name, each in tables[0].items()}
    return stacked([dict(m.named_parameters()) for m in models]), stacked([dict(m.named_buffers()) for m in models])


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with other tensors in the place of its parameters and buffers, of one dict or of several."""
    dicts = parameter_and_buffer_dicts
    dicts = dicts if isinstance(dicts, (list, tuple)) else [dicts]
    wrong = next((each for each in dicts if not isinstance(each, dict)), None)
    if wrong is not None:
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
                         f"{type(parameter_and_buffer_dicts)}")
    names = [name for each in dicts for name in each]
    if len(set(names)) != len(names):
        raise ValueError(f"{sorted({n for n in names if names.count(n) > 1})} appeared in multiple dictionaries; behavior of "
                         "functional call is ambiguous")
    return _functional_call(module, {name: tensor for each in dicts for name, tensor in each.items()}, args, kwargs,
                            tie_weights=tie_weights, strict=strict)
