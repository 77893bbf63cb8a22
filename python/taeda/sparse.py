"""torch.sparse: operations on tensors in coordinate format."""

from . import _C

globals().update({name: getattr(_C._sparse, name) for name in dir(_C._sparse) if not name.startswith("_")})


def _legacy(dtype):
    def make(indices=None, values=None, size=None):
        return _C.sparse_coo_tensor(indices, values, size, dtype=dtype)
    return make


FloatTensor, DoubleTensor, LongTensor = _legacy(_C.float32), _legacy(_C.float64), _legacy(_C.int64)
