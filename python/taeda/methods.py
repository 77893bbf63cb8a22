"""Methods of tensors whose Python signatures take more than those of C++; `_tensor` puts them into the class."""

from . import _C, functional
from ._core.warnings import warn


def type_as(self, other):
    """As the dtype and on the device of another tensor."""
    return self.to(other)


def nonzero(self, *, as_tuple=False):
    return functional.nonzero(self, as_tuple=as_tuple)


def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
    return functional.unique(self, sorted, return_inverse, return_counts, dim)


def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    return functional.unique_consecutive(self, return_inverse, return_counts, dim)


def split(self, split_size, dim=0):
    return functional.split(self, split_size, dim)


def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    return functional.norm(self, p, dim, keepdim, dtype=dtype)


def clip(self, min=None, max=None):
    return self.clamp(min, max)


def clip_(self, min=None, max=None):
    return self.clamp_(min, max)


def index_put_(self, indices, values, accumulate=False):
    """Writes values where vectors of coordinates or masks point; with `accumulate` adds them, several to one place, too."""
    if not isinstance(values, _C.TensorBase):
        raise TypeError(f"index_put_(): argument 'values' (position 2) must be Tensor, not {type(values).__name__}")
    if not isinstance(indices, (tuple, list)) or not all(isinstance(i, (_C.TensorBase, type(None))) for i in indices):
        raise TypeError("index_put_(): argument 'indices' (position 1) must be tuple of Tensors, not "
                        f"{type(indices).__name__}")
    places = tuple(i if i is None else i.to(self.device) for i in indices)
    return _C._index_put(self, places, values.to(self.device), accumulate)


def index_put(self, indices, values, accumulate=False):
    return index_put_(self.clone(), indices, values, accumulate)


def resize_as(self, other):
    warn("non-inplace resize_as is deprecated")
    return self.reshape(other.shape)


def narrow_copy(self, dim, start, length):
    return self.narrow(dim, start, length).clone()


def record_stream(self, stream):
    """Nothing to do: memory is given back when the streams that use it are done."""
    if not isinstance(stream, _C._device.StreamBase):
        raise RuntimeError("unknown parameter type")


def new(self, *args, device=None):
    """A tensor of the same dtype and device from sizes or data."""
    where = device if device is not None else self.device
    if not args:
        return _C.empty(0, dtype=self.dtype, device=where)
    if len(args) > 1 and not all(isinstance(a, int) for a in args):
        raise TypeError(f"new() takes sizes, a torch.Size, a tensor or values, but got "
                        f"({', '.join(type(a).__name__ for a in args)})")
    if hasattr(args[0], "_storage_of_torch"):
        from .storage import tensor_over
        return tensor_over(args[0], self.dtype)
    if isinstance(args[0], _C.Size) or all(isinstance(a, int) for a in args):
        return _C.empty(args[0] if isinstance(args[0], _C.Size) else args, dtype=self.dtype, device=where)
    return _C._tensor_from(args[0], self.dtype, where)


def to_sparse_coo(self):
    return self.to_sparse()


def lu(self, pivot=True, get_infos=False):
    return functional.lu(self, pivot=pivot, get_infos=get_infos)


def unsafe_chunk(self, chunks, dim=0):
    return self.chunk(chunks, dim)


def unsafe_split(self, split_size, dim=0):
    return functional.split(self, split_size, dim)


def module_load(self, other, assign=False):
    """What load_state_dict puts in this parameter's place, or copies into it."""
    return other.detach() if assign else self.copy_(other).detach()


def unflatten(self, dim, sizes):
    return _C.unflatten(self, dim, tuple(sizes))


ALL = {name: value for name, value in list(globals().items()) if getattr(value, "__module__", "") == __name__}
