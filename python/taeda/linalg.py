"""torch.linalg."""

from . import _C

globals().update({name: getattr(_C._linalg, name) for name in dir(_C._linalg) if not name.startswith("_")})


# What a factorization that fails raises: programs catch it by this name.
LinAlgError = RuntimeError


def __getattr__(name):
    from ._missing import attribute
    return attribute(__name__, name)
