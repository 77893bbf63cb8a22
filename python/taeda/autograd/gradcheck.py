"""Gradients compared with differences of values."""

from .. import _C
from .._core.warnings import warn


class GradcheckError(RuntimeError):
    """Two gradients differ: what gradcheck raises. Its text has the input, the output and both matrices, with their shapes.

    >>> issubclass(torch.autograd.gradcheck.__globals__["GradcheckError"], RuntimeError)
    True
    """


def _over_tensors(func, inputs):
    """The function as the library calls it, of the tensors among its inputs to those among its outputs; and these inputs, None
    for others."""
    for k, x in enumerate(inputs):
        if isinstance(x, _C.TensorBase) and x.requires_grad and x.dtype not in (_C.float64, _C.complex128):
            warn(f"Input #{k} requires gradient and is not a double precision floating point or complex. This check will "
                 "likely fail if all the inputs are not of double precision floating point or complex.")

    def call(given):
        made = func(*(x if tensor is None else tensor for tensor, x in zip(given, inputs)))
        return [y for y in (made if isinstance(made, (list, tuple)) else (made,)) if isinstance(y, _C.TensorBase)]
    return call, [x if isinstance(x, _C.TensorBase) else None for x in inputs]


def _verdict(mismatch, raise_exception):
    if mismatch and raise_exception:
        raise GradcheckError(mismatch)
    return not mismatch


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
    return _verdict(_C._gradient_mismatch(*_over_tensors(func, inputs), eps, atol, rtol), raise_exception)


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **options):
    """gradcheck of the gradient of `func`.

    grad_outputs: weights of the outputs, in their shapes; of a fixed sequence unless given
    func, inputs, eps, atol, rtol, raise_exception and options: as gradcheck's

    Shapes: any.

    >>> x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, (x,))
    True
    """
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    weights = [grad_outputs] if isinstance(grad_outputs, _C.TensorBase) else list(grad_outputs or ())
    made = _C._second_gradient_mismatch(*_over_tensors(func, inputs), weights, eps, atol, rtol)
    return _verdict(made, raise_exception)
