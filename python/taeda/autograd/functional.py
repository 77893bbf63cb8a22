"""Jacobians, Hessians and products with them."""

from .. import _C
from .modes import enable_grad
from .passes import grad_of_recorded

_STRICT = "This is not allowed in strict mode"


def _listed(value, what, name):
    """Whether there is one tensor, and a tuple of them."""
    if isinstance(value, _C.TensorBase):
        return True, (value,)
    if not isinstance(value, tuple):
        raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the given {what} has "
                        f"type {type(value)}.")
    for i, x in enumerate(value):
        if not isinstance(x, _C.TensorBase):
            raise TypeError(f"If a tuple, the {what} given to {name} must contain only Tensors but the value at index {i} has "
                            f"type {type(x)}.")
    return False, value


def _prepared(inputs, create_graph, name):
    single, listed = _listed(inputs, "inputs", name)
    return single, tuple((x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()) for x in listed)


def _outputs(func, inputs, strict, name):
    single, ys = _listed(func(*inputs), "outputs of the user-provided function", name)
    for i, y in enumerate(ys):
        if strict and not y.requires_grad:
            raise RuntimeError(f"Output {i} of the user-provided function does not require gradients. The outputs must be "
                               "computed in a differentiable manner from the input when running in strict mode.")
    return single, ys


