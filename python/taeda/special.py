"""torch.special."""

from . import _C

globals().update({name: getattr(_C._special, name) for name in dir(_C._special) if not name.startswith("_")})


def __getattr__(name):
    from ._missing import attribute
    return attribute(__name__, name)
