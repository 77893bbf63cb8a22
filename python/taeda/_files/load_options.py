"""Names of torch.serialization beside save and load: where storages go, and how files are read unless a call says."""

import enum

from .. import _C
from .._operations import create
from ..storage import TYPES, TypedStorage

_registered = []  # (priority, function that names a storage's place, function that puts it there)
_defaults = {"mmap": None, "crc32": True, "endianness": None}


class LoadEndianness(enum.Enum):
    """The order of bytes in files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class SourceChangeWarning(Warning):
    """For programs that filter it: Taeda's files hold no source, so that none can have changed."""


def get_default_load_endianness():
    return _defaults["endianness"]


def set_default_load_endianness(endianness):
    """Taken over where it is that of this machine, little; files of another are refused."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    if endianness is LoadEndianness.BIG:
        raise NotImplementedError("set_default_load_endianness: Taeda reads files of little-endian machines")
    _defaults["endianness"] = endianness


def get_default_mmap_options():
    """The flag for memory-mapped files: MAP_PRIVATE."""
    import mmap
    return mmap.MAP_PRIVATE if _defaults["mmap"] is None else _defaults["mmap"]


class set_default_mmap_options:
    """mmap.MAP_PRIVATE or mmap.MAP_SHARED from now on; as a context manager, for a block. Tensors are read to memory of their
    own in either case."""

    def __init__(self, flags):
        import mmap
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError("Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                             f"mmap.MAP_SHARED, but got {flags}")
        self.before, _defaults["mmap"] = _defaults["mmap"], flags

    def __enter__(self):
        return self

    def __exit__(self, *error):
        _defaults["mmap"] = self.before


def get_crc32_options():
    return _defaults["crc32"]


def set_crc32_options(compute_crc32):
    """Accepted: files have their checksums in any case, as archives must."""
    _defaults["crc32"] = bool(compute_crc32)


def location_of(storage):
    """ "cpu", "cuda:0"."""
    device = storage.device
    return "cpu" if device.type == "cpu" else str(device)


def placed(storage, location, map_location):
    """The storage where `map_location` says: a device, a dict of locations, or a function of storage and location."""
    if callable(map_location):
        moved = map_location(storage, location)
        return storage if moved is None else moved
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif map_location is not None:
        location = str(map_location)
    if location == "cpu":
        return storage if storage.device.type == "cpu" else TypedStorage._of(storage._flat().cpu())
    if location.split(":")[0] == "cuda":
        validate_cuda_device(location)
    try:
        return TypedStorage._of(storage._flat().to(location))
    except RuntimeError as error:
        raise RuntimeError(f"Attempting to deserialize object on a device that is not there ({location}): {error}. Use "
                           "torch.load with map_location=torch.device('cpu') to map your storages to the CPU.") from None


def location_tag(storage):
    """The name under which a file keeps a storage's place: "cpu", "cuda:0". A registered package may name it."""
    for _, tag, _ in _registered:
        found = tag(storage)
        if found:
            return found
    return location_of(storage)


def default_restore_location(storage, location):
    """The storage at a place that location_tag named; for a load's `map_location`. RuntimeError for one that is not there."""
    for _, _, restore in _registered:
        found = restore(storage, location)
        if found is not None:
            return found
    return placed(storage, None, location)


def register_package(priority, tagger, deserializer):
    """Asks tagger(storage) for places and deserializer(storage, place) for storages before all others of a higher priority."""
    _registered.append((priority, tagger, deserializer))
    _registered.sort(key=lambda entry: entry[0])


def normalize_storage_type(storage_type):
    """The class of torch for a storage's."""
    return TYPES.get(storage_type.__name__, storage_type)


def storage_to_tensor_type(storage):
    """The class of tensors over a storage."""
    return getattr(create, type(storage).__name__.replace("Storage", "Tensor"))


def validate_cuda_device(location):
    """The number of a CUDA device that is there. RuntimeError for others."""
    device = _C.device(location)
    if device.type != "cuda":
        raise RuntimeError(f"expected a place on a CUDA device, but got {location}")
    count = _C._device.device_count("cuda")
    if not count:
        raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you "
                           "are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to "
                           "map your storages to the CPU.")
    index = device.index or 0
    if index >= count:
        raise RuntimeError(f"Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is {count}. "
                           "Please use torch.load with map_location to map your storages to an existing device.")
    return index


def check_module_version_greater_or_equal(module, req_version_tuple, error_if_malformed=True):
    """Whether a module's `__version__` is at least that of the tuple."""
    try:
        kinds = [type(part) for part in req_version_tuple]
        found = tuple(kind(part) for kind, part in zip(kinds, module.__version__.split(".")))
        return found >= tuple(req_version_tuple)
    except Exception as error:
        if error_if_malformed:
            raise RuntimeError(f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be "
                               f"compared with tuple {req_version_tuple}") from error
        return True
