"""backward and grad."""

from .. import _C
from .._core.warnings import warn


def _as_list(tensors):
    return [tensors] if tensors is None or isinstance(tensors, _C.TensorBase) else list(tensors)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Sums gradients of `tensors` into `grad` of the leaves.

    tensors: a tensor or several
    grad_tensors: weights in their shapes; may be left out for tensors of one element, else RuntimeError
    retain_graph: whether the graph may be gone through again; create_graph unless given
    create_graph: whether gradients may be differentiated again; False unless given
    inputs: leaves, if not all shall get gradients

    Shapes: gradients have their leaf's.

    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> torch.autograd.backward(x ** 2)
    >>> x.grad
    tensor([6.])
    """
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please "
                               "only use `grad_tensors`.")
        grad_tensors = grad_variables
    roots = _as_list(tensors)
    weights = [None] * len(roots) if grad_tensors is None else _as_list(grad_tensors)
    if len(weights) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(weights)} gradients")
    if inputs is not None:
        inputs = _as_list(inputs)
        if not inputs:
            raise RuntimeError("'inputs' argument to backward() cannot be empty")
    _C._backward(roots, weights, retain_graph, create_graph, inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):
    """The gradients of `outputs` with respect to `inputs`, a tuple; no `grad` changes.

    outputs, inputs: a tensor or several
    grad_outputs: weights in the outputs' shapes; may be left out for outputs of one element, else RuntimeError
    retain_graph: whether the graph may be gone through again; create_graph unless given
    create_graph: whether gradients may be differentiated again; False unless given
    allow_unused: whether None stands for an input that outputs do not depend on; else that is a RuntimeError

    Shapes: gradients have their input's.

    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> torch.autograd.grad(x ** 2, x)
    (tensor([6.]),)
    """
    if not only_inputs:
        warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts "
             "of the graph, please use torch.autograd.backward.", FutureWarning)
    outputs, inputs = _as_list(outputs), _as_list(inputs)
    weights = [None] * len(outputs) if grad_outputs is None else _as_list(grad_outputs)
    unused = materialize_grads if allow_unused is None else allow_unused
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    if is_grads_batched:
        used = []

        def each(rows):
            found = _C._grad(outputs, inputs, rows, True, create_graph, unused)
            used[:] = [g is not None for g in found]
            return [g for g in found if g is not None], [0] * sum(used)
        made = iter(_C._map_samples(each, weights, [0] * len(weights), "different", None, "grad"))
        return tuple(next(made) if there else None for there in used)
    found = _C._grad(outputs, inputs, weights, retain_graph, create_graph, unused)
    if materialize_grads:
        found = tuple(_C.zeros_like(i, requires_grad=True) if g is None else g for g, i in zip(found, inputs))
    return found


def grad_of_recorded(outputs, inputs, weights, create_graph, retain_graph=None):
    """The gradients of those outputs that have a history, weighed, in the shapes of the inputs; None where nothing depends on
    an input.

    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.autograd.functional.grad_of_recorded([x * 3], [x], [torch.ones(2)], False)
    (tensor([3., 3.]),)
    """
    pairs = [(y, w) for y, w in zip(outputs, weights) if y.requires_grad]
    return grad([y for y, _ in pairs], inputs, [w for _, w in pairs], retain_graph=retain_graph, create_graph=create_graph,
                allow_unused=True) if pairs and inputs else (None,) * len(inputs)
