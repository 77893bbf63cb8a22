"""Taeda for Python: tensors, automatic differentiation and neural networks under PyTorch's names.

    import taeda as torch

Programs written for PyTorch run unchanged by `python -m taeda.compat program.py`.
"""

import math as _math
import os as _os

from . import _missing  # first: it has a part in each import
from . import _load  # then the library
from . import _C
from ._C import *  # noqa: F403  operations, dtypes, device, Size, Generator
from ._tensor import Tensor
from .functional import *  # noqa: F403  those whose signatures are richer in Python
from .functional import _assert
from .creation import *  # noqa: F403  tensor, as_tensor, from_dlpack, FloatTensor
from .aliases import *  # noqa: F403  torch.exp_, torch.det
from .low_level import *  # noqa: F403  torch.native_layer_norm
from .control_flow import cond, while_loop
from .numbers import finfo, iinfo
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .settings import *  # noqa: F403  printing, determinism
from .autograd.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ._streams import Event, Stream
from .amp import GradScaler, autocast
from .storage import TYPES as _storage_types, TypedStorage, UntypedStorage
from ._foreach import FUNCTIONS as _foreach_functions
from .torch_version import TorchVersion
from . import _more_signatures, autograd, fft, linalg, random, special, sparse, types

TYPE_CHECKING = False
if TYPE_CHECKING:  # imported when they are asked for: _missing.py
    from . import serialization
    from .serialization import load, save

__version__ = TorchVersion("2.15.0+taeda" + _C.__version__)

globals().update(_storage_types)
globals().update(_foreach_functions)
pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None
device, dtype, layout, memory_format, Size, Generator = (
    _C.device, _C.dtype, _C.layout, _C.memory_format, _C.Size, _C.Generator)

_more_signatures.install()

# The threads of a parent do not live in its children: a parallel loop there would wait for them for ever.
_os.register_at_fork(after_in_child=lambda: _C.set_num_threads(1))


def __getattr__(name):
    return _missing.attribute("taeda", name)


def __dir__():
    return sorted({*globals(), *_missing.LAZY, *_missing.FUNCTIONS})
