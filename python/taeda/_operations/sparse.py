"""Functions of torch on sparse tensors: made of coordinates and compressed rows, taken apart, multiplied."""

from .. import _C
from ..sparse import check_sparse_tensor_invariants
from .written import into

__all__ = ["col_indices_copy", "crow_indices_copy", "dsmm", "indices_copy", "sparse_compressed_tensor", "sparse_coo_tensor",
           "sparse_csr_tensor", "spmm", "values_copy"]


def sparse_coo_tensor(indices=None, values=None, size=None, *, dtype=None, device=None, requires_grad=False, is_coalesced=None,
                      check_invariants=None, pin_memory=False, layout=None):
    """A sparse tensor of coordinates (one column for each value) and values; tensors or lists."""
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
    """A matrix in compressed rows: where each row begins among the elements, their columns and values; tensors or lists."""
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
    """A sparse matrix in a compressed layout, of which there is one: torch.sparse_csr."""
    if layout is not _C.sparse_csr:
        found = {None: "none", _C.strided: "Strided", _C.sparse_coo: "Sparse"}[layout]
        raise RuntimeError(f"sparse_compressed_tensor expected sparse compressed tensor layout but got {found}")
    return sparse_csr_tensor(compressed_indices, plain_indices, values, size, **options)


def spmm(input, mat2):
    """The product of a sparse matrix and a dense one."""
    return _C.mm(input, mat2)


def dsmm(input, mat2):
    """The product of a dense matrix and another."""
    return _C.mm(input, mat2)


def indices_copy(input, *, out=None):
    """A copy of the coordinates of a sparse tensor."""
    return into(out, input.indices().clone())


def values_copy(input, *, out=None):
    """A copy of the values of a sparse tensor."""
    return into(out, input.values().clone())


def crow_indices_copy(input, *, out=None):
    """A copy of the begins of a sparse matrix's rows."""
    return into(out, input.crow_indices().clone())


def col_indices_copy(input, *, out=None):
    """A copy of the columns of a sparse matrix's elements."""
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
        return self.to_sparse()


SIGNATURES = {"to_sparse": _to_sparse}
