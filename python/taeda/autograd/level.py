"""Levels: what one transform of a function watches, in the graph that all of them share (Note [Levels], autograd/level.h)."""

from .. import _C
from .._core.pytree import tree_flatten, tree_unflatten


class Level:
    """What a transform watches while it calls its function, and who else may want derivatives of what comes out.

    Its own leaves take the place of tensors that nobody outside differentiates; tensors that somebody does are continued by a
    step of their own. Whatever else the function sees is a constant to the transform and no constant outside.
    """

    def __init__(self):
        self.recorded = _C.is_grad_enabled()
        self.first = _C._first_of_level()
        self.leaves = []  # its own

    def watch(self, value, watched):
        """`value` with tensors in the place of its own that remember what is computed of them; appended to `watched`."""
        found, structure = tree_flatten(value)
        fresh = [self._watched(x) for x in found]
        watched += fresh
        return tree_unflatten(fresh, structure)

    def _watched(self, x):
        if not isinstance(x, _C.TensorBase):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        x = _C._map_everywhere(x)  # in a map over samples each has a gradient of its own
        if self.recorded and x.requires_grad:
            return x * 1
        self.leaves.append(x.detach().requires_grad_())
        return self.leaves[-1]

    def reaches_outside(self, outputs, weights=()):
        """Whether derivatives by these outputs, in these directions, may be differentiated by anybody else."""
        return _C.is_grad_enabled() and (any(w.requires_grad for w in weights)
                                         or _C._reaches_outside(self.first, outputs, self.leaves))

    def left(self, value, keep=False):
        """`value` as it is outside, where the leaves are constants; with `keep` the graph to them stays usable."""
        leaves, structure = tree_flatten(value)
        tensors = [x for x in leaves if isinstance(x, _C.TensorBase)]
        rest = iter(_C._close_level(self.first, tensors, self.leaves, self.recorded, not keep))
        return tree_unflatten([next(rest) if isinstance(x, _C.TensorBase) else x for x in leaves], structure)
