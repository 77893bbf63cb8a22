"""Copies of a module on several devices, whose parameters are results of the original's."""

from ... import _C
from .comm import _devices, device_of


def _state(network):
    """All modules, and their tensors with the number of the module that each is of; a shared one once."""
    modules = list(network.modules())
    tensors, groups, places = [], [], {}
    for number, module in enumerate(modules):
        for values in (module._parameters, module._buffers):
            for value in values.values():
                if value is not None and id(value) not in places:
                    places[id(value)] = len(tensors)
                    tensors.append(value)
                    groups.append(number)
    return modules, tensors, groups, places


class Replicator:
    """Makes replicas of a module again and again; keeps streams and memory."""

    def __init__(self, devices):
        self.devices = devices
        self._broadcast = _C._parallel.Broadcast(devices)

    def __call__(self, network, count, detach=False):
        """Replicas on the first `count` devices. They share all but modules, parameters and buffers with the original."""
        modules, tensors, groups, places = _state(network)
        if not tensors:
            copies = [[] for _ in range(count)]
        elif detach:
            copies = self._broadcast.send([t.detach() for t in tensors], groups, count)
        else:
            copies = self._broadcast.send(tensors, groups, count)
        return [_replica(modules, places, own) for own in copies]


def _replica(modules, places, tensors):
    numbers = {id(module): i for i, module in enumerate(modules)}
    replicas = [module._replicate_for_data_parallel() for module in modules]
    for module, replica in zip(modules, replicas):
        for name, child in module._modules.items():
            replica._modules[name] = None if child is None else replicas[numbers[id(child)]]
        replica._former_parameters = {}
        for name, value in module._parameters.items():
            if value is None:
                replica._parameters[name] = None
                continue
            own = tensors[places[id(value)]]
            # No leaf, so no Parameter: an attribute, as modules look for their weights.
            replica.__dict__[name] = own
            replica._former_parameters[name] = own
        for name, value in module._buffers.items():
            replica._buffers[name] = None if value is None else tensors[places[id(value)]]
    return replicas[0]


def replicate(network, devices, detach=False):
    """A list of replicas of a module, one on each device."""
    params = list(network.parameters())
    places = _devices(params[0], devices) if params else [device_of(d) for d in devices]
    return Replicator(places)(network, len(places), detach)
