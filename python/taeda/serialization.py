"""torch.save and torch.load: PyTorch's files, both ways.

A file is a ZIP archive: `data.pkl`, a pickle in which storages are named, and `data/<name>`, their bytes. Pickles can call
anything they name; `load` therefore allows only what tensors are made of, unless told otherwise (docs/security.md).
"""

import collections
import contextlib
import io
import os
import pickle
import struct
import sys
import types
import zipfile

from . import _C, _utils
from ._tensor import Tensor, _rebuild_from_type_v2
from .storage import TYPES, TypedStorage

DEFAULT_PROTOCOL = 2
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
    pickler.save_reduce(*_utils.reduce_tensor(tensor, in_file=True), obj=tensor)


_Pickler.dispatch[Tensor] = _save_tensor


def _save_size(pickler, size):
    pickler.save_reduce(_C.Size, (tuple(size),), obj=size)


def _save_device(pickler, device):
    pickler.save_reduce(_C.device, (device.type,) if device.index is None else (device.type, device.index), obj=device)


_Pickler.dispatch[_C.Size] = _save_size
_Pickler.dispatch[_C.device] = _save_device


def location_of(storage):
    """ "cpu", "cuda:0"."""
    device = storage.device
    return "cpu" if device.type == "cpu" else str(device)


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

    A file that exists is replaced when all is written, and not before.
    """
    if isinstance(f, (str, os.PathLike)):
        folder = os.path.dirname(os.fspath(f)) or "."
        if not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.")
        name = os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive"
        import tempfile
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".save-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                _write(obj, file, name, pickle_protocol)
                file.flush()
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, (os.stat(f).st_mode & 0o777) if os.path.exists(f) else 0o666 & ~mask)
            os.replace(temporary, os.path.realpath(f))
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    else:
        _write(obj, f, "archive", pickle_protocol)


def _write(obj, file, name, protocol):
    text = io.BytesIO()
    pickler = _Pickler(text, protocol)
    pickler.dump(obj)
    seekable = file if _is_seekable(file) else io.BytesIO()
    writer = _Writer(seekable, name)
    writer.write("data.pkl", text.getvalue())
    writer.write(".format_version", b"1")
    writer.write("byteorder", sys.byteorder.encode())
    for key, storage in pickler.storages.values():
        writer.write(f"data/{key}", _bytes_of(storage))
    writer.write("version", b"3\n")
    writer.close()
    if seekable is not file:
        file.write(seekable.getvalue())


def _is_seekable(file):
    try:
        file.tell()
        return file.seekable()
    except (AttributeError, OSError, io.UnsupportedOperation):
        return False


# Reading

_SAFE = {("collections", "OrderedDict"): collections.OrderedDict, ("collections", "Counter"): collections.Counter,
         ("builtins", "complex"): complex, ("builtins", "set"): set, ("builtins", "frozenset"): frozenset,
         ("builtins", "bytearray"): bytearray, ("__builtin__", "set"): set, ("_codecs", "encode"): None,
         ("torch", "Size"): _C.Size, ("torch", "device"): _C.device}
_SAFE.update({("__builtin__", kind.__name__): kind for kind in (complex, set, frozenset, bytearray)})  # by protocol 2
_SAFE.update({("torch", name): kind for name, kind in TYPES.items()})
_SAFE.update({("torch._utils", name): getattr(_utils, name) for name in (
    "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_parameter", "_rebuild_parameter_with_state",
    "_rebuild_sparse_tensor")})
_SAFE["torch._tensor", "_rebuild_from_type_v2"] = _rebuild_from_type_v2
_SAFE["torch", "Tensor"] = Tensor
for _name in ("float32", "float64", "float16", "bfloat16", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64",
              "complex128", "strided", "sparse_coo", "contiguous_format", "preserve_format", "channels_last"):
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
    return getattr(_C, name.rpartition(".")[2])


_SAFE["_codecs", "encode"] = _encode
_SAFE["torch.serialization", "_get_layout"] = _get_layout


class _Unpickler(pickle.Unpickler):
    """Finds this package's classes by PyTorch's names, storages by theirs and, with `safe`, nothing else."""

    def __init__(self, file, storages, safe, **options):
        super().__init__(file, **options)
        self.storages, self.safe = storages, safe

    def find_class(self, module, name):
        full = f"{module}.{name}"
        if full in _allowed:
            return _allowed[full]
        if (module, name) in _SAFE:
            return _SAFE[module, name]
        if module == "torch.nn.parameter" and name in ("Parameter", "Buffer"):
            from .nn import parameter
            return getattr(parameter, name)
        if self.safe:
            raise pickle.UnpicklingError(
                f"Weights only load failed. Unsupported global: GLOBAL {full} was not an allowed global by default. If you "
                f"trust the file, allow it with `torch.serialization.add_safe_globals([{name}])`, or load with "
                "`weights_only=False`, which lets the file run any code.")
        if module.split(".")[0] == "torch":
            module = "taeda" + module[5:]
        return super().find_class(module, name)

    def persistent_load(self, saved):
        if not isinstance(saved, tuple) or len(saved) < 5 or saved[0] != "storage":
            raise pickle.UnpicklingError(f"Unknown typename for persistent_load, expected 'storage' but got {saved!r:.80}")
        return self.storages.get(*saved[1:5], view=saved[5] if len(saved) > 5 else None)


def _placed(storage, location, map_location):
    """The storage where `map_location` says: a device, a dict of locations, or a function of storage and location."""
    if callable(map_location):
        moved = map_location(storage, location)
        return storage if moved is None else moved
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif map_location is not None:
        location = str(map_location)
    if location == "cpu":
        return storage
    try:
        return TypedStorage(storage._flat().to(location))
    except RuntimeError as error:
        raise RuntimeError(f"Attempting to deserialize object on a device that is not there ({location}): {error}. Use "
                           "torch.load with map_location=torch.device('cpu') to map your storages to the CPU.") from None


def _over(data, dtype):
    if not len(data):
        return TypedStorage(_C.empty(0, dtype=dtype))
    return TypedStorage(_C.from_numpy(memoryview(data)).view(dtype))


class _ArchiveStorages:
    """The storages of an archive, each read when it is first named."""

    def __init__(self, archive, prefix, map_location):
        self.archive, self.prefix, self.map_location, self.known = archive, prefix, map_location, {}

    def get(self, kind, key, location, count, view=None):
        if key not in self.known:
            dtype = kind.dtype
            try:
                info = self.archive.getinfo(f"{self.prefix}/data/{key}")
            except KeyError:
                raise RuntimeError(f"the file has no storage '{key}'") from None
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != count * dtype.itemsize:
                raise RuntimeError(f"storage '{key}' should have {count * dtype.itemsize} bytes, but has {info.file_size}")
            data = bytearray(info.file_size)
            with self.archive.open(info) as part:
                if part.readinto(data) != len(data):
                    raise RuntimeError(f"storage '{key}' is cut off")
            self.known[key] = _placed(_over(data, dtype), location, self.map_location)
        return self.known[key]


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what `save`, or PyTorch, wrote. `map_location` says where tensors go: a device, a dict, or a function.

    With `weights_only` (the default) a file may hold tensors, numbers, texts and containers; anything else is an
    UnpicklingError that names it. Without, it can run any code.
    """
    safe = weights_only is None or weights_only
    options = {key: value for key, value in pickle_load_args.items() if key in ("encoding", "errors", "fix_imports")}
    with _opened(f, "rb") as file:
        start = file.tell()
        head = file.read(4)
        file.seek(start)
        if head == b"PK\x03\x04":
            return _load_archive(file, map_location, safe, options)
        return _load_legacy(file, map_location, safe, options)


