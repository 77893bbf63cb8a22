"""Functions of torch that ask what something is, and sizes as numbers."""

import math

from .. import _C
from .._core.arguments import expect_tensor
from ..storage import _Storage
from .written import is_tensor, of_methods

_METHODS = of_methods(["is_signed", "is_inference", "is_conj", "is_neg", "get_device"])
globals().update(_METHODS)
__all__ = ["_assert", "is_complex", "is_distributed", "is_floating_point", "is_nonzero", "is_storage", "is_tensor", "numel",
           "result_type", "SymBool", "SymFloat", "SymInt", "sym_constrain_range", "sym_constrain_range_for_size", "sym_float",
           "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"]
__all__ += list(_METHODS)


def is_storage(obj):
    """Whether the argument is a storage of a tensor's memory, which has no shape.

    >>> torch.is_storage(torch.ones(2).untyped_storage())
    True
    """
    return isinstance(obj, _Storage)


def is_floating_point(input):
    """Whether a tensor of any shape has a dtype of floating-point numbers; what is no tensor is a TypeError.

    >>> torch.is_floating_point(torch.ones(2))
    True
    """
    if not isinstance(input, _C.TensorBase):
        expect_tensor("is_floating_point", "input", 1, input)
    return input.is_floating_point()


def is_complex(input):
    """Whether a tensor of any shape has a dtype of complex numbers; what is no tensor is a TypeError.

    >>> torch.is_complex(torch.ones(2))
    False
    """
    if not isinstance(input, _C.TensorBase):
        expect_tensor("is_complex", "input", 1, input)
    return input.is_complex()


def is_nonzero(input):
    """Whether the one element of a tensor is not zero; another number of elements is a RuntimeError. Shapes: [1, ...] or a
    scalar.

    >>> torch.is_nonzero(torch.tensor([0.0]))
    False
    """
    if not isinstance(input, _C.TensorBase):
        expect_tensor("is_nonzero", "input", 1, input)
    return input.is_nonzero()


def numel(input):
    """How many elements a tensor of any shape has.

    >>> torch.numel(torch.ones(2, 3))
    6
    """
    if not isinstance(input, _C.TensorBase):
        expect_tensor("numel", "input", 1, input)
    return input.numel()


def result_type(tensor1, tensor2):
    """The dtype of an operation on two tensors, of any shapes, or numbers.

    >>> torch.result_type(torch.tensor([1, 2]), 1.0)
    torch.float32
    """
    return _C._result_type(tensor1, tensor2)


class CompiledError(RuntimeError):
    """What compiled code raises, torch.jit.Error."""


class _Unmet(CompiledError, AssertionError):
    """Of `_assert`: one for all, because the same code runs whether a program compiled it or not."""


def _assert(condition, message):
    """`assert` as a function, which torch.fx can note."""
    if not condition:
        raise _Unmet(message)


def is_distributed(input):
    """False: a tensor lies in one process."""
    return False


# Numbers that a compiler might not know yet are known here.


def sym_int(a):
    return int(a)


def sym_float(a):
    return float(a)


def sym_not(a):
    return not a


def sym_max(a, b):
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a, b):
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_ite(b, t, f):
    return t if b else f


def sym_sum(args):
    return sum(args)


def sym_sqrt(a):
    return math.sqrt(a)


def sym_constrain_range(size, *, min=None, max=None):
    """Sizes are known here: one that is out of the range is an error."""
    if min is not None and size < min or max is not None and size > max:
        raise RuntimeError(f"Invalid value range for {size} between [{min}, {max}].")


def sym_constrain_range_for_size(size, *, min=None, max=None):
    sym_constrain_range(size, min=min, max=max)


class SymInt:
    """A size that a compiler does not know. There is none: programs ask whether a number is one."""

    def __init__(self, *args):
        raise RuntimeError("Taeda has no symbolic sizes: it knows each when an operation runs")


class SymFloat(SymInt):
    pass


class SymBool(SymInt):
    pass


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def type_as(self, other):
        """As the dtype and on the device of another tensor."""
        return self.to(other)

    def module_load(self, other, assign=False):
        """What load_state_dict puts in this parameter's place, or copies into it."""
        return other.detach() if assign else self.copy_(other).detach()
