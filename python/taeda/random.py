"""The default generator of the CPU, and seeds for all devices."""

import contextlib

from . import _C

default_generator = _C.default_generator


def manual_seed(seed):
    """Restarts the random numbers of every device.

    seed: an int, a scalar; it gives the CPU's generator

    >>> generator = torch.manual_seed(0)
    >>> torch.rand(1)
    tensor([0.4963])
    """
    seed = int(seed)
    if not -2 ** 63 <= seed < 2 ** 64:
        raise ValueError("Overflow when unpacking long long")
    _C._manual_seed(seed & 0xFFFFFFFFFFFFFFFF)
    return default_generator


def seed():
    """Seeds every device from the system's entropy; returns the seed. Takes no arguments.

    >>> isinstance(torch.seed(), int)
    True
    """
    value = default_generator.seed()
    manual_seed(value)
    return value


def initial_seed():
    """What the CPU's random numbers began with, an int. Takes no arguments.

    >>> generator = torch.manual_seed(3)
    >>> torch.initial_seed()
    3
    """
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the CPU's random numbers, a vector of bytes. Takes no arguments.

    >>> torch.get_rng_state().dtype
    torch.uint8
    """
    return default_generator.get_state()


def set_rng_state(new_state):
    """Has the CPU's random numbers go on from a state, a vector of bytes that get_rng_state gave; another is a RuntimeError.

    >>> state = torch.get_rng_state()
    >>> x = torch.rand(1)
    >>> torch.set_rng_state(state)
    >>> torch.equal(torch.rand(1), x)
    True
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, device_type="cuda"):
    """Random numbers that are drawn in the block leave no trace behind it."""
    if not enabled:
        yield
        return
    kind = device_type if _C._device.is_available(device_type) else None
    places = range(_C._device.device_count(kind)) if devices is None and kind else devices or ()
    generators = [_C._device.default_generator(_C.device(kind, p) if isinstance(p, int) else _C.device(p)) for p in places]
    states = get_rng_state(), [g.get_state() for g in generators]
    try:
        yield
    finally:
        set_rng_state(states[0])
        for generator, state in zip(generators, states[1]):
            generator.set_state(state)