def _scalar_output(func, inputs, strict, name):
    single, ys = _outputs(func, inputs, strict, name)
    if not single:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if ys[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return ys


def _vector(v, like, single, name, alone):
    """The given v as a tuple; ones for a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {alone} a single Tensor with a single element.")
        return tuple(_C.ones_like(x) for x in like)
    _, listed = _listed(v, "v", name)
    if len(listed) != len(like):
        raise RuntimeError("The given v should contain a single Tensor." if single else
                           f"v is a tuple of invalid length: should be {len(like)} but got {len(listed)}.")
    for i, (x, y) in enumerate(zip(listed, like)):
        if x.shape != y.shape:
            at = "" if single else f"Entry {i} in "
            raise RuntimeError(f"{at}v has invalid size: should be {y.shape} but got {x.shape}.")
    return listed


def _by(ys, xs, weights, create_graph):
    return grad_of_recorded(ys, xs, weights, create_graph, retain_graph=True)


def _filled(found, xs, strict, create_graph, what, whole):
    """`found` with zeros for None; where `strict` is asked for, neither those nor what is constant are taken.

    `what` does not depend on an input whose gradient is None; `whole` is what `found` is of.
    """
    for j, g in enumerate(found if strict else ()):
        if g is None:
            raise RuntimeError(f"{what} of the user-provided function is independent of input {j}. {_STRICT}.")
        if create_graph and not g.requires_grad:
            raise RuntimeError(f"The {whole} of the user-provided function is independent of input {j}. {_STRICT} when "
                               "create_graph=True.")
    return tuple(_C.zeros_like(x) if g is None else g for g, x in zip(found, xs))


def _moving(first, strict):
    for j, g in enumerate(first):
        if strict and not g.requires_grad:
            raise RuntimeError("While computing the hessian, found that the jacobian of the user-provided function with "
                               f"respect to input {j} is independent of the input. {_STRICT}. The function must be twice "
                               "differentiable, and its jacobian depend on the inputs: that of a linear one does not.")
    return first


def _given(outputs, single, create_graph):
    """Outputs as the caller gets them: part of a graph only where one was asked for."""
    outputs = tuple(outputs) if create_graph else tuple(y.detach() for y in outputs)
    return outputs[0] if single else outputs


def _check_strategy(strict, vectorize, strategy, name):
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
                                  "`vectorize=True`.")
    if strict and vectorize:
        raise RuntimeError(f"torch.autograd.functional.{name}: `strict=True` and `vectorized=True` are not supported together. "
                           "Please either set `strict=False` or `vectorize=False`.")


def _rows(ys, xs, create_graph, strict):
    """For each output its derivatives by each input."""
    rows = []
    for i, y in enumerate(ys):
        parts = [[] for _ in xs]
        for each in y.reshape(-1):
            found = _filled(_by([each], xs, [None], create_graph), xs, strict, create_graph, f"Output {i}", "jacobian")
            for part, g in zip(parts, found):
                part.append(g)
        rows.append(tuple(_C.stack(part).reshape(tuple(y.shape) + tuple(x.shape)) if part
                          else x.new_zeros(tuple(y.shape) + tuple(x.shape)) for part, x in zip(parts, xs)))
    return rows


@enable_grad()
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivative of every output by every input.

    func: of tensors to a tensor or a tuple of them
    inputs: a tensor or a tuple of them
    create_graph: whether the result may be differentiated again; False unless given
    strict: whether an output that does not depend on an input is a RuntimeError and not zeros; False unless given
    vectorize: is taken
    strategy: "reverse-mode" (unless given) or "forward-mode", which needs vectorize

    Shapes: for an output [*o] and an input [*i], [*o, *i]; tuples where there are several.

    >>> torch.autograd.functional.jacobian(lambda x: x ** 2, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    _check_strategy(strict, vectorize, strategy, "jacobian")
    single_in, xs = _prepared(inputs, create_graph, "jacobian")
    single_out, ys = _outputs(func, xs, strict, "jacobian")
    rows = [row[0] if single_in else row for row in _rows(ys, xs, create_graph, strict)]
    return rows[0] if single_out else tuple(rows)


@enable_grad()
def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function with one output element.

    inputs, create_graph, strict, vectorize: as jacobian's
    outer_jacobian_strategy: as jacobian's strategy

    Shapes: for an input [*i], [*i, *i]; tuples of tuples where there are several. An output of several elements is a
    RuntimeError.

    >>> torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    _check_strategy(strict, vectorize, outer_jacobian_strategy, "hessian")
    single, xs = _prepared(inputs, create_graph, "hessian")
    ys = _scalar_output(func, xs, strict, "hessian")
    first = _by([y.sum() for y in ys], xs, [None], True)
    first = _moving([_C.zeros_like(x) if g is None else g for g, x in zip(first, xs)], strict)
    rows = _rows(first, xs, create_graph, strict)
    return rows[0][0] if single else tuple(rows)


@enable_grad()
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs, and v times the Jacobian.

    v: the outputs' shapes; may be left out for an output of one element, else RuntimeError
    inputs, create_graph, strict: as jacobian's

    Shapes: products have the inputs'.

    >>> torch.autograd.functional.vjp(lambda x: x ** 2, torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    single, xs = _prepared(inputs, create_graph, "vjp")
    single_out, ys = _outputs(func, xs, strict, "vjp")
    vs = _vector(v, ys, single_out, "vjp", "the user-provided function returns")
    found = _filled(_by(ys, xs, vs, create_graph), xs, strict, create_graph, "The output", "jacobian")
    return _given(ys, single_out, create_graph), _given(found, single, create_graph)


@enable_grad()
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs, and the Jacobian times v.

    v: the inputs' shapes; may be left out for an input of one element, else RuntimeError
    inputs, create_graph, strict: as jacobian's

    Shapes: products have the outputs'.

    >>> torch.autograd.functional.jvp(lambda x: x ** 2, torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    single, xs = _prepared(inputs, create_graph, "jvp")
    vs = _vector(v, xs, single, "jvp", "the input to the user-provided function is")
    single_out, ys = _outputs(func, xs, strict, "jvp")
    weights = [_C.zeros_like(y).requires_grad_() for y in ys]
    first = _filled(_by(ys, xs, weights, True), xs, strict, False, "The output", "jacobian")
    found = _filled(_by(first, weights, vs, create_graph), ys, strict, create_graph, "The jacobian", "jacobian")
    return _given(ys, single_out, create_graph), _given(found, single_out, create_graph)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, of one element, and v times the Hessian.

    v: the inputs' shapes
    inputs, create_graph, strict: as jacobian's

    Shapes: products have the inputs'.

    >>> torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product(func, inputs, v, create_graph, strict, "vhp")


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, of one element, and the Hessian times v.

    v: the inputs' shapes
    inputs, create_graph, strict: as jacobian's

    Shapes: products have the inputs'.

    >>> torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product(func, inputs, v, create_graph, strict, "hvp")


@enable_grad()
def _hessian_product(func, inputs, v, create_graph, strict, name):
    single, xs = _prepared(inputs, create_graph, name)
    vs = _vector(v, xs, single, name, "the input to the user-provided function is")
    ys = _scalar_output(func, xs, strict, name)
    first = _moving(_filled(_by(ys, xs, [None], True), xs, strict, False, "The output", "jacobian"), strict)
    found = _filled(_by(first, xs, vs, create_graph), xs, strict, create_graph, "The hessian", "hessian")
    return _given(ys, True, create_graph), _given(found, single, create_graph)
