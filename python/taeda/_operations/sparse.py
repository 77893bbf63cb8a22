"""Functions of torch on sparse tensors: made of coordinates and compressed rows, taken apart, multiplied."""

from .. import _C
from ..sparse import check_sparse_tensor_invariants
from .written import into

__all__ = ["col_indices_copy", "crow_indices_copy", "dsmm", "indices_copy", "sparse_compressed_tensor", "sparse_coo_tensor",
           "sparse_csr_tensor", "spmm", "values_copy"]


def sparse_coo_tensor(indices=None, values=None, size=None, *, dtype=None, device=None, requires_grad=False, is_coalesced=None,
                      check_invariants=None, pin_memory=False, layout=None):
    """A sparse tensor of coordinates and values.

    indices: integers [sparse dimensions, n], one column for each value; a list or a tensor
    values: [n, *], a list or a tensor; dimensions behind the first are dense
    size: the shape; as small as the indices allow unless given
    dtype, device: the values' unless given
    requires_grad: False unless given
    is_coalesced: whether each index is there once, in order; False unless given

    Shapes: sizes and indices that do not fit are a RuntimeError.

    >>> torch.sparse_coo_tensor([[0, 1], [1, 0]], [3.0, 4.0], (2, 2)).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    if values is None:
        return _C.sparse_coo_tensor(indices if size is None else size, dtype=dtype, device=device, requires_grad=requires_grad)
    if not isinstance(values, _C.TensorBase):
        values = _C._tensor_from(values, dtype, device)
    if not isinstance(indices, _C.TensorBase):
        indices = _C._tensor_from(indices, _C.int64, values.device)
    options = {"dtype": dtype, "device": device, "is_coalesced": is_coalesced}
    given = {name: value for name, value in options.items() if value is not None}
    shape = () if size is None else (tuple(size),)
    return _C.sparse_coo_tensor(indices, values, *shape, requires_grad=requires_grad, **given)


def _parts_of_rows(crow_indices, col_indices, values, dtype, device):
    """The parts of a matrix in compressed rows as tensors; each may be a list."""
    if not isinstance(values, _C.TensorBase):
        values = _C._tensor_from(values, dtype, device)
    return (*(part if isinstance(part, _C.TensorBase) else _C._tensor_from(part, _C.int64, values.device)
              for part in (crow_indices, col_indices)), values)


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False,
                      requires_grad=False, check_invariants=None):
    """A matrix in compressed rows: row i has the elements from crow_indices[i] up to crow_indices[i + 1].

    crow_indices: [rows + 1], int32 or int64, or a list
    col_indices: the columns of the elements, [n]
    values: the elements, [n]
    size: the shape; as narrow as the columns allow unless given

    Shapes: [rows, columns]; parts that do not fit are a RuntimeError.

    >>> torch.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0], (2, 2)).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    if layout not in (None, _C.sparse_csr):
        raise RuntimeError("sparse_csr_tensor: layout must be SparseCsr but got "
                           f"{'Strided' if layout is _C.strided else 'Sparse'}")
    parts = _parts_of_rows(crow_indices, col_indices, values, dtype, device)
    given = {name: value for name, value in (("dtype", dtype), ("device", device)) if value is not None}
    if check_invariants is None:
        check_invariants = check_sparse_tensor_invariants.is_enabled()
    shape = () if size is None else (tuple(size),)
    return _C.sparse_csr_tensor(*parts, *shape, requires_grad=requires_grad, check_invariants=check_invariants, **given)


def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, layout=None, **options):
    """A sparse matrix in a compressed layout, of which there is one: torch.sparse_csr. Arguments and shapes as
    sparse_csr_tensor's.

    >>> torch.sparse_compressed_tensor([0, 1], [0], [3.0], (1, 2), layout=torch.sparse_csr).to_dense()
    tensor([[3., 0.]])
    """
    if layout is not _C.sparse_csr:
        found = {None: "none", _C.strided: "Strided", _C.sparse_coo: "Sparse"}[layout]
        raise RuntimeError(f"sparse_compressed_tensor expected sparse compressed tensor layout but got {found}")
    return sparse_csr_tensor(compressed_indices, plain_indices, values, size, **options)


def spmm(input, mat2):
    """The product of a sparse matrix [m, k] and a dense one [k, n], [m, n].

    >>> torch.spmm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return _C.mm(input, mat2)


def dsmm(input, mat2):
    """The product of a matrix [m, k] and a dense one [k, n], [m, n].

    >>> torch.dsmm(torch.eye(2), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return _C.mm(input, mat2)


def indices_copy(input, *, out=None):
    """A copy of the coordinates of a sparse tensor, [sparse dimensions, n].

    >>> torch.indices_copy(torch.eye(2).to_sparse())
    tensor([[0, 1],
            [0, 1]])
    """
    return into(out, input.indices().clone())


def values_copy(input, *, out=None):
    """A copy of the values of a sparse tensor, [n, *].

    >>> torch.values_copy(torch.eye(2).to_sparse())
    tensor([1., 1.])
    """
    return into(out, input.values().clone())


def crow_indices_copy(input, *, out=None):
    """A copy of where a sparse matrix's rows begin, [rows + 1].

    >>> torch.crow_indices_copy(torch.eye(2).to_sparse_csr())
    tensor([0, 1, 2])
    """
    return into(out, input.crow_indices().clone())


def col_indices_copy(input, *, out=None):
    """A copy of the columns of a sparse matrix's elements, [n].

    >>> torch.col_indices_copy(torch.eye(2).to_sparse_csr())
    tensor([0, 1])
    """
    return into(out, input.col_indices().clone())


def _to_sparse(input, *, layout=None, blocksize=None, dense_dim=None):
    """`to_sparse` into a layout that is named, or with a number of dense dimensions."""
    if not isinstance(layout, (_C.layout, type(None))) or not isinstance(dense_dim, (int, type(None))):
        return NotImplemented
    wanted = "SparseCsr" if layout is _C.sparse_csr else "Sparse"
    if blocksize is not None:
        raise RuntimeError(f"dense_to_sparse: conversion from Strided to {wanted} with blocksize argument given is not "
                           "supported")
    if layout is _C.strided:
        return input.to_dense()
    if layout is _C.sparse_csr:
        return input.to_sparse_csr(dense_dim)
    return input.to_sparse() if dense_dim is None else input.to_sparse(input.dim() - dense_dim)


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def to_sparse_coo(self):
        """This tensor as a sparse one that keeps coordinates.

        >>> torch.eye(2).to_sparse_coo()._nnz()
        2
        """
        return self.to_sparse()


SIGNATURES = {"to_sparse": _to_sparse}
