"""The memory behind tensors, as files and other processes see it."""

from . import _C

_NAMES = {"float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage",
          "uint8": "ByteStorage", "int8": "CharStorage", "int16": "ShortStorage", "int32": "IntStorage",
          "int64": "LongStorage", "bool": "BoolStorage", "complex64": "ComplexFloatStorage",
          "complex128": "ComplexDoubleStorage"}


def is_untyped(dtype):
    """Whether no storage is named after a dtype: files keep bytes, and the dtype beside them."""
    return repr(dtype)[6:] not in _NAMES


def _plain(tensor):
    """The tensor, or one of no other class over its memory: a storage knows no classes."""
    from ._tensor import Tensor
    return tensor if type(tensor) is Tensor else _C._make_subclass(Tensor, tensor.detach(), False)


def _whole(tensor, dtype):
    """All of a tensor's memory as a vector."""
    count = tensor._storage_nbytes() // dtype.itemsize
    flat = tensor.detach().view(dtype) if dtype != tensor.dtype and tensor.is_contiguous() and tensor.dim() else tensor.detach()
    if flat.dtype != dtype:
        flat = flat.as_strided((flat._storage_nbytes() // flat.element_size(),), (1,), 0).view(dtype)
    return flat.as_strided((count,), (1,), 0)


class UntypedStorage:
    """The bytes that a tensor's elements are in, shared with all of its views."""

    def __init__(self, tensor):
        self._tensor = _plain(tensor)

    def data_ptr(self):
        return self._tensor._storage_address()

    def nbytes(self):
        return self._tensor._storage_nbytes()

    def size(self):
        return self.nbytes()

    def element_size(self):
        return 1

    @property
    def device(self):
        return self._tensor.device

    def __len__(self):
        return self.nbytes()

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and other.data_ptr() == self.data_ptr() and other.nbytes() == self.nbytes()

    def __hash__(self):
        return hash(self.data_ptr())

    def tolist(self):
        return _whole(self._tensor, _C.uint8).tolist()

    def __getitem__(self, index):
        return _whole(self._tensor, _C.uint8)[index].item()

    def cpu(self):
        return UntypedStorage(_whole(self._tensor, _C.uint8).cpu())

    def __repr__(self):
        return f"UntypedStorage of {self.nbytes()} bytes on {self.device}"


class TypedStorage:
    """The same as elements of a dtype."""

    def __init__(self, tensor, dtype=None):
        self._tensor = _plain(tensor)
        self.dtype = dtype or tensor.dtype

    def _flat(self):
        return _whole(self._tensor, self.dtype)

    def _untyped(self):
        return UntypedStorage(self._tensor)

    untyped = _untyped

    @property
    def device(self):
        return self._tensor.device

    def data_ptr(self):
        return self._tensor._storage_address()

    def nbytes(self):
        return self._tensor._storage_nbytes()

    def size(self):
        return self.nbytes() // self.dtype.itemsize

    def element_size(self):
        return self.dtype.itemsize

    def __len__(self):
        return self.size()

    def __getitem__(self, index):
        found = self._flat()[index]
        return found.item() if found.dim() == 0 else TypedStorage(found.clone())

    def __setitem__(self, index, value):
        self._flat()[index] = value

    def fill_(self, value):
        self._flat().fill_(value)
        return self

    def tolist(self):
        return self._flat().tolist()

    def __iter__(self):
        return iter(self.tolist())

    def cpu(self):
        return TypedStorage(self._flat().cpu())

    def pickle_storage_type(self):
        return _NAMES[repr(self.dtype)[6:]]

    def __repr__(self):
        values = "\n ".join(str(v) for v in self.tolist())
        return f" {values}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"

    def __reduce__(self):
        import io
        from .serialization import save
        buffer = io.BytesIO()
        save(self._flat(), buffer)
        return _from_bytes, (buffer.getvalue(),)


def _from_bytes(data):
    import io
    from .serialization import load
    return TypedStorage(load(io.BytesIO(data)))


class _StorageType(type):
    """torch.FloatStorage and its kind: in files they say which dtype a storage has."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype

    def __call__(cls, *args):
        if not args:
            return TypedStorage(_C.empty(0, dtype=cls.dtype))
        if len(args) > 1:
            raise TypeError(f"{cls.__name__} takes a size or values, but got {len(args)} arguments")
        if isinstance(args[0], int):
            return TypedStorage(_C.empty(args[0], dtype=cls.dtype))
        return TypedStorage(_C._tensor_from(args[0], cls.dtype, None))


TYPES = {name: _StorageType(name, (), {"dtype": getattr(_C, dtype), "__module__": "torch"})
         for dtype, name in _NAMES.items()}
