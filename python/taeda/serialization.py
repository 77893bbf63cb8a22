"""torch.save and torch.load: PyTorch's files, both ways.

A file is a ZIP archive: `data.pkl`, a pickle in which storages are named, and `data/<name>`, their bytes. Pickles can call
anything they name; `load` therefore allows only what tensors are made of, unless told otherwise (docs/security.md).
"""

import collections
import contextlib
import io
import os
import pickle
import stat
import struct
import sys
import types
import typing
import zipfile
import zlib

from . import _C
from ._files import safe_pickle as _safe_pickle
from ._files.archive_parts import Part, archive_at
from ._files.atomic_file import replacing
from ._files.load_options import (  # noqa: F401
    LoadEndianness, SourceChangeWarning, check_module_version_greater_or_equal, default_restore_location, get_crc32_options,
    get_default_load_endianness, get_default_mmap_options, location_tag, normalize_storage_type, register_package,
    location_of, placed, set_crc32_options, set_default_load_endianness, set_default_mmap_options, storage_to_tensor_type,
    validate_cuda_device)
from ._tensor import Tensor, _rebuild_from_type_v2
from ._tensors import parameter as _parameters, pickles as _pickles
from ._core.warnings import warn
from .storage import TYPES, TypedStorage, UntypedStorage, is_untyped

DEFAULT_PROTOCOL = 2
# What annotations of programs call a file, and where load is to put tensors.
FILE_LIKE = typing.Union[str, os.PathLike, typing.IO[bytes]]
MAP_LOCATION = typing.Union[typing.Callable, _C.device, str, typing.Dict[str, str], None]
_MAGIC = 0x1950A86A20F9469CFC6C  # of files before 1.6


# Writing

