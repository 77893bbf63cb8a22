"""The memory behind tensors, as files and other processes see it."""

from . import _C
from ._core.arguments import expect
from ._core.warnings import warn_once

Tensor = _C.TensorBase  # until _tensor.py says of which class the tensors over a storage are

_NAMES = {"float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage",
          "uint8": "ByteStorage", "int8": "CharStorage", "int16": "ShortStorage", "int32": "IntStorage",
          "int64": "LongStorage", "bool": "BoolStorage", "complex64": "ComplexFloatStorage",
          "complex128": "ComplexDoubleStorage"}


def is_untyped(dtype):
    """Whether no storage is named after a dtype: files keep bytes, and the dtype beside them."""
    return repr(dtype)[6:] not in _NAMES


def _plain(tensor):
    """The tensor, or one of no other class over its memory: a storage knows no classes."""
    return tensor if type(tensor) is Tensor else _C._make_subclass(Tensor, tensor.detach(), False)


def _whole(tensor, dtype):
    """All of a tensor's memory as a vector."""
    count = tensor._storage_nbytes() // dtype.itemsize
    flat = tensor.detach()
    if flat.dtype != dtype:
        flat = flat.as_strided((count * dtype.itemsize // flat.element_size(),), (1,), 0).view(dtype)
    return flat.as_strided((count,), (1,), 0)


def _empty(count, dtype, device):
    return _C.empty(count, dtype=dtype, device=device)


def _vector(args, dtype, device, name):
    """A vector for a storage that is asked for by nothing, by a size or by values."""
    if len(args) > 1:
        raise TypeError(f"{name}() takes a size or values, but got {len(args)} arguments")
    if not args or isinstance(args[0], int):
        return _empty(args[0] if args else 0, dtype, device)
    values = args[0].tolist() if isinstance(args[0], _Storage) else args[0]
    try:
        return _C._tensor_from(list(values), dtype, device)
    except TypeError as error:
        raise TypeError(f"{name}() takes a size or values, but got {type(values).__name__}: {error}") from None


class _Storage:
    """What storages have in common: they hold a tensor over the memory."""

    is_sparse = is_sparse_csr = is_hpu = False

    @classmethod
    def _of(cls, tensor):
        """The storage of a tensor."""
        self = object.__new__(cls)
        self._tensor = _plain(tensor)
        return self

    def data_ptr(self):
        return self._tensor._storage_address()

    def nbytes(self):
        return self._tensor._storage_nbytes()

    @property
    def _cdata(self):
        return self._tensor._storage_cdata()

    @property
    def device(self):
        return self._tensor.device

    @property
    def is_cuda(self):
        return self._tensor.is_cuda

    def _bytes(self):
        return _whole(self._tensor, _C.uint8)

    def get_device(self):
        return self._tensor.get_device()

    def resizable(self):
        return self._tensor._storage_resizable()

    def resize_(self, size):
        """Room for `size` elements, which all tensors over it see; those that both sizes have stay."""
        if not isinstance(size, int):
            raise RuntimeError(f"resize_ expects an int, but got {type(size).__name__}")
        self._tensor._storage_resize(size * self.element_size())
        return self

    def copy_(self, source, non_blocking=None):
        """Takes another storage's elements."""
        expect("copy_", "src", 1, source, _Storage, "torch.Storage")
        self._elements().copy_(source._elements(), bool(non_blocking))
        return self

    def fill_(self, value):
        self._elements().fill_(value)
        return self

    def tolist(self):
        return self._elements().tolist()

    def __len__(self):
        return self.size()

    def __iter__(self):
        return iter(self.tolist())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._part(index)
        return self._elements()[self._checked(index)].item()

    def __setitem__(self, index, value):
        if not isinstance(index, slice):
            index = self._checked(index)
        self._elements()[index] = value._elements() if isinstance(value, _Storage) else value

    def _checked(self, index):
        if not isinstance(index, int):
            raise TypeError(f"can't index a {type(self).__name__} with {type(index).__name__}")
        if not -self.size() <= index < self.size():
            raise IndexError(f"index {index} out of range for storage of size {self.size()}")
        return index

    def is_shared(self):
        return self._tensor.is_shared()

    def share_memory_(self):
        self._tensor.share_memory_()
        return self

    def is_pinned(self, device="cuda"):
        return self._tensor.is_pinned()

    def clone(self):
        return self._of(self._elements().clone())

    def cpu(self):
        return self if self.device.type == "cpu" else self.to("cpu")

    def cuda(self, device=None, non_blocking=False):
        return self.to("cuda" if device is None else device, non_blocking)

    def to(self, device, non_blocking=False):
        return self._of(self._elements().to(device, non_blocking=non_blocking))

    def __copy__(self):
        return self.clone()

    def __eq__(self, other):
        return type(other) is type(self) and other._cdata == self._cdata

    def __hash__(self):
        return hash(self._cdata)

    def _as(self, dtype):
        return TypedStorage._of(self._elements().to(dtype, copy=True))

    def __deepcopy__(self, memo):
        return type(self)._of(_copied(self, memo)._tensor)


def _copied(storage, memo):
    """A copy of the memory, the same one for all that share it."""
    key = "storages of torch", storage._cdata
    if key not in memo:
        memo[key] = UntypedStorage._of(storage._bytes().clone())
    return memo[key]


def tensor_over(storage, dtype):
    """All of a storage as a vector of a dtype, over the same memory."""
    kind = getattr(storage, "dtype", None)
    if kind is not None and kind != dtype:
        raise RuntimeError(f"Expected a Storage of type {repr(dtype)[6:]} or an UntypedStorage, but got type {repr(kind)[6:]} "
                           "for argument 1 'storage'")
    return _whole(storage._tensor, dtype)


class UntypedStorage(_Storage):
    """The bytes that a tensor's elements are in, shared with all of its views. The argument is a number of bytes, or a list.

    >>> torch.UntypedStorage(4).nbytes()
    4
    """

    itemsize = 1

    def __init__(self, *args, device=None):
        self._tensor = _vector(args, _C.uint8, device, "UntypedStorage")

    @classmethod
    def from_buffer(cls, buffer, byte_order=None, count=-1, offset=0, dtype=_C.uint8):
        """A copy of an object's bytes, brought from `byte_order` ("native", "little" or "big") to this machine's."""
        return cls._of(_from_buffer(buffer, byte_order, count, offset, dtype))

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The first `nbytes` bytes of a file; with `shared` what is changed is written to it."""
        return cls._of(_C.from_file(filename, shared, nbytes, dtype=_C.uint8))

    def _elements(self):
        return self._bytes()

    def _part(self, index):
        start, stop, step = index.indices(self.nbytes())
        if step != 1:
            raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
        flat = self._bytes()[start:max(start, stop)]
        return UntypedStorage._of(_C.from_numpy(flat._memory()) if self.device.type == "cpu" and len(flat) else flat.clone())

    @property
    def filename(self):
        return None

    def size(self):
        return self.nbytes()

    def element_size(self):
        return 1

    def untyped(self):
        return self

    def type(self, dtype=None):
        return "torch.storage.UntypedStorage" if dtype is None else self._as(TYPES[dtype.rpartition(".")[2]].dtype)

    def byteswap(self, dtype):
        """Turns the bytes of each number round."""
        flat, width = self._bytes(), dtype.itemsize // (2 if dtype.is_complex else 1)
        flat.copy_(flat.view(-1, width).flip(1).reshape(-1))

    def __repr__(self):
        values = "".join(f" {v}\n" for v in self.tolist())
        return f"{values}[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"

    def __reduce__(self):
        return _untyped_from_bytes, (bytes(self._bytes().cpu()._memory()) if len(self) else b"",)


def _untyped_from_bytes(data):
    return UntypedStorage._of(_C.from_numpy(memoryview(bytearray(data))) if data else _C.empty(0, dtype=_C.uint8))


def warn_of_typed_storage():
    """What PyTorch says of it, once."""
    warn_once("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
              "This should only matter to you if you are using storages directly. To access UntypedStorage directly, use "
              "tensor.untyped_storage() instead of tensor.storage()")


class TypedStorage(_Storage):
    """The memory of a tensor as elements of a dtype, shared with all of its views.

    >>> torch.ones(2).storage().dtype
    torch.float32
    """

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None):
        if wrap_storage is None:
            self.dtype = dtype or _C.get_default_dtype()
            self._tensor = _vector(args, self.dtype, device, "TypedStorage")
        else:
            if args or device is not None or dtype is None:
                raise RuntimeError("a TypedStorage over a storage takes `wrap_storage` and `dtype`, and nothing else")
            self.dtype, self._tensor = dtype, wrap_storage._tensor

    @classmethod
    def _of(cls, tensor, dtype=None):
        self = super()._of(tensor)
        self.dtype = dtype or tensor.dtype
        return self

    def _flat(self):
        return _whole(self._tensor, self.dtype)

    _elements = _flat

    def _part(self, index):
        raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")

    def untyped(self):
        return UntypedStorage._of(self._tensor)

    _untyped = untyped

    @property
    def _untyped_storage(self):
        return self.untyped()

    def size(self):
        return self.nbytes() // self.dtype.itemsize

    def element_size(self):
        return self.dtype.itemsize

    def type(self, dtype=None):
        if dtype is not None:
            return self._as(TYPES[dtype.rpartition(".")[2]].dtype if isinstance(dtype, str) else dtype.dtype)
        return "torch." + ("" if self.device.type == "cpu" else f"{self.device.type}.") + self.pickle_storage_type()

    def pickle_storage_type(self):
        return _NAMES[repr(self.dtype)[6:]]

    def __repr__(self):
        values = "\n ".join(str(v) for v in self.tolist())
        return f" {values}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"

    def __deepcopy__(self, memo):
        return TypedStorage._of(_copied(self, memo)._tensor, self.dtype)

    def __reduce__(self):
        return _typed_from_bytes, (self.untyped().__reduce__()[1][0], repr(self.dtype)[6:], str(self.device))


def _typed_from_bytes(data, dtype, device):
    return TypedStorage._of(_untyped_from_bytes(data)._bytes().view(getattr(_C, dtype)).to(device))


for _name, _dtype in {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "byte": "uint8",
                      "char": "int8", "short": "int16", "int": "int32", "long": "int64", "bool": "bool",
                      "complex_float": "complex64", "complex_double": "complex128"}.items():
    setattr(_Storage, _name, lambda self, dtype=getattr(_C, _dtype): self._as(dtype))


def _from_buffer(buffer, byte_order, count, offset, dtype):
    view = memoryview(buffer).cast("B")[offset:]
    if byte_order is None and dtype.itemsize > 1:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, "native", "little", "big"):
        raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
    if count < 0:
        if len(view) % dtype.itemsize:
            raise ValueError(f"buffer size ({len(view)}) must be a multiple of element size ({dtype.itemsize})")
        count = len(view) // dtype.itemsize
    if count * dtype.itemsize > len(view):
        raise ValueError(f"buffer has only {len(view) // dtype.itemsize} elements after offset {offset}, but specified a size "
                         f"of {count}")
    storage = _untyped_from_bytes(view[:count * dtype.itemsize])
    if byte_order == "big" and dtype.itemsize > 1:
        storage.byteswap(dtype)
    return _whole(storage._tensor, dtype)


class _StorageType(type):
    """torch.FloatStorage and its kind: in files they say which dtype a storage has."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype

    def __call__(cls, *args, wrap_storage=None, device=None):
        if wrap_storage is not None:
            return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype, device=device)
        return TypedStorage._of(_vector(args, cls.dtype, device, cls.__name__))

    def from_buffer(cls, buffer, byte_order=None, count=-1, offset=0):
        return TypedStorage._of(_from_buffer(buffer, byte_order, count, offset, cls.dtype))

    _from_buffer = from_buffer

    def from_file(cls, filename, shared=False, size=0):
        return TypedStorage._of(_C.from_file(filename, shared, size, dtype=cls.dtype))


def _said(name, dtype):
    return f"""Memory of {dtype} elements; deprecated: UntypedStorage. The argument is a number of elements, or a list of them.

    >>> len(torch.{name}([1, 0]))
    2
    """


TYPES = {name: _StorageType(name, (), {"dtype": getattr(_C, dtype), "__module__": "torch", "__doc__": _said(name, dtype)})
         for dtype, name in _NAMES.items()}
