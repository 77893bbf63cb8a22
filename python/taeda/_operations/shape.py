"""Functions of torch that change shapes: broadcasting, grids, splitting, and views copied to memory of their own."""

from .. import _C
from .._core.documented import said_of
from .._core.warnings import warn, warn_once
from .written import dimension, is_tensor, listed, named, of_methods

_METHODS = of_methods(["detach", "detach_", "narrow_copy", "unsafe_chunk", "unsafe_split", "resize_as_"])
__all__ = ["alias_copy", "as_strided_", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
           "broadcast_tensors", "cartesian_prod", "dsplit", "hsplit", "meshgrid", "slice_copy", "slice_inverse", "split",
           "unsafe_split_with_sizes"]


def broadcast_tensors(*tensors):
    """Views of the tensors that all have the shape to which they broadcast; a RuntimeError where they do not.

    >>> [x.shape for x in torch.broadcast_tensors(torch.ones(3, 1), torch.ones(2))]
    [torch.Size([3, 2]), torch.Size([3, 2])]
    """
    return _C.broadcast_tensors(listed(tensors))


def broadcast_shapes(*shapes):
    """The shape to which shapes broadcast, without any tensor; a RuntimeError where they do not.

    >>> torch.broadcast_shapes((3, 1), (2,))
    torch.Size([3, 2])
    """
    size = max((1 if isinstance(s, int) else len(s) for s in shapes), default=0)
    out = [1] * size
    for shape in shapes:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        for i, n in enumerate(reversed(shape)):
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
            if n != 1 and out[-1 - i] not in (1, n):
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            if n != 1:
                out[-1 - i] = n
    return _C.Size(out)


def meshgrid(*tensors, indexing=None):
    """Coordinates of a grid, one tensor for each axis.

    tensors: vectors, or numbers
    indexing: "ij", rows first (meant where it is left out, with a warning), or "xy"

    Shapes: vectors [n], [m], ... to tensors [n, m, ...], or [m, n, ...] for "xy".

    >>> rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    >>> columns
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    if indexing is None:
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    return _C.meshgrid(listed(tensors), indexing)


def block_diag(*tensors):
    """The matrices along the diagonal of a matrix of zeros; vectors count as rows, numbers as [1, 1].

    Shapes: [m_i, n_i] to [sum of m, sum of n].

    >>> torch.block_diag(torch.ones(1, 1), torch.full((1, 2), 2.0))
    tensor([[1., 0., 0.],
            [0., 2., 2.]])
    """
    return _C.block_diag(list(tensors))


def cartesian_prod(*tensors):
    """All tuples of one element of each vector, as rows; of one vector, the vector.

    Shapes: n vectors to [product of their lengths, n].

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    return _C.cartesian_prod(list(tensors))


def _atleast(function, tensors):
    if len(tensors) == 1 and is_tensor(tensors[0]):
        return function(tensors[0])
    return tuple(function(t) for t in listed(tensors))


def atleast_1d(*tensors):
    """Each tensor with a dimension if it has none; one tensor, or a tuple of several. Shapes: [] to [1], others stay.

    >>> torch.atleast_1d(torch.tensor(3))
    tensor([3])
    """
    return _atleast(_C.atleast_1d, tensors)


def atleast_2d(*tensors):
    """Each tensor with dimensions of size 1 in front until it has two; one tensor, or a tuple of several. Shapes: [n] to [1,
    n].

    >>> torch.atleast_2d(torch.tensor([3]))
    tensor([[3]])
    """
    return _atleast(_C.atleast_2d, tensors)


def atleast_3d(*tensors):
    """Each tensor with dimensions of size 1 added until it has three; one tensor, or a tuple of several. Shapes: [n] to [1, n,
    1], [m, n] to [m, n, 1].

    >>> torch.atleast_3d(torch.tensor([3])).shape
    torch.Size([1, 1, 1])
    """
    return _atleast(_C.atleast_3d, tensors)


