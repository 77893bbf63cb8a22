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
    """Whether a tensor has a dtype of floating-point numbers; what is no tensor is a TypeError.

    >>> torch.is_floating_point(torch.ones(2))
    True
    """
    if not isinstance(input, _C.TensorBase):
        expect_tensor("is_floating_point", "input", 1, input)
    return input.is_floating_point()


def is_complex(input):
    """Whether a tensor has a dtype of complex numbers; what is no tensor is a TypeError.

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
    """How many elements a tensor has.

    >>> torch.numel(torch.ones(2, 3))
    6
    """
    if not isinstance(input, _C.TensorBase):
        expect_tensor("numel", "input", 1, input)
    return input.numel()


def result_type(tensor1, tensor2):
    """The dtype of an operation on two tensors or numbers.

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
    """False: a tensor lies in one process.

    >>> torch.is_distributed(torch.ones(2))
    False
    """
    return False


# Numbers that a compiler might not know yet are known here.


def sym_int(a):
    """A size as a whole number, rounded towards 0. The argument is a number: Taeda knows all sizes.

    >>> torch.sym_int(2.5)
    2
    """
    return int(a)


def sym_float(a):
    """A size as a float. The argument is a number.

    >>> torch.sym_float(2)
    2.0
    """
    return float(a)


def sym_not(a):
    """The opposite of a condition. The argument is a bool.

    >>> torch.sym_not(True)
    False
    """
    return not a


def sym_max(a, b):
    """The larger of two sizes, a float where one is. The arguments are numbers.

    >>> torch.sym_max(2, 3)
    3
    """
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a, b):
    """The smaller of two sizes, a float where one is. The arguments are numbers.

    >>> torch.sym_min(2, 3)
    2
    """
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_ite(b, t, f):
    """`t` where the condition `b` holds, else `f`. The arguments are a bool and two numbers.

    >>> torch.sym_ite(True, 2, 3)
    2
    """
    return t if b else f


def sym_sum(args):
    """The sum of sizes. The argument is a list of numbers.

    >>> torch.sym_sum([1, 2, 3])
    6
    """
    return sum(args)


def sym_sqrt(a):
    """The square root of a size. The argument is a number.

    >>> torch.sym_sqrt(4)
    2.0
    """
    return math.sqrt(a)


def sym_constrain_range(size, *, min=None, max=None):
    """Sizes are known here: one that is out of the range [min, max] is an error. The arguments are numbers.

    >>> torch.sym_constrain_range(3, min=1, max=5)
    """
    if min is not None and size < min or max is not None and size > max:
        raise RuntimeError(f"Invalid value range for {size} between [{min}, {max}].")


def sym_constrain_range_for_size(size, *, min=None, max=None):
    """sym_constrain_range, under the name that PyTorch has for sizes. The arguments are numbers.

    >>> torch.sym_constrain_range_for_size(3, min=1, max=5)
    """
    sym_constrain_range(size, min=min, max=max)


class SymInt:
    """A size that a compiler does not know. There is none: programs ask whether a number is one. Takes no arguments.

    >>> isinstance(torch.ones(2).size(0), torch.SymInt)
    False
    """

    def __init__(self, *args):
        raise RuntimeError("Taeda has no symbolic sizes: it knows each when an operation runs")


class SymFloat(SymInt):
    """A float that a compiler does not know. There is none: programs ask whether a number is one. Takes no arguments.

    >>> isinstance(2.0, torch.SymFloat)
    False
    """

    pass


class SymBool(SymInt):
    """A bool that a compiler does not know. There is none: programs ask whether a value is one. Takes no arguments.

    >>> isinstance(True, torch.SymBool)
    False
    """

    pass


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def type_as(self, other):
        """This tensor with the dtype and on the device of another.

        >>> torch.ones(2).type_as(torch.tensor(1)).dtype
        torch.int64
        """
        return self.to(other)

    def module_load(self, other, assign=False):
        """What load_state_dict puts in this parameter's place, or copies into it: a tensor of the same shape.

        >>> torch.ones(2).module_load(torch.zeros(2)).tolist()
        [0.0, 0.0]
        """
        return other.detach() if assign else self.copy_(other).detach()
