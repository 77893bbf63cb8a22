"""Tensors to several devices and back, differentiably."""

from ... import _C

_parallel = _C._parallel


def device_of(place, kind=None):
    """A device given as a number of the accelerator, a text or a torch.device; -1 is the CPU."""
    if isinstance(place, int):
        return _C.device("cpu") if place < 0 else _C.device(kind or accelerator(), place)
    place = _C.device(place)
    if place.type != "cpu" and place.index is None:
        return _C.device(place.type, _C._device.current_device(place.type))
    return place


def accelerator():
    """The type of devices that programs mean by a number."""
    return _C._device.preferred_type() or "cuda"


def _devices(tensor, devices):
    kind = tensor.device.type if tensor.device.type != "cpu" else None
    return [device_of(d, kind) for d in devices]


def broadcast(tensor, devices=None, *, out=None):
    """The tensor on each device; a tuple. With `out` it is written to those tensors instead."""
    if (devices is None) == (out is None):
        raise RuntimeError(f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}")
    if out is not None:
        for t in out:
            t.copy_(tensor)
        return tuple(out)
    return broadcast_coalesced([tensor], devices, group=True)[0]


def broadcast_coalesced(tensors, devices, buffer_size=10485760, *, group=False):
    """For each device the tensors there, in few transfers; a list for each device, or with `group` for each tensor."""
    tensors = list(tensors)
    made = _parallel.Broadcast(_devices(tensors[0], devices)).send(tensors, [0] * len(tensors), len(devices))
    return tuple(zip(*made)) if group else made


def reduce_add(inputs, destination=None):
    """The sum of tensors, each on a device of its own, on one device, by default the first tensor's."""
    place = inputs[0].device if destination is None else device_of(destination, inputs[0].device.type)
    if any(t.shape != inputs[0].shape for t in inputs):
        got = "x".join(str(s) for s in next(t for t in inputs if t.shape != inputs[0].shape).shape)
        expected = "x".join(str(s) for s in inputs[0].shape)
        raise ValueError(f"input has invalid size: got {got}, but expected {expected}")
    return _parallel.reduce_add(list(inputs), place)


def reduce_add_coalesced(inputs, destination=None, buffer_size=10485760):
    """The same of lists of tensors, one list for each device."""
    return tuple(reduce_add(list(tensors), destination) for tensors in zip(*inputs))


def scatter(tensor, devices=None, chunk_sizes=None, dim=0, streams=None, *, out=None):
    """The tensor's chunks along `dim`, one on each device; of the given sizes, or as equal as may be."""
    if out is not None:
        start = 0
        for t in out:
            t.copy_(tensor.narrow(dim, start, t.size(dim)))
            start += t.size(dim)
        return tuple(out)
    places = _devices(tensor, devices)
    if chunk_sizes is None:
        return tuple(_parallel.scatter(tensor, places, dim))
    return tuple(chunk.to(place) for chunk, place in zip(tensor.split(list(chunk_sizes), dim), places))


def gather(tensors, dim=0, destination=None, *, out=None):
    """The tensors one after the other along `dim` on one device, by default the current one; -1 is the CPU."""
    tensors = list(tensors)
    if out is not None:
        return out.copy_(_parallel.gather(tensors, out.device, dim))
    kind = tensors[0].device.type
    place = _C.device(kind, _C._device.current_device(kind)) if destination is None else device_of(destination, kind)
    return _parallel.gather(tensors, place, dim)
