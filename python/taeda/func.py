"""torch.func: derivatives as functions of functions."""

import itertools

from . import _C, autograd
from .autograd.level import Level
from ._core.pytree import tree_flatten, tree_leaves, tree_unflatten
from ._operations.vmap import vmap
from .autograd.passes import grad_of_recorded
from .nn.utils.stateless import call_with as _functional_call

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
           "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap"]


def _like(value, leaves):
    """The structure of a value with the next of other leaves, an iterator or a list."""
    structure = tree_flatten(value)[1]
    return tree_unflatten(itertools.islice(leaves, structure.num_leaves), structure)


def _numbers(argnums, args):
    """Which arguments are meant, as a tuple of numbers from 0 on."""
    if isinstance(argnums, int) and 0 <= argnums < len(args):
        return (argnums,)
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(numbers, tuple) or not all(isinstance(n, int) for n in numbers):
        raise RuntimeError(f"argnums should be int or tuple of ints, got: {argnums}")
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    numbers = tuple(n % len(args) for n in numbers)
    if len(set(numbers)) != len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {numbers}")
    return numbers


def _parted(out, has_aux, name):
    """A function's result and what it gave beside it."""
    if not has_aux:
        return out, None
    if not isinstance(out, tuple) or len(out) != 2:
        raise RuntimeError(f"{name}(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True")
    return out


