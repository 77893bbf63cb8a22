"""Calls of several modules side by side, one on each device."""

import threading

from ... import _C
from ..._core.failures import ExceptionWrapper
from ...autograd.modes import set_grad_enabled
from .comm import device_of
from .scatter_gather import first_tensor

_device, _parallel = _C._device, _C._parallel


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """[module(*input, **kwargs)], each on a thread of its own but the first, which is this one's.

    Threads take over gradient mode, autocast and current streams. The first error, in the order of the modules, is raised.
    """
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    kwargs_tup = ({},) * len(modules) if kwargs_tup is None else kwargs_tup
    if len(modules) != len(kwargs_tup):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of kwargs {len(kwargs_tup)}")
    if devices is not None and len(modules) != len(devices):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of devices {len(devices)}")
    places = [_place(inputs[i], kwargs_tup[i], None if devices is None else devices[i]) for i in range(len(modules))]
    results = [None] * len(modules)
    grad, streams, autocast = _C.is_grad_enabled(), _parallel.current_streams(), _autocast_states(places)

    def work(i):
        arguments = inputs[i] if isinstance(inputs[i], (list, tuple)) else (inputs[i],)
        try:
            results[i] = _call(modules[i], arguments, kwargs_tup[i], places[i])
        except BaseException:
            results[i] = ExceptionWrapper(where=f"in replica {i} on device {places[i]}")

    def on_thread(i):
        _parallel.set_current_streams(streams)
        kept = [_C._amp.enter(*state) for state in autocast]
        with set_grad_enabled(grad):
            work(i)
        del kept

    threads = [threading.Thread(target=on_thread, args=(i,)) for i in range(1, len(modules))]
    for thread in threads:
        thread.start()
    work(0)
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, ExceptionWrapper):
            result.reraise()
    return results


def _place(arguments, kwargs, device):
    if device is not None:
        return device_of(device)
    like = first_tensor((arguments, kwargs))
    if like is None:
        raise AssertionError("parallel_apply: a module without tensors among its arguments needs a device")
    return like.device


def _autocast_states(places):
    devices = {place.type: place for place in places}
    devices.setdefault("cpu", _C.device("cpu"))
    return [(d, _C._amp.dtype(d), True, None) for d in devices.values() if _C._amp.is_enabled(d)]


def _call(module, arguments, kwargs, place):
    if place.type == "cpu":
        return module(*arguments, **kwargs)
    before = _device.current_device(place.type)
    _device.set_device(place)
    try:
        return module(*arguments, **kwargs)
    finally:
        _device.set_device(_C.device(place.type, before))
