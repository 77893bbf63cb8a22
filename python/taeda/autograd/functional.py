"""Jacobians, Hessians and products with them."""

from .. import _C
from .passes import grad


def _prepared(inputs, create_graph):
    single = isinstance(inputs, _C.TensorBase)
    listed = (inputs,) if single else tuple(inputs)
    made = tuple((x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()) for x in listed)
    return single, made


def _outputs(func, inputs):
    out = func(*inputs)
    single = isinstance(out, _C.TensorBase)
    if not single and not (isinstance(out, tuple) and all(isinstance(y, _C.TensorBase) for y in out)):
        raise TypeError("The outputs of the user-provided function must be either a Tensor or a tuple of Tensors, but it gave "
                        f"an object of type {type(out)}")
    return single, (out,) if single else tuple(out)


def _given(outputs, single, create_graph):
    """Outputs as the caller gets them: part of a graph only where one was asked for."""
    outputs = outputs if create_graph else tuple(y.detach() for y in outputs)
    return outputs[0] if single else outputs


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivative of every output by every input, of shape output + input."""
    single_in, xs = _prepared(inputs, create_graph)
    single_out, ys = _outputs(func, xs)
    rows = []
    for y in ys:
        parts = [[] for _ in xs]
        for j in range(y.numel()):
            found = grad(y.reshape(-1)[j], xs, retain_graph=True, create_graph=create_graph,
                         allow_unused=True) if y.requires_grad else [None] * len(xs)
            for part, g, x in zip(parts, found, xs):
                part.append(_C.zeros_like(x) if g is None else g)
        rows.append(tuple(_C.stack(part).reshape(tuple(y.shape) + tuple(x.shape)) for part, x in zip(parts, xs)))
    rows = [row[0] if single_in else row for row in rows]
    return rows[0] if single_out else tuple(rows)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function with one output element."""
    single, _ = _prepared(inputs, create_graph)

    def first(*xs):
        ys = _outputs(func, xs)[1]
        if len(ys) != 1 or ys[0].numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        return tuple(grad(ys[0].sum(), xs, create_graph=True, allow_unused=True, materialize_grads=True))
    found = jacobian(first, inputs, create_graph=create_graph)
    return found[0] if single else found


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs, and v times the Jacobian."""
    single, xs = _prepared(inputs, create_graph)
    single_out, ys = _outputs(func, xs)
    weights = None if v is None else ([v] if isinstance(v, _C.TensorBase) else list(v))
    found = grad(ys, xs, weights, create_graph=create_graph, allow_unused=True, materialize_grads=True)
    return _given(ys, single_out, create_graph), found[0] if single else found


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs, and the Jacobian times v, by a gradient of a gradient."""
    single, xs = _prepared(inputs, create_graph)
    single_out, ys = _outputs(func, xs)
    vs = [_C.ones_like(x) for x in xs] if v is None else ([v] if isinstance(v, _C.TensorBase) else list(v))
    weights = [_C.zeros_like(y).requires_grad_() for y in ys]
    first = grad(ys, xs, weights, create_graph=True, allow_unused=True, materialize_grads=True)
    found = grad(first, weights, vs, create_graph=create_graph, allow_unused=True, materialize_grads=True)
    return _given(ys, single_out, create_graph), found[0] if single_out else found


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and v times the Hessian."""
    return hvp(func, inputs, v, create_graph, strict)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and the Hessian times v."""
    single, xs = _prepared(inputs, create_graph)
    ys = _outputs(func, xs)[1]
    vs = [_C.ones_like(x) for x in xs] if v is None else ([v] if isinstance(v, _C.TensorBase) else list(v))
    first = grad(ys, xs, create_graph=True, allow_unused=True, materialize_grads=True)
    found = grad(first, xs, vs, create_graph=create_graph, allow_unused=True, materialize_grads=True)
    return _given(ys, True, create_graph), found[0] if single else found
