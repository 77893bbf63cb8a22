"""What memory holds that nobody has written to, while torch.use_deterministic_algorithms is on."""

import sys
import types

from .. import _C


class _Deterministic(types.ModuleType):
    """This module: its name is a switch of the library."""

    @property
    def fill_uninitialized_memory(self):
        """Whether `torch.empty` and its like fill what they make, and `resize_` what it adds; True at first."""
        return _C._fills_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode):
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
        _C._set_fill_uninitialized_memory(mode)


sys.modules[__name__].__class__ = _Deterministic
