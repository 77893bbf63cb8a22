"""Functions of torch that find, choose and write elements by their places."""

from .. import _C
from .._core.arguments import expect, expect_tensor
from .written import NUMBERS, into, of_methods

_METHODS = of_methods(["index_put", "index_put_"])
globals().update(_METHODS)
__all__ = ["nonzero", "nonzero_static", "unique", "unique_consecutive", "unravel_index", "where"]
__all__ += list(_METHODS)


def nonzero(input, *, out=None, as_tuple=False):
    """Coordinates of the elements that are not zero.

    as_tuple: whether a tuple of vectors to index with is given, one for each dimension; False unless given

    Shapes: any; [count, dimensions], or vectors [count].

    >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    >>> torch.nonzero(torch.tensor([0, 1, 1]), as_tuple=True)
    (tensor([1, 2]),)
    """
    if as_tuple is not False and expect("nonzero", "as_tuple", None, as_tuple, bool):
        return tuple(_C.nonzero_numpy(expect_tensor("nonzero", "input", 1, input)))
    return _C.nonzero(input) if out is None else _C.nonzero(input, out=out)


def where(condition, input=None, other=None, *, out=None):
    """`input` where the condition holds, `other` elsewhere; of a condition alone, nonzero(as_tuple=True).

    condition: bool, else RuntimeError
    input, other: tensors or numbers

    Shapes: any that broadcast, to the result's.

    >>> torch.where(torch.tensor([True, False]), torch.tensor([1, 2]), 0)
    tensor([1, 0])
    """
    if input is None and other is None:
        return tuple(_C.nonzero_numpy(expect_tensor("where", "condition", 1, condition)))
    return _C.where(condition, input, other) if out is None else _C.where(condition, input, other, out=out)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements, or slices along `dim`, in ascending order.

    sorted: is taken: they are
    return_inverse: whether there is also where each element went, in input's shape (along dim a vector)
    return_counts: whether there is also how often each occurs
    dim: of slices; None (unless given) for elements

    Shapes: a vector, or input's with another size along `dim`.

    >>> torch.unique(torch.tensor([2, 1, 2]), return_counts=True)
    (tensor([1, 2]), tensor([1, 2]))
    """
    made = (_C._unique2(input, sorted, return_inverse, return_counts) if dim is None else
            _C.unique_dim(input, dim, sorted, return_inverse, return_counts))
    return _asked_for(made, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """As unique without sorting: runs of equal elements of the flattened tensor, or of equal slices along `dim`, become one.

    return_inverse, return_counts, dim: as unique's

    Shapes: a vector, or input's with another size along `dim`.

    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    return _asked_for(_C.unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts)


def _asked_for(made, inverse, counts):
    values, where_to, how_many = made
    out = (values,) + ((where_to,) if inverse else ()) + ((how_many,) if counts else ())
    return out[0] if len(out) == 1 else out


def unravel_index(indices, shape):
    """Coordinates in a tensor of that shape of elements counted from its first: a tuple of tensors of indices' shape, one for
    each dimension.

    >>> torch.unravel_index(torch.tensor([4]), (2, 3))
    (tensor([1]), tensor([1]))
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    out = []
    for n in reversed(shape):
        out.append(indices % n)
        indices = indices // n
    return tuple(reversed(out))


def nonzero_static(input, *, size, fill_value=-1, out=None):
    """The first `size` rows of nonzero(), and rows of `fill_value` behind them: [size, dimensions].

    >>> torch.nonzero_static(torch.tensor([0, 1]), size=2)
    tensor([[ 1],
            [-1]])
    """
    found = _C.nonzero(input)[:size]
    rest = _C.full((size - len(found), input.dim()), fill_value, dtype=_C.int64, device=input.device)
    return into(out, _C.cat([found, rest]))


def _where(input, condition=None, other=None):
    """The method with a number."""
    if not isinstance(condition, _C.TensorBase) or not isinstance(other, NUMBERS):
        return NotImplemented
    return _C.where(condition, input, other)


def _sorting(operation):
    """Sorting keeps the order of equal elements anyway."""
    def call(input, dim=-1, descending=False, stable=None, **out):
        if not isinstance(stable, bool) or isinstance(dim, bool):
            return NotImplemented
        return operation(input, dim, descending, **out)
    return call


def _put(name, self, indices, values, accumulate):
    if not isinstance(values, _C.TensorBase):
        raise TypeError(f"{name}(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}")
    if not isinstance(indices, (tuple, list)) or not all(isinstance(i, (_C.TensorBase, type(None))) for i in indices):
        raise TypeError(f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not {type(indices).__name__}")
    places = tuple(i if i is None else i.to(self.device) for i in indices)
    return getattr(_C, "_" + name)(self, places, values.to(self.device), accumulate)


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def nonzero(self, *, as_tuple=False):
        return nonzero(self, as_tuple=as_tuple)

    def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
        return unique(self, sorted, return_inverse, return_counts, dim)

    def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
        return unique_consecutive(self, return_inverse, return_counts, dim)

    def index_put_(self, indices, values, accumulate=False):
        """Writes values where vectors of coordinates or masks point; with `accumulate` adds them, several to one place, too.

        >>> torch.zeros(3).index_put_((torch.tensor([0, 2]),), torch.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
        """
        return _put("index_put_", self, indices, values, accumulate)

    def index_put(self, indices, values, accumulate=False):
        """A copy of this tensor with values where vectors of coordinates or masks point; with `accumulate` they are added.

        >>> torch.zeros(3).index_put((torch.tensor([0, 2]),), torch.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
        """
        return _put("index_put", self, indices, values, accumulate)


SIGNATURES = {"sort": _sorting(_C.sort), "argsort": _sorting(_C.argsort), "where": _where}
