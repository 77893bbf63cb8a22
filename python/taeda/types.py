"""Names of types for annotations."""

import builtins

from . import _C
from ._tensor import Tensor

Number = builtins.int | builtins.float | builtins.bool
Device = _C.device | str | builtins.int | None
_size = _C.Size | list[builtins.int] | tuple[builtins.int, ...]
_dtype, _device, _layout = _C.dtype, _C.device, _C.layout
Storage = object
__all__ = ["Number", "Device", "Tensor"]
