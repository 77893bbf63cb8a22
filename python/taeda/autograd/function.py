"""Functions with derivatives written in Python."""

import functools

from .. import _C
from .._core.warnings import warn


class FunctionCtx(_C._FunctionContext):
    """What forward leaves for backward: tensors by save_for_backward, anything else as attributes."""

    to_save = None
    dirty_tensors = None
    non_differentiable = None
    materialize_grads = True
    needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors; `saved_tensors` gives them in backward, or an error if one was changed in place since."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Says that forward changed these inputs in place; it must return them."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs):
        """Nothing to do: memory that tensors share is known."""
        warn("`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note that calls to "
             "`set_()` are not tracked", FutureWarning)

    @property
    def saved_variables(self):
        """saved_tensors, by a former name."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def mark_non_differentiable(self, *args):
        """Says that these outputs carry no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        """With False backward sees None instead of zeros for outputs that nobody used."""
        self.materialize_grads = value


class Function:
    """A function with a derivative of its own. Derive from it with static methods `forward(ctx, *args)` and `backward(ctx,
    *grad_outputs)`, and call `apply`.

    `forward` gives a tensor, or a tuple with tensors; with a `setup_context(ctx, inputs, output)` it has no `ctx`. `backward`
    gives a gradient, or None, for each argument of `forward`.

    Shapes: gradients have those of the tensors that they are of; another number of them is a RuntimeError.

    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x ** 3
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         x, = ctx.saved_tensors
    ...         return 3 * x ** 2 * grad
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor([12.])
    """

    def __init__(self, *args, **kwargs):
        warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke "
             "them on the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
             DeprecationWarning)

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function "
                                  "to use it with backward mode AD.")

    @classmethod
    def apply(cls, *args):
        """Calls forward without recording it and, where an argument wants a gradient, records backward."""
        ctx = FunctionCtx()
        ctx._backward = getattr(cls, "vjp", cls.backward) if cls.backward is Function.backward else cls.backward
        name = cls.__name__ + "Backward"
        if cls.setup_context is Function.setup_context:
            return _C._apply_function(name, ctx, functools.partial(cls.forward, ctx), args)

        def forward(*inputs):
            output = cls.forward(*inputs)
            cls.setup_context(ctx, inputs, output)
            return output
        return _C._apply_function(name, ctx, forward, args)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use new-style "
                           "autograd function with static forward method.")


def once_differentiable(function):
    """For a `backward` that is not differentiable itself: what it gives has no history, and asking for one is a RuntimeError. A
    decorator, below staticmethod; shapes are those of `backward`.

    >>> class Copy(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x.clone()
    ...     @staticmethod
    ...     @torch.autograd.function.once_differentiable
    ...     def backward(ctx, grad):
    ...         return grad
    >>> x = torch.ones(1, requires_grad=True)
    >>> Copy.apply(x).backward()
    >>> x.grad
    tensor([1.])
    """
    @functools.wraps(function)
    def wrapped(ctx, *args):
        recorded = _C.is_grad_enabled() and any(isinstance(a, _C.TensorBase) and a.requires_grad for a in args)
        from .modes import no_grad
        with no_grad():
            outputs = function(ctx, *args)
        if not recorded:
            return outputs
        single = not isinstance(outputs, tuple)
        outputs = (outputs,) if single else outputs
        outputs = tuple(_Once.apply(o.requires_grad_()) if isinstance(o, _C.TensorBase) else o for o in outputs)
        return outputs[0] if single else outputs
    return wrapped


class _Once(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


class NestedIOFunction(Function):
    """A Function; tensors in nested lists are not looked for."""


class InplaceFunction(Function):
    """A Function; programs' own may work in place."""

    def __init__(self, inplace=False):
        self.inplace = inplace