def split(tensor, split_size_or_sections, dim=0):
    """Views of parts along `dim`.

    split_size_or_sections: the size of each part, the last one maybe smaller, or a list of all sizes, whose sum is the
        dimension's, else RuntimeError
    dim: 0 unless given

    Shapes: the tensor's with these sizes along `dim`.

    >>> torch.split(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if isinstance(split_size_or_sections, (list, tuple)):
        return _C.split_with_sizes(tensor, split_size_or_sections, dim)
    return _C.split(tensor, split_size_or_sections, dim)


def _places(name, given, by_name):
    """Where a tensor is split, by whatever name it is given."""
    found = [given] * (given is not None) + [by_name.pop(n) for n in ("indices", "sections") if n in by_name]
    if len(found) != 1 or by_name:
        raise TypeError(f"{name}() takes the number of sections or the indices between them, once")
    return found


def hsplit(input, indices_or_sections=None, **by_name):
    """Views of parts along dimension 1 (of vectors, 0).

    indices_or_sections: how many parts, which divides the size, else RuntimeError; or at which indices it is split

    Shapes: the tensor's with other sizes along that dimension; a scalar is a RuntimeError.

    >>> torch.hsplit(torch.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    return _C.hsplit(input, *_places("hsplit", indices_or_sections, by_name))


def dsplit(input, indices_or_sections=None, **by_name):
    """Views of parts along dimension 2.

    indices_or_sections: as hsplit's

    Shapes: three dimensions or more, else RuntimeError.

    >>> torch.dsplit(torch.ones(2, 2, 4), 2)[0].shape
    torch.Size([2, 2, 2])
    """
    return _C.dsplit(input, *_places("dsplit", indices_or_sections, by_name))


def unsafe_split_with_sizes(input, split_sizes, dim=0):
    return input.split_with_sizes(split_sizes, dim)


def as_strided_(input, size, stride, storage_offset=None):
    """Gives the tensor itself other sizes, strides and a first element in its storage.

    size, stride: of one length; what lies outside of the storage is a RuntimeError
    storage_offset: the tensor's unless given

    Shapes: any, to `size`.

    >>> torch.as_strided_(torch.arange(6), (2, 2), (3, 1))
    tensor([[0, 1],
            [3, 4]])
    """
    return input.as_strided_(size, stride, *([] if storage_offset is None else [storage_offset]))


def slice_copy(input, dim=0, start=None, end=None, step=1):
    """A copy of every `step`-th entry along `dim` from `start` up to `end`, by Python's rules.

    Shapes: the tensor's with another size along `dim`.

    >>> torch.slice_copy(torch.arange(5), 0, 1, 4)
    tensor([1, 2, 3])
    """
    dim = dim % input.dim()
    return input[(slice(None),) * dim + (slice(start, end, step),)].clone()


def slice_inverse(input, src, dim=0, start=None, end=None, step=1):
    """The tensor of `src`'s shape of which `input` is a slice, in the same memory.

    >>> x = torch.arange(4)
    >>> torch.slice_inverse(x[1:3], x, 0, 1, 3)
    tensor([0, 1, 2, 3])
    """
    return input.as_strided(src.shape, src.stride(), src.storage_offset())


def _copied(view):
    def function(input, *args, **kwargs):
        made = getattr(_C if hasattr(_C, view) else _C.TensorBase, view)(input, *args, **kwargs)
        return made.clone() if isinstance(made, _C.TensorBase) else tuple(part.clone() for part in made)
    said = said_of(getattr(_C, view, None) or getattr(_C.TensorBase, view))
    return named(f"{view}_copy", function, f"A copy, in memory of its own, of what `{view}` gives.\n\n{said or ''}".strip())


# torch.t_copy(x) and the like are the views of those names, in memory of their own.
_COPIES = {f"{view}_copy": _copied(view) for view in (
    "as_strided", "detach", "diagonal", "expand", "permute", "select", "split", "split_with_sizes", "squeeze", "t", "transpose",
    "unbind", "unfold", "unsqueeze", "view_as_complex", "view_as_real", "view")}
globals().update(_METHODS, **_COPIES)
__all__ += [*_METHODS, *_COPIES]


def alias_copy(input):
    return input.clone()


def _squeezing(name):
    """`squeeze` of several dimensions."""
    def call(input, dim=None, *more):
        dim = (dim, *more) if more and all(isinstance(d, int) for d in (dim, *more)) else dim
        if not isinstance(dim, (tuple, list)):
            return NotImplemented
        if not dim:
            return input if name.endswith("_") else input.view_as(input)
        for d in sorted({dimension(d, input) for d in dim}, reverse=True):
            input = getattr(input, name)(d)
        return input
    return call


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def split(self, split_size, dim=0):
        return split(self, split_size, dim)

    def resize_as(self, other):
        """This tensor in the shape of another of as many elements; deprecated: `reshape`.

        >>> torch.arange(4).resize_as(torch.ones(2, 2)).shape
        torch.Size([2, 2])
        """
        warn("non-inplace resize_as is deprecated")
        return self.reshape(other.shape)

    def narrow_copy(self, dim, start, length):
        return self.narrow(dim, start, length).clone()

    def unsafe_chunk(self, chunks, dim=0):
        return self.chunk(chunks, dim)

    def unsafe_split(self, split_size, dim=0):
        return split(self, split_size, dim)

    def unflatten(self, dim, sizes):
        return _C.unflatten(self, dim, tuple(sizes))


SIGNATURES = {name: _squeezing(name) for name in ("squeeze", "squeeze_")}
