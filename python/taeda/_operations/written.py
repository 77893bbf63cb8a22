"""What the families of functions have in common: results written to `out`, numbers, tensors or lists of them."""

from .. import _C
from .._core.documented import said_of

NUMBERS = (int, float, complex)


def is_tensor(obj):
    """Whether it is a Tensor of any class. The argument is any object.

    >>> torch.is_tensor(torch.ones(2)), torch.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, _C.TensorBase)


def into(out, made, sequence="", silently=False):
    """A result, written to `out` if there is one, which takes its sizes, silently where `made` was made of sizes alone. It
    keeps its own for as many numbers of a sequence, of which the function is named.
    """
    if out is None:
        return made
    _C._write_out(out, made, sequence, silently)
    return out


def listed(tensors):
    """The tensors of a call f(a, b, ...) or f([a, b, ...])."""
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


def sizes(function, size):
    """The sizes, which are a sequence also where there is one."""
    if not isinstance(size, (list, tuple)):
        raise TypeError(f"{function}(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    return size


def dimension(dim, input):
    """A dimension of a tensor, counted from the first; IndexError for one that it has not."""
    dims = max(input.dim(), 1)
    if not -dims <= dim < dims:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got {dim})")
    return dim % dims


def named(name, function, doc=None):
    """The function under a name of its own."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc or function.__doc__
    return function


def of_methods(names):
    """{name: torch.name(input, ...)}: what the methods of those names do."""
    def of_method(name):
        said = f"input.{name}(...)\n\n{said_of(getattr(_C.TensorBase, name, None)) or ''}".strip()
        return named(name, lambda input, *args, **kwargs: getattr(input, name)(*args, **kwargs), said)
    return {name: of_method(name) for name in names}


def fitting(function):
    """The function for calls with arguments that it has, NotImplemented for others."""
    signature = None

    def call(*args, **kwargs):
        nonlocal signature
        if signature is None:
            import inspect  # which takes longer to import than most programs need it for
            signature = inspect.signature(function)
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            return NotImplemented
        return function(*args, **kwargs)
    return call