def _load_archive(file, map_location, safe, options):
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from None
    pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
    if not pickles:
        if any(name.endswith("/constants.pkl") for name in archive.namelist()):
            raise RuntimeError("the file holds a TorchScript module, which Taeda cannot run; save its state_dict() instead")
        raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
    prefix = pickles[0][:-len("/data.pkl")]
    try:
        text = archive.read(pickles[0])
    except zipfile.BadZipFile as error:
        raise RuntimeError(f"the file is damaged: {error}") from None
    storages = _ArchiveStorages(archive, prefix, map_location)
    try:
        return _Unpickler(io.BytesIO(text), storages, safe, **options).load()
    except zipfile.BadZipFile as error:
        raise RuntimeError(f"the file is damaged: {error}") from None


class _LegacyStorages:
    """Files before 1.6: first all names, then all bytes; tensors are made over memory that is filled afterwards."""

    def __init__(self, map_location):
        self.map_location, self.known = map_location, {}

    def get(self, kind, key, location, count, view=None):
        if key not in self.known:
            self.known[key] = TypedStorage(_C.empty(count, dtype=kind.dtype)), location
        return self.known[key][0]


def _load_legacy(file, map_location, safe, options):
    storages = _LegacyStorages(map_location)

    def read():
        return _Unpickler(file, storages, safe, **options).load()
    try:
        magic = read()
    except EOFError:
        raise EOFError("Ran out of input") from None
    if magic != _MAGIC:
        if safe:
            raise pickle.UnpicklingError("the file is none of PyTorch's: no archive, and no number that says so")
        raise RuntimeError("Invalid magic number; corrupt file?")
    if read() != 1001:
        raise RuntimeError("Invalid protocol version of the file")
    read()  # what machine wrote it
    result = read()
    for key in read():
        if key not in storages.known:
            raise RuntimeError(f"the file has bytes of an unknown storage '{key}'")
        storage, _ = storages.known[key]
        (count,) = struct.unpack("<q", file.read(8))
        if count != storage.size():
            raise RuntimeError(f"storage '{key}' should have {storage.size()} elements, but has {count}")
        data = bytearray(file.read(storage.nbytes()))
        if len(data) != storage.nbytes():
            raise RuntimeError(f"storage '{key}' is cut off")
        if data:
            storage._flat().copy_(_over(data, storage.dtype)._flat())
    if map_location is not None:
        result = _moved(result, map_location)
    return result


def _moved(value, map_location):
    """Containers with their tensors at another place."""
    if isinstance(value, _C.TensorBase):
        place = map_location if not isinstance(map_location, dict) else map_location.get(str(value.device), value.device)
        return value if callable(place) else value.to(place)
    if isinstance(value, dict):
        return type(value)((k, _moved(v, map_location)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(v, map_location) for v in value)
    return value