class _Pickler(pickle._Pickler):
    """Names this package's classes and functions as PyTorch names its own, and keeps storages apart."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages = collections.OrderedDict()  # address: (key, storage)

    def persistent_id(self, obj):
        if not isinstance(obj, TypedStorage):
            return None
        address = obj.data_ptr(), obj.nbytes(), repr(obj.device)
        key, _ = self.storages.setdefault(address, (str(len(self.storages)), obj))
        if is_untyped(obj.dtype):
            return "storage", UntypedStorage, key, location_of(obj), obj.nbytes()
        return "storage", TYPES[obj.pickle_storage_type()], key, location_of(obj), obj.size()

    def save_global(self, obj, name=None):
        module = getattr(obj, "__module__", None) or "__main__"
        if module == "torch" or module.split(".")[0] == "taeda":
            renamed = "torch" + module[len(module.split(".")[0]):]
            self.write(pickle.GLOBAL + f"{renamed}\n{name or obj.__qualname__}\n".encode())
            self.memoize(obj)
        else:
            super().save_global(obj, name)

    def save_type(self, obj):
        if obj in (type(None), type(NotImplemented), type(...)):
            return super().save_type(obj)
        return self.save_global(obj)

    dispatch[type] = save_type
    dispatch[types.FunctionType] = save_global


def _save_named(pickler, obj):
    """A dtype, layout or memory format: a name in torch."""
    pickler.write(pickle.GLOBAL + f"torch\n{obj.__reduce__()}\n".encode())
    pickler.memoize(obj)


for _kind in (_C.dtype, _C.memory_format):
    _Pickler.dispatch[_kind] = _save_named


def _save_layout(pickler, layout):
    """By a call, as PyTorch does it: its safe loading knows no layout by its name."""
    pickler.save_reduce(_get_layout, (str(layout),), obj=layout)


_Pickler.dispatch[_C.layout] = _save_layout


def _save_tensor(pickler, tensor):
    pickler.save_reduce(*_pickles.reduce_tensor(tensor, in_file=True), obj=tensor)


_Pickler.dispatch[Tensor] = _save_tensor


def _save_size(pickler, size):
    pickler.save_reduce(_C.Size, (tuple(size),), obj=size)


def _save_device(pickler, device):
    pickler.save_reduce(_C.device, (device.type,) if device.index is None else (device.type, device.index), obj=device)


_Pickler.dispatch[_C.Size] = _save_size
_Pickler.dispatch[_C.device] = _save_device


def _bytes_of(storage):
    return storage._flat().cpu().view(_C.uint8)._memory() if storage.size() else b""


class _Writer:
    """A ZIP archive whose parts begin at multiples of 64 bytes, so that they may be mapped."""

    def __init__(self, file, name):
        self.file, self.name = file, name
        self.archive = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)

    def write(self, name, data):
        info = zipfile.ZipInfo(f"{self.name}/{name}", (1980, 1, 1, 0, 0, 0))
        begin = self.file.tell() + 30 + len(info.filename.encode())
        gap = -(begin + 4) % 64
        info.extra = struct.pack("<HH", 0x4246, gap) + b"Z" * gap
        view = memoryview(data).cast("B") if len(memoryview(data)) else b""
        info.file_size = len(view)
        with self.archive.open(info, "w", force_zip64=False) as part:
            part.write(view)

    def close(self):
        self.archive.close()


@contextlib.contextmanager
def _opened(f, mode):
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as file:
            yield file
    else:
        yield f


def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True,
         _disable_byteorder_record=False):
    """Writes an object with tensors to a file or a path: PyTorch's torch.load reads it.

    A file that exists is replaced when all is written, and not before. The first argument is any object that can be pickled.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(torch.ones(2), file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    tensor([1., 1.])
    """
    if isinstance(f, (str, os.PathLike)):
        folder = os.path.dirname(os.fspath(f)) or "."
        if not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.")
        name = os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive"
        with replacing(f) as file:
            _write(obj, file, name, pickle_protocol)
    elif not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    else:
        _write(obj, f, "archive", pickle_protocol)


def _write(obj, file, name, protocol):
    text = io.BytesIO()
    pickler = _Pickler(text, protocol)
    pickler.dump(obj)
    # An archive counts from its own first byte, wherever in a file that is.
    seekable = Part(file, file.tell()) if _is_seekable(file) and "a" not in str(getattr(file, "mode", "")) else io.BytesIO()
    writer = _Writer(seekable, name)
    writer.write("data.pkl", text.getvalue())
    writer.write(".format_version", b"1")
    writer.write("byteorder", sys.byteorder.encode())
    for key, storage in pickler.storages.values():
        writer.write(f"data/{key}", _bytes_of(storage))
    writer.write("version", b"3\n")
    writer.close()
    if isinstance(seekable, io.BytesIO):
        file.write(seekable.getvalue())


def _is_seekable(file):
    """Whether what was written can be written over; a device may say so and forget it."""
    try:
        file.tell()
        if not file.seekable():
            return False
    except (AttributeError, OSError, io.UnsupportedOperation):
        return False
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except (AttributeError, OSError, io.UnsupportedOperation):  # memory
        return True


# Reading

_SAFE = {("collections", "OrderedDict"): collections.OrderedDict, ("collections", "Counter"): collections.Counter,
         ("builtins", "complex"): complex, ("builtins", "set"): set, ("builtins", "frozenset"): frozenset,
         ("builtins", "bytearray"): bytearray, ("__builtin__", "set"): set, ("_codecs", "encode"): None,
         ("torch", "Size"): _C.Size, ("torch", "device"): _C.device}
_SAFE.update({("__builtin__", kind.__name__): kind for kind in (complex, set, frozenset, bytearray)})  # by protocol 2
_SAFE.update({("torch", name): kind for name, kind in TYPES.items()})
_REBUILDING = [_pickles._rebuild_tensor, _pickles._rebuild_tensor_v2, _pickles._rebuild_tensor_v3,
               _pickles._rebuild_sparse_tensor, _pickles._rebuild_meta_tensor_no_storage,
               _parameters._rebuild_parameter, _parameters._rebuild_parameter_with_state]
_SAFE.update({("torch._utils", function.__name__): function for function in _REBUILDING})
_SAFE["torch._tensor", "_rebuild_from_type_v2"] = _rebuild_from_type_v2
_SAFE["torch", "Tensor"] = Tensor
_SAFE["torch.storage", "UntypedStorage"] = TYPES["ByteStorage"]
for _name in ("float32", "float64", "float16", "bfloat16", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64",
              "complex128", "strided", "sparse_coo", "sparse_csr", "contiguous_format", "preserve_format", "channels_last",
              "channels_last_3d", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
              "float8_e5m2fnuz", "float8_e8m0fnu", "complex32"):
    _SAFE["torch", _name] = getattr(_C, _name)

_allowed = {}


def add_safe_globals(safe_globals):
    """Allows classes and functions in files that are loaded with weights_only; pairs (object, name) rename."""
    for entry in safe_globals:
        obj, name = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        _allowed["torch" + name[5:] if name.startswith("taeda.") else name] = obj


def get_safe_globals():
    return list(_allowed.values())


def clear_safe_globals():
    _allowed.clear()


@contextlib.contextmanager
def safe_globals(safe_globals):
    """add_safe_globals for a block."""
    before = dict(_allowed)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _allowed.clear()
        _allowed.update(before)


def _encode(text, encoding):
    """_codecs.encode, for bytes that protocol 2 writes as text."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"Unsupported encoding {encoding!r}")
    return text.encode("latin1")


def _get_layout(name):
    """The layout that a file names as "torch.strided"."""
    found = getattr(_C, str(name).rpartition(".")[2], None)
    if not isinstance(found, _C.layout):
        raise pickle.UnpicklingError(f"no layout is called {str(name):.80}")
    return found


_SAFE["_codecs", "encode"] = _encode
_SAFE["torch.serialization", "_get_layout"] = _get_layout


def _known(module, name):
    """What a file may name whoever made it; None otherwise."""
    full = f"{module}.{name}"
    if full in _allowed:
        return _allowed[full]
    if (module, name) in _SAFE:
        return _SAFE[module, name]
    if module == "torch.nn.parameter" and name in ("Parameter", "Buffer"):
        return getattr(_parameters, name)
    return None


class _TrustingUnpickler(pickle.Unpickler):
    """Finds this package's classes by PyTorch's names, storages by theirs, and whatever else a file names."""

    def __init__(self, file, size, storages, **options):
        super().__init__(file, **options)
        self.storages = storages

    def find_class(self, module, name):
        found = _known(module, name)
        if found is not None:
            return found
        if module.split(".")[0] == "torch":
            module = "taeda" + module[5:]
        return super().find_class(module, name)

    def persistent_load(self, saved):
        return _stored(self.storages, saved)


class _SafeUnpickler(_safe_pickle.Machine):
    """The same for files that anybody may have made: tensors, numbers, texts, containers and what a program allowed."""

    def __init__(self, file, size, storages, **options):
        super().__init__(file, size, **options)
        self.storages = storages
        self.may_build = tuple(kind for kind in _allowed.values() if isinstance(kind, type))

    def load(self):
        try:
            return super().load()
        except pickle.UnpicklingError as error:
            text = str(error)
            if text.startswith("Weights only load failed."):
                raise
            raise pickle.UnpicklingError(f"Weights only load failed. WeightsUnpickler error: {text}") from error.__cause__

    def find_class(self, module, name):
        found = _known(module, name)
        if found is None:
            path = name if module in ("builtins", "__builtin__") else f"{module}.{name}"
            raise pickle.UnpicklingError(
                "Weights only load failed. This file can still be loaded, to do so you have two options, do those steps only "
                "if you trust the source of the checkpoint. \n\t(1) Load with `weights_only=False`, which lets the file run "
                "any code.\n\t(2) Load with `weights_only=True` and allow what the file names: "
                f"`torch.serialization.add_safe_globals([{name}])`, or `safe_globals([{name}])` for a block."
                f"\n\tWeightsUnpickler error: Unsupported global: GLOBAL {path} was not an allowed global by default.")
        return found

    def call(self, function, args):
        if function is Tensor or function in TYPES.values():
            raise pickle.UnpicklingError("the pickle is damaged: it makes memory that the file does not have")
        if function is _rebuild_from_type_v2:
            return self._of_class(*args)
        return super().call(function, args)

    def _of_class(self, function=None, kind=None, args=None, state=None):
        """A tensor with attributes or a class of its own: made by one of the functions that make tensors, counted as theirs."""
        known = any(function is each for each in _REBUILDING) and (kind is Tensor or kind in self.may_build)
        if not known or type(args) is not tuple:
            raise pickle.UnpicklingError("the pickle is damaged: a tensor of a class that is none, or made by what makes none")
        if type(state) is tuple and len(state) == 2 and state[1] is None:
            state = state[0]
        if state is not None and (type(state) is not dict or not all(type(key) is str for key in state)):
            raise pickle.UnpicklingError("the pickle is damaged: attributes that are no dict")
        self.charge(len(state or ()))
        made = super().call(function, args)
        return _rebuild_from_type_v2(lambda: made, kind, (), state or {})

    def persistent_load(self, saved):
        return _stored(self.storages, saved)


def _stored(storages, saved):
    """The storage that a pickle names."""
    if not isinstance(saved, tuple) or len(saved) < 5 or saved[0] != "storage":
        raise pickle.UnpicklingError(f"Unknown typename for persistent_load, expected 'storage' but got {type(saved).__name__}")
    _, kind, key, location, count = saved[:5]
    if kind not in TYPES.values() or not isinstance(key, (str, int)) or not isinstance(location, str) \
            or not isinstance(count, int) or count < 0:
        raise pickle.UnpicklingError("the pickle is damaged: a storage without a type, a name, a place or a size")
    return storages.get(kind, key, location, count)


def _goes_to_meta(map_location):
    """Whether nothing of a storage is needed but its size."""
    return isinstance(map_location, (str, _C.device)) and str(map_location) == "meta"


def _over(data, dtype):
    if not len(data):
        return TypedStorage(_C.empty(0, dtype=dtype))
    flat = _C.from_numpy(memoryview(data))
    if dtype == _C.bool:  # a file may hold other bytes than 0 and 1
        return TypedStorage._of(flat.ne(0))
    return TypedStorage._of((flat.clone() if flat.data_ptr() % dtype.itemsize else flat).view(dtype))


class _ArchiveStorages:
    """The storages of an archive, each read when it is first named."""

    def __init__(self, archive, size, prefix, map_location):
        self.archive, self.left, self.prefix, self.map_location = archive, size, prefix, map_location
        self.known = {}

    def get(self, kind, key, location, count):
        if key not in self.known:
            dtype = kind.dtype
            try:
                info = self.archive.getinfo(f"{self.prefix}/data/{key}")
            except KeyError:
                raise RuntimeError(f"the file has no storage '{key}'") from None
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != count * dtype.itemsize:
                raise RuntimeError(f"storage '{key}' should have {count * dtype.itemsize} bytes, but has {info.file_size}")
            self.left -= info.file_size
            if self.left < 0:
                raise RuntimeError(f"storage '{key}' shares its bytes with others: the file is smaller than its storages")
            if _goes_to_meta(self.map_location):
                self.known[key] = TypedStorage._of(_C.empty(count, dtype=dtype, device="meta"))
                return self.known[key]
            data = bytearray(info.file_size)
            with _named_errors(), self.archive.open(info) as part:
                if part.readinto(data) != len(data):
                    raise RuntimeError(f"storage '{key}' is cut off")
            self.known[key] = placed(_over(data, dtype), location, self.map_location)
        return self.known[key]


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what `save`, or PyTorch, wrote. `map_location` says where tensors go: a device, a dict, or a function.

    With `weights_only` (the default) a file may hold tensors, numbers, texts and containers; anything else is an
    UnpicklingError that names it. Without, it can run any code. A file that is open is read from where it stands to the end of
    one object: what was saved one after the other loads in turn. The first argument is a file or a path.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({"w": torch.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'w': tensor([1., 1.])}
    """
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if map_location is not None and not callable(map_location) and not isinstance(map_location, (str, dict, _C.device)):
        raise TypeError(f"'{type(map_location).__name__}' object is not callable")
    safe = weights_only is None or weights_only
    if weights_only is not False and pickle_load_args:
        warn("pickle_load_args only works if `weights_only=False`.")
    options = {key: value for key, value in pickle_load_args.items() if key in ("encoding", "errors", "fix_imports")}
    unpickler = _SafeUnpickler if safe else _TrustingUnpickler
    with _opened(f, "rb") as file:
        start = _start_of(file)
        head = file.read(4)
        size = file.seek(0, os.SEEK_END) - start
        file.seek(start)
        if head == b"PK\x03\x04":
            part = archive_at(file, start, start + size)
            if part is None:
                raise RuntimeError(_NOT_WHOLE)
            loaded = _load_archive(part, part.size, map_location, unpickler, options)
            file.seek(start + part.size)
            return loaded
        return _load_legacy(file, size, map_location, unpickler, options)


def _start_of(file):
    try:
        start = file.tell()
        file.seek(start)
        return start
    except (AttributeError, OSError) as error:  # a pipe's is a plain OSError
        kind = AttributeError if isinstance(error, AttributeError) else io.UnsupportedOperation
        raise kind(f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer "
                   "like io.BytesIO and try to load from it instead.") from None


_FAILED = "PytorchStreamReader failed reading zip archive"
_NOT_WHOLE = (f"{_FAILED}: failed finding central directory. The file is cut off or damaged: it was not saved or sent whole, "
              "or has been changed since.")


@contextlib.contextmanager
def _named_errors():
    """What Python's own module says of archives that are none, as this one's error."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OverflowError, ValueError) as error:
        if "not a zip file" in str(error):
            raise RuntimeError(_NOT_WHOLE) from None
        raise RuntimeError(f"{_FAILED}: the file is damaged: {error}") from None


def _load_archive(file, size, map_location, unpickler, options):
    with _named_errors():
        archive = zipfile.ZipFile(file)
    pickles = [info for info in archive.infolist() if info.filename.endswith("/data.pkl")]
    if not pickles:
        if any(name.endswith("/constants.pkl") for name in archive.namelist()):
            raise RuntimeError("the file holds a TorchScript module, which Taeda cannot run; save its state_dict() instead")
        raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
    info = pickles[0]
    if info.file_size > _safe_pickle.PER_BYTE * size + _safe_pickle.FLOOR:
        raise RuntimeError(f"the file is damaged: {info.filename} would take {info.file_size} bytes, but the file has {size}")
    with _named_errors():
        text = archive.read(info)
    storages = _ArchiveStorages(archive, size, info.filename[:-len("/data.pkl")], map_location)
    return unpickler(io.BytesIO(text), len(text), storages, **options).load()


class _LegacyStorages:
    """Files before 1.6: first all names, then all bytes; tensors are made over memory that is filled afterwards."""

    def __init__(self, size, map_location):
        self.left, self.map_location, self.known = size, map_location, {}

    def get(self, kind, key, location, count):
        if key not in self.known:
            self.left -= count * kind.dtype.itemsize
            if self.left < 0:
                raise RuntimeError(f"storage '{key}' should have {count} elements, which is more than the file has")
            self.known[key] = TypedStorage(_C.empty(count, dtype=kind.dtype)), location
        return self.known[key][0]


def _load_legacy(file, size, map_location, unpickler, options):
    storages = _LegacyStorages(size, map_location)

    def read():
        return unpickler(file, size, storages, **options).load()
    head = file.read(16)
    if not head:
        raise EOFError("Ran out of input")
    file.seek(-len(head), os.SEEK_CUR)
    if head[:1] != b"\x80" and head[:1] != b"L":  # how a pickle of the magic number begins, by protocol 2 and by 0
        failed = "Weights only load failed. " if unpickler is _SafeUnpickler else ""
        raise pickle.UnpicklingError(f"{failed}The file is none of torch.save: it begins with {head!r}, and neither as a zip "
                                     "archive nor as a pickle does.")
    if read() != _MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    if read() != 1001:
        raise RuntimeError("Invalid protocol version of the file")
    read()  # what machine wrote it
    result, keys = read(), read()
    if not isinstance(keys, (list, tuple)) or not all(isinstance(key, (str, int)) for key in keys):
        raise RuntimeError("the file is damaged: it has no list of its storages")
    for key in keys:
        if key not in storages.known:
            raise RuntimeError(f"the file has bytes of an unknown storage '{key}'")
        storage, _ = storages.known[key]
        head = file.read(8)
        if len(head) < 8:
            raise RuntimeError(f"storage '{key}' is cut off")
        (count,) = struct.unpack("<q", head)
        if count != storage.size():
            raise RuntimeError(f"storage '{key}' should have {storage.size()} elements, but has {count}")
        data = bytearray(file.read(storage.nbytes()))
        if len(data) != storage.nbytes():
            raise RuntimeError(f"storage '{key}' is cut off")
        if data:
            storage._flat().copy_(_over(data, storage.dtype)._flat())
    if map_location is not None:
        result = _moved(result, map_location, {})
    return result


def _moved(value, map_location, known):
    """Containers with their tensors at another place; what they share stays shared."""
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, _C.TensorBase):
        place = map_location if not isinstance(map_location, dict) else map_location.get(str(value.device), value.device)
        moved = value if callable(place) else value.to(place)
    elif isinstance(value, dict):
        moved = type(value)((k, _moved(v, map_location, known)) for k, v in value.items())
    elif isinstance(value, (list, tuple)):
        moved = type(value)(_moved(v, map_location, known) for v in value)
    else:
        return value
    known[id(value)] = moved
    return moved


def _from_bytes(data):
    """A storage out of a pickle of an earlier version, which names this function as one of torch.storage."""
    return TypedStorage._of(load(io.BytesIO(data)))