def _by(outputs, xs, weights, create_graph, retain_graph=None):
    """Gradients of the outputs by each of `xs`: zeros where nothing depends on it."""
    found = grad_of_recorded(outputs, xs, weights, create_graph, retain_graph)
    return [_C.zeros_like(x) if g is None else g for x, g in zip(xs, found)]


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's scalar result by the arguments `argnums`, and the result.

    func: of tensors (or containers of them) to a scalar; with has_aux to a pair of that and anything
    argnums: an int (0 unless given) or a tuple of ints; a RuntimeError where there is no such argument
    has_aux: whether the second of the pair is given, too; False unless given

    Shapes: gradients have their argument's; a result that is no scalar is a RuntimeError.

    >>> torch.func.grad_and_value(lambda x: (x ** 2).sum())(torch.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """
    def wrapped(*args, **kwargs):
        args, leaves, level = list(args), [], Level()
        numbers = _numbers(argnums, args)
        with autograd.enable_grad():
            for n in numbers:
                args[n] = level.watch(args[n], leaves)
            value, aux = _parted(func(*args, **kwargs), has_aux, "grad_and_value")
            if not isinstance(value, _C.TensorBase):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(value)}")
            if value.dim() != 0:
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                                   f"{value.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
            create = level.recorded and level.reaches_outside([value])
            rest = iter(_by([value], leaves, [None], create))
        grads = tuple(_like(args[n], rest) for n in numbers)
        grads = grads[0] if isinstance(argnums, int) else grads
        if create or has_aux or not level.recorded:
            grads, value, aux = level.left((grads, value, aux))
        else:  # they have no history, and the value has none but the level's
            value = value.detach()
        return (grads, (value, aux)) if has_aux else (grads, value)
    return wrapped


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's scalar result by the arguments `argnums`.

    func: of tensors (or containers of them) to a scalar; with has_aux to a pair of that and anything
    argnums: an int (0 unless given) or a tuple of ints; a RuntimeError where there is no such argument
    has_aux: whether the second of the pair is given, too; False unless given

    Shapes: gradients have their argument's; a result that is no scalar is a RuntimeError.

    >>> torch.func.grad(torch.sin)(torch.tensor(0.0))
    tensor(1.)
    >>> torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    def wrapped(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads
    return wrapped


def _rows(out, xs, create_graph, chunk_size):
    """The derivatives of each element of `out` by each of `xs`, as tensors of shape out + x."""
    n = out.numel()
    if not out.requires_grad or not n:
        return [x.new_zeros(tuple(out.shape) + tuple(x.shape)) for x in xs]

    def row(weights):
        found = autograd.grad(out, xs, weights, retain_graph=True, create_graph=create_graph, allow_unused=True)
        return [_C.zeros_like(x) if g is None else g for g, x in zip(found, xs)]
    each = _C.eye(n, dtype=out.dtype, device=out.device).reshape((n, *out.shape))
    return [part.reshape(tuple(out.shape) + tuple(x.shape)) for part, x in zip(vmap(row, chunk_size=chunk_size)(each), xs)]


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """A function that gives the Jacobian of func by the arguments `argnums`, row by row: a gradient for each element of the
    result.

    func: of tensors (or containers of them) to tensors; with has_aux to a pair of that and anything
    argnums: an int (0 unless given) or a tuple of ints
    has_aux: whether the second of the pair is given, too; False unless given
    chunk_size: how many rows are computed at once; all unless given

    Shapes: for a result [*r] and an argument [*a], [*r, *a].

    >>> torch.func.jacrev(lambda x: x ** 2)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    def wrapped(*args, **kwargs):
        args, xs, level = list(args), [], Level()
        numbers = _numbers(argnums, args)
        with autograd.enable_grad():
            for n in numbers:
                args[n] = level.watch(args[n], xs)
            out, aux = _parted(func(*args, **kwargs), has_aux, "jacrev")
            ys, structure = tree_flatten(out)
            parts, outside = [], level.recorded and level.reaches_outside(ys)
            for y in ys:
                rest = iter(_rows(y, xs, outside, chunk_size))
                each = tuple(_like(args[n], rest) for n in numbers)
                parts.append(each[0] if isinstance(argnums, int) else each)
        found = tree_unflatten(parts, structure)
        if outside or has_aux:
            found, aux = level.left((found, aux))
        return (found, aux) if has_aux else found
    return wrapped


class _Pushed:
    """A function's result where it was called once, and its derivatives in any directions there.

    The derivative in a direction is found by a gradient of a gradient: that of weights w, for which the first is w J.
    """

    def __init__(self, func, primals, has_aux, name):
        self.level, self.xs = Level(), []
        with autograd.enable_grad():
            self.out, self.aux = _parted(func(*self.level.watch(primals, self.xs)), has_aux, name)
            self.ys = tree_leaves(self.out)
            self.moving = [y for y in self.ys if y.requires_grad]  # the others depend on nothing here
            self.weights = [_C.zeros_like(y).requires_grad_() for y in self.moving]
            self.first = autograd.grad(self.moving, self.xs, self.weights, create_graph=True,
                                       allow_unused=True) if self.moving and self.xs else []
        self.level.leaves += self.weights

    def along(self, directions):
        """The derivatives of the leaves of the result."""
        pairs = [(f, d) for f, d in zip(self.first, directions) if f is not None and f.requires_grad]
        with autograd.enable_grad():
            outside = self.level.recorded and self.level.reaches_outside(self.moving, [d for _, d in pairs])
            found = iter(_by([f for f, _ in pairs], self.weights, [d for _, d in pairs], outside, retain_graph=True))
        return [next(found) if y.requires_grad else _C.zeros_like(y) for y in self.ys]

    def result(self, derived, keep=False):
        """The result, its derivative and what came beside it, for the caller."""
        return self.level.left((self.out, _like(self.out, derived), self.aux), keep)


def _columns(pushed, at, x, randomness):
    """The derivatives of each leaf of the result by each element of x, which is leaf `at` of the arguments."""
    n = x.numel()
    if not n:
        return [y.new_zeros((0, *y.shape)) for y in pushed.ys]
    still = [_C.zeros_like(other) for other in pushed.xs]
    basis = _C.eye(n, dtype=x.dtype, device=x.device).reshape((n, *x.shape))
    return vmap(lambda d: pushed.along([*still[:at], d, *still[at + 1:]]), randomness=randomness)(basis)


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """What jacrev gives, by columns: derivatives in the directions of all elements of the arguments `argnums` at once.

    func, argnums, has_aux: as jacrev's
    randomness: what random operations are in the derivatives, as vmap's

    Shapes: for a result [*r] and an argument [*a], [*r, *a].

    >>> torch.func.jacfwd(lambda x: x.sum() * x)(torch.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """
    def wrapped(*args, **kwargs):
        numbers = _numbers(argnums, args)

        def chosen(*some):
            given = list(args)
            for n, value in zip(numbers, some):
                given[n] = value
            return func(*given, **kwargs)
        primals = tuple(args[n] for n in numbers)
        pushed = _Pushed(chosen, primals, has_aux, "jacfwd")
        parts = [[] for _ in pushed.ys]  # for each leaf of the result, its derivatives by the leaves of the arguments
        for at, x in enumerate(pushed.xs):
            columns = _columns(pushed, at, x, randomness)
            for k, y in enumerate(pushed.ys):
                parts[k].append(columns[k].movedim(0, -1).reshape((*y.shape, *x.shape)))
        by_argument = [_like(primals, iter(part)) for part in parts]
        _, found, aux = pushed.result([part[0] if isinstance(argnums, int) else part for part in by_argument])
        return (found, aux) if has_aux else found
    return wrapped


def linearize(func, *primals):
    """func(*primals), and a function from tangents to its derivative in their direction there.

    Shapes: tangents have their primal's, derivatives the result's.

    >>> value, derivative = torch.func.linearize(lambda x: x ** 2, torch.tensor([1.0, 3.0]))
    >>> derivative(torch.tensor([1.0, 1.0]))
    tensor([2., 6.])
    """
    pushed = _Pushed(func, primals, False, "linearize")
    result = pushed.level.left(pushed.out, keep=True)

    def derivative(*tangents):
        return pushed.result(pushed.along(tree_leaves(tangents)), keep=True)[1]
    return result, derivative


def replace_all_batch_norm_modules_(root):
    """Lets batch normalization in a module keep no running statistics, which vmap cannot change; gives the module.

    Shapes: the module's.

    >>> torch.func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(2)))[0].running_mean is None
    True
    """
    from .nn.modules.batchnorm import _BatchNorm
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def hessian(func, argnums=0):
    """A function that gives the second derivatives of func's scalar result by the arguments `argnums`.

    func: of tensors to a scalar
    argnums: an int (0 unless given) or a tuple of ints

    Shapes: for an argument [*a], [*a, *a].

    >>> torch.func.hessian(lambda x: (x ** 3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    def first(*args, **kwargs):
        return jacrev(func, argnums)(*args, **kwargs)
    return jacrev(first, argnums)


def _only_tensors(leaves, expected):
    for leaf in leaves:
        if not isinstance(leaf, _C.TensorBase):
            raise RuntimeError(f"{expected}, got unsupported type {type(leaf)}")


def vjp(func, *primals, has_aux=False):
    """func(*primals), and a function from a cotangent to the gradients by the primals: the cotangent times the Jacobian.

    func: of tensors (or containers of them) to tensors; with has_aux to a pair of that and anything
    has_aux: whether the second of the pair is given, too; False unless given

    Shapes: cotangents have the result's, gradients their primal's; a result that is no tensor is a RuntimeError.

    >>> value, pull = torch.func.vjp(torch.sin, torch.tensor([0.0]))
    >>> pull(torch.ones(1))
    (tensor([1.]),)
    """
    level, xs = Level(), []
    with autograd.enable_grad():
        out, aux = _parted(func(*level.watch(primals, xs)), has_aux, "vjp")
    ys = tree_leaves(out)
    _only_tensors(ys, "vjp(f, *primals): expected f(*primals) to return only tensors")

    def pull(*cotangents, retain_graph=True, create_graph=None):
        weights = tree_leaves(cotangents)
        graph = level.reaches_outside(ys, weights) if create_graph is None else create_graph
        found = _by(ys, xs, weights, graph, retain_graph)
        return level.left(_like(primals, found), keep=True) if graph else _like(primals, found)
    result, aux = level.left((out, aux), keep=True)
    return (result, pull, aux) if has_aux else (result, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """func(*primals), and its derivative in the direction of the tangents: the Jacobian times them.

    primals, tangents: tuples, else RuntimeError
    strict: is taken
    has_aux: whether func gives a pair of its result and anything, which is given, too; False unless given

    Shapes: tangents have their primal's, the derivative the result's.

    >>> torch.func.jvp(torch.sin, (torch.tensor([0.0]),), (torch.tensor([2.0]),))
    (tensor([0.]), tensor([2.]))
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple):
            raise RuntimeError(f"jvp(f, primals, tangents): Expected {name} to be a tuple. E.g. it should be valid to call "
                               "f(*primals).")
    pushed = _Pushed(func, primals, has_aux, "jvp")
    result, derived, aux = pushed.result(pushed.along(tree_leaves(tangents)))
    return (result, derived, aux) if has_aux else (result, derived)


def stack_module_state(models):
    """Parameters and buffers of models of one class, each stacked along a new first dimension, for vmap over them.

    Shapes: [*] of each of n models to [n, *]. No model, models of two classes or in two modes are a RuntimeError.

    >>> params, buffers = torch.func.stack_module_state([nn.Linear(3, 2) for _ in range(4)])
    >>> params["weight"].shape
    torch.Size([4, 2, 3])
    """
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
    """module(*args, **kwargs) with other tensors in the place of its parameters and buffers.

    parameter_and_buffer_dicts: a dict by dotted names, or several without a name in common, else ValueError
    args, kwargs: of the call; an args that is no tuple is the one argument
    tie_weights: whether what is one tensor in the module stays one; True unless given
    strict: whether there must be a tensor for every name and none else; False unless given

    Shapes: the tensors' are those of what they replace.

    >>> layer = nn.Linear(2, 1, bias=False)
    >>> torch.func.functional_call(layer, {"weight": torch.tensor([[1.0, 2.0]])}, (torch.ones(2),))
    tensor([3.])
    """
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
