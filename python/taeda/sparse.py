"""torch.sparse: operations on sparse tensors."""

from . import _C
from ._core.warnings import warn_once

globals().update({name: getattr(_C._sparse, name) for name in dir(_C._sparse) if not name.startswith("_")})


def _legacy(dtype):
    def make(indices=None, values=None, size=None):
        """A sparse tensor of indices [dims, n] and values [n, *]; deprecated: torch.sparse_coo_tensor.

        >>> torch.sparse.FloatTensor(torch.tensor([[0, 1]]), torch.ones(2), (3,)).to_dense()
        tensor([1., 1., 0.])
        """
        warn_once("torch.sparse.SparseTensor(indices, values, shape, *, device=) is deprecated. Please use "
                  "torch.sparse_coo_tensor(indices, values, shape, dtype=, device=).")
        return _C.sparse_coo_tensor(indices, values, size, dtype=dtype)
    return make


class check_sparse_tensor_invariants:
    """Whether the columns of compressed rows are checked to ascend, which costs a pass over them; all else is always checked.

    A context manager, a decorator, and a switch: `check_sparse_tensor_invariants.enable()`. The argument is a bool.

    >>> torch.sparse.check_sparse_tensor_invariants.is_enabled()
    False
    """
    _enabled = False

    def __init__(self, enable=True):
        self.state, self.saved = enable, []

    @staticmethod
    def is_enabled():
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable():
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable():
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self):
        self.saved.append(self.is_enabled())
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(self, *error):
        check_sparse_tensor_invariants._enabled = self.saved.pop()

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def call(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)
        return call


def _convert_indices_from_coo_to_csr(input, size, *, out_int32=False):
    """Where each of `size` rows begins among entries whose row numbers, in ascending order, are `input`: size + 1 numbers."""
    return _C.searchsorted(input, _C.arange(size + 1, dtype=input.dtype, device=input.device), out_int32=out_int32)


def _convert_indices_from_csr_to_coo(crow_indices, col_indices, *, out_int32=False, transpose=False):
    """The rows and columns of entries, of shape [2, n], or columns and rows with `transpose`."""
    rows = _C.arange(crow_indices.numel() - 1, device=crow_indices.device).repeat_interleave(crow_indices.diff())
    kind = _C.int32 if out_int32 else _C.int64
    both = rows.to(kind), col_indices.to(kind)
    return _C.stack(both[::-1] if transpose else both)


FloatTensor, DoubleTensor, LongTensor = _legacy(_C.float32), _legacy(_C.float64), _legacy(_C.int64)
