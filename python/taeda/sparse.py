"""torch.sparse: operations on sparse tensors."""

from . import _C
from ._core.warnings import warn_once

globals().update({name: getattr(_C._sparse, name) for name in dir(_C._sparse) if not name.startswith("_")})


def _legacy(dtype):
    def make(indices=None, values=None, size=None):
        warn_once("torch.sparse.SparseTensor(indices, values, shape, *, device=) is deprecated. Please use "
                  "torch.sparse_coo_tensor(indices, values, shape, dtype=, device=).")
        return _C.sparse_coo_tensor(indices, values, size, dtype=dtype)
    return make


class check_sparse_tensor_invariants:
    """Whether the columns of compressed rows are checked to ascend, which costs a pass over them; all else is always checked.

    A context manager, a decorator, and a switch: `check_sparse_tensor_invariants.enable()`.
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


FloatTensor, DoubleTensor, LongTensor = _legacy(_C.float32), _legacy(_C.float64), _legacy(_C.int64)
