"""Arguments to several devices and results back: tensors, and containers of them to any depth."""

from ... import _C
from ..._core.pytree import leaves_of
from .comm import _devices, _parallel, device_of


def is_namedtuple(obj):
    """Whether it is a tuple whose entries have names."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def _scatter(obj, devices, dim):
    """A list of what each device gets."""
    if isinstance(obj, _C.TensorBase):
        return _parallel.scatter(obj, devices, dim)
    if is_namedtuple(obj):
        return [type(obj)(*args) for args in zip(*(_scatter(o, devices, dim) for o in obj))]
    if isinstance(obj, tuple) and obj:
        return list(zip(*(_scatter(o, devices, dim) for o in obj)))
    if isinstance(obj, list) and obj:
        return [list(i) for i in zip(*(_scatter(o, devices, dim) for o in obj))]
    if isinstance(obj, dict) and obj:
        return [type(obj)(zip(obj, values)) for values in zip(*(_scatter(v, devices, dim) for v in obj.values()))]
    return [obj for _ in devices]


def first_tensor(obj):
    """The first tensor in nested containers, or None."""
    return next((leaf for leaf in leaves_of(obj) if isinstance(leaf, _C.TensorBase)), None)


def scatter(inputs, target_gpus, dim=0):
    """Splits tensors along `dim` over devices; everything else goes to all of them. A list, as long as there are chunks."""
    like = first_tensor(inputs)
    devices = _devices(like, target_gpus) if like is not None else [device_of(d) for d in target_gpus]
    return _scatter(inputs, devices, dim)


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    """Positional and keyword arguments for each device, as two tuples of one length."""
    scattered = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    scattered += [()] * (len(named) - len(scattered))
    named += [{}] * (len(scattered) - len(named))
    return tuple(scattered), tuple(named)


def gather(outputs, target_device, dim=0):
    """Puts what the devices returned together along `dim` on one device; -1 is the CPU."""
    out = outputs[0]
    if isinstance(out, _C.TensorBase):
        return _parallel.gather(list(outputs), device_of(target_device, out.device.type), dim)
    if out is None:
        return None
    if isinstance(out, dict):
        if not all(len(out) == len(d) for d in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(out)((k, gather([d[k] for d in outputs], target_device, dim)) for k in out)
    if is_namedtuple(out):
        return type(out)._make(gather(list(o), target_device, dim) for o in zip(*outputs))
    if isinstance(out, (list, tuple)):
        return type(out)(gather(list(o), target_device, dim) for o in zip(*outputs))
    raise TypeError(f"gather: expected tensors, or lists, tuples and dicts of them, got {type(out).__name__}")
