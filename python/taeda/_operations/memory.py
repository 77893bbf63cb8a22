"""Functions of torch on the memory that elements are in: buffers, other libraries' arrays, storages, other processes."""

from .. import _C
from ..storage import _Storage, tensor_over

__all__ = ["from_dlpack", "frombuffer", "to_dlpack"]


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A vector over the memory of an object with the buffer protocol, which both share.

    dtype: of the elements
    count: how many; all that are there (-1) unless given
    offset: bytes before the first; 0 unless given
    requires_grad: False unless given

    Shapes: [count]; a buffer that does not hold so many, or nothing, is a ValueError.

    >>> torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    view = memoryview(buffer).cast("B")
    if not 0 <= offset < len(view):
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({len(view)} "
                         "bytes) minus 1")
    view = view[offset:]
    size = dtype.itemsize
    if count < 0:
        if len(view) % size:
            raise ValueError(f"buffer length ({len(view)} bytes) after offset ({offset} bytes) must be a multiple of "
                             f"element size ({size})")
        count = len(view) // size
    if count == 0:
        raise ValueError(f"both buffer length ({len(view)}) and count (0) must not be 0")
    if count * size > len(view):
        raise ValueError(f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be "
                         f"greater than actual buffer length ({len(view) + offset} bytes)")
    out = _C.from_numpy(view[:count * size]).view(dtype)
    return out.requires_grad_() if requires_grad else out


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of another library's array, by DLPack.

    ext_tensor: an object with `__dlpack__`, or a capsule
    device: where the tensor is; the array's unless given
    copy: True forces a copy, False refuses one; None unless given

    Shapes: the array's.

    >>> import numpy
    >>> torch.from_dlpack(numpy.array([1, 2]))
    tensor([1, 2])
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        made = _C._from_capsule(ext_tensor)
    else:
        try:
            made = _C._from_capsule(ext_tensor.__dlpack__(max_version=(1, 0)))
        except TypeError:
            made = _C._from_capsule(ext_tensor.__dlpack__())
    moved = made if device is None else made.to(device)
    if copy is False and moved is not made:
        raise ValueError(f"cannot move to {device} without a copy")
    return moved.clone() if copy and moved is made else moved


def to_dlpack(tensor):
    """A capsule by DLPack over a tensor's memory, for another library; shape and strides go with it.

    >>> torch.from_dlpack(torch.to_dlpack(torch.tensor([1, 2])))
    tensor([1, 2])
    """
    return tensor._capsule(False)


def _set(input, source=None, storage_offset=0, size=None, stride=None):
    """`set_` over a storage: its elements of the tensor's dtype."""
    if not isinstance(source, _Storage):
        return NotImplemented
    memory = tensor_over(source, input.dtype)
    if size is None:
        return input.set_(memory)
    return input.set_(memory, storage_offset, tuple(size), () if stride is None else tuple(stride))


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def record_stream(self, stream):
        """Nothing to do: memory is given back when the streams that use it are done."""
        if not isinstance(stream, _C._device.StreamBase):
            raise RuntimeError("unknown parameter type")

    def share_memory_(self):
        """Moves the data of this tensor to memory that other processes can open, and returns it.

        >>> torch.ones(2).share_memory_().is_shared()
        True
        """
        from ..multiprocessing import shared
        return shared.share(self)

    def is_shared(self):
        """Whether other processes can see the data of this tensor.

        >>> torch.ones(2).is_shared()
        False
        """
        from ..multiprocessing import shared
        return shared.is_shared(self)


SIGNATURES = {"set_": _set}
