"""Derivatives in one direction: tensors that carry a tangent.

    with dual_level():
        y = f(make_dual(x, tangent))
        primal, derivative = unpack_dual(y)

Operations record what backward passes need, and unpack_dual finds the derivative by a gradient of a gradient. So it takes what
two backward passes take, and a result of what ran under no_grad has no tangent.
"""

import collections

from .. import _C
from .level import Level
from .modes import enable_grad
from .passes import grad

__all__ = ["UnpackedDualTensor", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual", "dual_level"]

UnpackedDualTensor = collections.namedtuple("UnpackedDualTensor", ["primal", "tangent"])


class _Dual(Level):
    def __init__(self):
        super().__init__()
        self.duals, self.tangents = [], []


_levels = []


def enter_dual_level():
    """Begins a level; returns its number. Levels do not nest."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append(_Dual())
    return 0


def exit_dual_level(*, level=None):
    """Ends the level, and what its tensors carry."""
    if not _levels or level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not entered")
    _levels.pop()


def _current(level, what):
    if not _levels or level not in (None, 0):
        raise RuntimeError(f"Trying to {what} a dual Tensor but no level exists. Make sure to enter_dual_level() first.")
    return _levels[-1]


def make_dual(tensor, tangent, *, level=None):
    """The tensor, carrying a tangent of the same shape and dtype."""
    at = _current(level, "create")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(f"Trying to set a forward gradient of size {list(tangent.shape)} for a tensor of size "
                           f"{list(tensor.shape)}")
    if tensor.dtype != tangent.dtype:
        raise RuntimeError(f"Trying to set a forward gradient of dtype {tangent.dtype} for a tensor of dtype {tensor.dtype}")
    with enable_grad():
        dual = at.watch(tensor, at.duals)
        at.tangents.append(tangent)
        return dual.clone()  # which may be changed in place


def unpack_dual(tensor, *, level=None):
    """What a tensor is and the tangent that it carries; None for one that carries none."""
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    at = _current(level, "unpack")
    if not tensor.requires_grad or not at.duals:
        return UnpackedDualTensor(tensor, None)
    recorded = _C.is_grad_enabled()
    with enable_grad():
        weights = _C.zeros_like(tensor).requires_grad_()
        first = grad([tensor], at.duals, [weights], create_graph=True, retain_graph=True, allow_unused=True)
        pairs = [(g, t) for g, t in zip(first, at.tangents) if g is not None and g.requires_grad]
        if not pairs:
            return UnpackedDualTensor(at.left(tensor, keep=True), None)
        at.leaves.append(weights)
        outside = recorded and at.reaches_outside([tensor], [t for _, t in pairs])
        tangent, = grad([g for g, _ in pairs], [weights], [t for _, t in pairs], create_graph=outside, retain_graph=True,
                        allow_unused=True)
    tangent = _C.zeros_like(tensor) if tangent is None else tangent
    return UnpackedDualTensor(*at.left((tensor, tangent), keep=True))


class dual_level:
    """A level for a block."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *error):
        exit_dual_level(level=0)
