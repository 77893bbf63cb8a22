"""Tensors from data."""

from .. import _C
from .._more_signatures import into as _into
from .._tensor import COPY_CONSTRUCT, Tensor
from .._core.warnings import warn

__all__ = ["tensor", "as_tensor", "asarray", "from_dlpack", "frombuffer", "full", "normal", "range", "scalar_tensor"]


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor with the numbers of nested lists, of an array or of a tensor. Lists of unequal lengths are a ValueError."""
    if isinstance(data, _C.TensorBase):
        warn(COPY_CONSTRUCT)
    out = _C._tensor_from(data, dtype, device if device is not None else default_device())
    if pin_memory:
        out = out.pin_memory()
    return out.requires_grad_() if requires_grad else out


def as_tensor(data, dtype=None, device=None):
    """A tensor over the same data where that is possible, else with a copy."""
    if isinstance(data, _C.TensorBase):
        return data.to(device=device or data.device, dtype=dtype or data.dtype)
    if type(data).__module__ == "numpy" and hasattr(data, "__array_interface__") and data.ndim:
        shared = _C.from_numpy(data if data.flags.aligned else data.copy())
        return shared.to(device=device or shared.device, dtype=dtype or shared.dtype)
    return _C._tensor_from(data, dtype, device if device is not None else default_device())


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """As as_tensor; `copy` True forces a copy, False refuses one."""
    if copy and not isinstance(obj, _C.TensorBase):
        out = _C._tensor_from(obj, dtype, device if device is not None else default_device())
        return out.requires_grad_() if requires_grad else out
    out = as_tensor(obj, dtype, device)
    shares = isinstance(obj, _C.TensorBase) and out is obj or type(obj).__module__ == "numpy" and (
        out.device.type == "cpu" and (dtype is None or dtype == out.dtype))
    if copy is False and not shares:
        raise ValueError("cannot alias the data of the object: a copy would be needed")
    if copy and shares:
        out = out.clone()
    return out.requires_grad_() if requires_grad else out


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A vector over the memory of an object with the buffer protocol."""
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


def range(*args, **kwargs):
    """range(start=0, end, step=1): numbers from start to end, the end among them; PyTorch gives it up for arange."""
    warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's "
         "range builtin. Instead, use torch.arange, which produces values in [start, end).")
    return _C.range(*args, **kwargs)


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of another library's array, by DLPack; a copy where `copy` says so or the device is another."""
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


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of that size with one value everywhere."""
    if isinstance(fill_value, _C.TensorBase):
        fill_value = fill_value.item()
    if out is not None:
        return _into(out, _C.full(_sizes("full", size), fill_value, dtype=out.dtype, device=out.device), silently=True)
    return _C.full(size, fill_value, dtype=dtype, device=device if device is not None else default_device(),
                   requires_grad=requires_grad, pin_memory=pin_memory)


def _sizes(function, size):
    """The sizes, which are a sequence also where there is one."""
    if not isinstance(size, (list, tuple)):
        raise TypeError(f"{function}(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    return size


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    return _C.scalar_tensor(s, dtype=dtype, device=device, requires_grad=requires_grad)


def normal(mean, std=None, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
           pin_memory=False, requires_grad=False):
    """Random numbers of a normal distribution: mean and std are tensors, or numbers with a size."""
    if isinstance(std, (int, float)) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if size is not None:
        made = _C.randn(_sizes("normal", size), generator=generator, dtype=dtype, layout=layout, device=device)
        made = made * (1.0 if std is None else std) + mean
        made = made.requires_grad_() if requires_grad else made
    elif isinstance(mean, _C.TensorBase):
        made = _C.normal(mean, 1.0 if std is None else std, generator=generator)
    else:
        made = _C.normal(mean, std, generator=generator)
    return _into(out, made)


_default_device = None


def default_device():
    return _default_device


def _is_storage(obj):
    return hasattr(obj, "_storage_of_torch")


class _LegacyType(type):
    """Classes like torch.FloatTensor: they make tensors, and tensors of their dtype are their instances."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype and instance.device.type == cls.device_type

    @property
    def is_cuda(cls):
        return cls.device_type == "cuda"

    @property
    def is_sparse(cls):
        return False

    @property
    def is_xpu(cls):
        return False

    @property
    def layout(cls):
        return _C.strided

    def __call__(cls, *args):
        if not args:
            return _C.empty(0, dtype=cls.dtype, device=cls.device_type)
        first = args[0]
        if _is_storage(first):
            from ..storage import tensor_over
            return tensor_over(first, cls.dtype)
        if isinstance(first, int):
            return _C.empty(args, dtype=cls.dtype, device=cls.device_type)
        if len(args) > 1:
            raise TypeError(f"{cls.__name__} takes sizes, a torch.Size, a tensor or values, but got "
                            f"({', '.join(type(a).__name__ for a in args)})")
        if isinstance(first, _C.TensorBase):
            if not isinstance(first, cls):
                raise TypeError(f"expected {cls.__name__} (got {first.type()})")
            return first.alias()
        if isinstance(first, _C.Size):
            return _C.empty(first, dtype=cls.dtype, device=cls.device_type)
        if isinstance(first, float):
            raise TypeError("new(): data must be a sequence (got float)")
        return _C._tensor_from(first, cls.dtype, cls.device_type)


def legacy_types(device_type):
    """{name: class} of the legacy classes of a device type."""
    kinds = {"Float": _C.float32, "Double": _C.float64, "Half": _C.float16, "BFloat16": _C.bfloat16, "Byte": _C.uint8,
             "Char": _C.int8, "Short": _C.int16, "Int": _C.int32, "Long": _C.int64, "Bool": _C.bool}
    module = "torch" if device_type == "cpu" else f"torch.{device_type}"
    return {f"{name}Tensor": _LegacyType(f"{name}Tensor", (), {"dtype": dtype, "device_type": device_type,
                                                              "__module__": module})
            for name, dtype in kinds.items()}


globals().update(legacy_types("cpu"))
__all__ += list(legacy_types("cpu"))
