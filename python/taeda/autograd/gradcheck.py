"""Gradients compared with differences of values."""

from .. import _C
from .._core.warnings import warn


class GradcheckError(RuntimeError):
    """Two gradients differ: what gradcheck raises. Its text has the input, the output and both matrices, with their shapes.

    >>> issubclass(torch.autograd.gradcheck.__globals__["GradcheckError"], RuntimeError)
    True
    """


def _tensors(outputs):
    outputs = outputs if isinstance(outputs, (list, tuple)) else (outputs,)
    return [o for o in outputs if isinstance(o, _C.TensorBase) and (o.is_floating_point() or o.is_complex())]


def _numeric(function, inputs, x, k, eps):
    """The derivative of every output by every element of `x`: {output: matrix of (elements of x, of the output)}."""
    flat = x.detach().reshape(-1)
    rows = []
    with_history = _C.is_grad_enabled()
    _C._set_grad_enabled(False)
    try:
        for i in range(x.numel()):
            values = []
            for step in (eps, -eps):
                moved = flat.clone()
                moved[i] += step
                args = list(inputs)
                args[k] = moved.reshape(x.shape)
                values.append([o.detach().reshape(-1).clone() for o in _tensors(function(*args))])
            rows.append([(a - b) / (2 * eps) for a, b in zip(*values)])
    finally:
        _C._set_grad_enabled(with_history)
    return [_C.stack(list(column)) for column in zip(*rows)]


def _is_complex(value):
    return isinstance(value, _C.TensorBase) and value.is_complex()


def _by_reals(func, inputs):
    """The function and its inputs with a pair of reals for each complex number: its derivatives are those of their parts."""
    known = {k for k, x in enumerate(inputs) if _is_complex(x)}

    def parts(*args):
        made = func(*(_C.view_as_complex(x) if k in known else x for k, x in enumerate(args)))
        made = made if isinstance(made, (list, tuple)) else (made,)
        return tuple(_C.view_as_real(y) if _is_complex(y) else y for y in made)
    return parts, tuple(_C.view_as_real(x.detach()).requires_grad_(x.requires_grad) if k in known else x
                        for k, x in enumerate(inputs))


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
              check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
              check_backward_ad=True, fast_mode=False, masked=None):
    """Whether backward of `func` agrees with differences of its values, |a - n| <= atol + rtol |n|.

    func: of tensors to a tensor or a tuple of them
    inputs: a tensor or a tuple; those that require a gradient are float64 or complex128
    eps: by how much inputs are moved; 1e-6 unless given
    atol, rtol: 1e-5 and 1e-3 unless given
    raise_exception: whether it raises GradcheckError or gives False; True unless given
    nondet_tol: by how much two passes may differ; 0 unless given

    Shapes: any; each element of an input costs two calls.

    >>> x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, (x,))
    True
    """
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    checked = [k for k, x in enumerate(inputs) if isinstance(x, _C.TensorBase) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have "
                         "requires_grad=True.")
    for k in checked:
        if inputs[k].dtype not in (_C.float64, _C.complex128):
            warn(f"Input #{k} requires gradient and is not a double precision floating point or complex. This check will "
                 "likely fail if all the inputs are not of double precision floating point or complex.")
    func, inputs = _by_reals(func, inputs)
    outputs = _tensors(func(*inputs))
    for k in checked:
        numeric = _numeric(func, inputs, inputs[k], k, eps)
        for n, output in enumerate(outputs):
            columns = []
            for j in range(output.numel()):
                weight = _C.zeros_like(output).reshape(-1)
                weight[j] = 1
                if not output.requires_grad:
                    columns.append(_C.zeros(inputs[k].numel(), dtype=inputs[k].dtype))
                    continue
                (g,) = _C._grad([output], [inputs[k]], [weight.reshape(output.shape)], True, False, True)
                columns.append(_C.zeros(inputs[k].numel(), dtype=inputs[k].dtype) if g is None else g.reshape(-1))
            analytic = _C.stack(columns, 1) if columns else numeric[n]
            if not _C.allclose(analytic, numeric[n], rtol, atol):
                if not raise_exception:
                    return False
                raise GradcheckError(f"Jacobian mismatch for output {n} with respect to input {k},\n"
                                     f"numerical:{numeric[n]}\nanalytical:{analytic}\n")
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, **options):
    """gradcheck of the gradient of `func`.

    grad_outputs: weights of the outputs, in their shapes; random ones unless given func, inputs, eps, atol, rtol and options:
        as gradcheck's

    Shapes: any.

    >>> x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, (x,))
    True
    """
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    outputs = _tensors(func(*inputs))
    weights = grad_outputs or [_C.randn_like(o).requires_grad_() for o in outputs]
    weights = [weights] if isinstance(weights, _C.TensorBase) else list(weights)
    wanted = [k for k, x in enumerate(inputs) if isinstance(x, _C.TensorBase) and x.requires_grad]

    def gradient(*args):
        given, w = args[:len(inputs)], args[len(inputs):]
        with_grad = [x for k, x in enumerate(given) if k in wanted]
        _C._set_grad_enabled(True)
        with_grad = [x if x.requires_grad else x.detach().requires_grad_() for x in with_grad]
        given = list(given)
        for k, x in zip(wanted, with_grad):
            given[k] = x
        found = _C._grad(_tensors(func(*given)), with_grad, list(w), True, True, True)
        return tuple(_C.zeros_like(x) if g is None else g for g, x in zip(found, with_grad))
    return gradcheck(gradient, inputs + tuple(weights), eps=eps, atol=atol, rtol=rtol, **options)
