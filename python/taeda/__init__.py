"""Taeda for Python: tensors, automatic differentiation and neural networks under PyTorch's names.

    import taeda as torch

Programs written for PyTorch run unchanged by `python -m taeda.compat program.py`.
"""

import math as _math
import os as _os

from ._core import missing as _missing  # first: it has a part in each import
from ._core import load as _load  # then the library
from . import _C
from ._C import *  # noqa: F403  operations, dtypes, device, Size, Generator
from ._tensor import Tensor
from ._operations.kinds import *  # noqa: F403  functions whose signatures are richer in Python, by families
from ._operations.elementwise import *  # noqa: F403
from ._operations.reduce import *  # noqa: F403
from ._operations.shape import *  # noqa: F403
from ._operations.index import *  # noqa: F403
from ._operations.linalg import *  # noqa: F403
from ._operations.sparse import *  # noqa: F403
from ._operations.nn import *  # noqa: F403
from ._operations.random import *  # noqa: F403
from ._operations.spectral import *  # noqa: F403
from ._operations.create import *  # noqa: F403
from ._operations.memory import *  # noqa: F403
from ._operations.lists import *  # noqa: F403
from ._operations.default_device import get_default_device, set_default_device
from ._core.numbers import finfo, iinfo
from ._core.settings import *  # noqa: F403  printing, determinism
from .random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .autograd.modes import enable_grad, inference_mode, no_grad, set_anomaly_enabled, set_grad_enabled
from ._devices.streams import Event, Stream
from .amp import GradScaler, autocast
from .amp.switches import *  # noqa: F403
from .storage import TYPES as _storage_types, TypedStorage, UntypedStorage
from .torch_version import __version__
from . import autograd, fft, linalg, random, special, sparse, types

TYPE_CHECKING = False
if TYPE_CHECKING:  # imported when they are asked for: _missing.py
    from . import serialization
    from ._devices.modules import get_device_module
    from ._dynamo import compile
    from ._operations.control_flow import cond, while_loop
    from ._operations.vmap import vmap
    from .serialization import load, save

globals().update(_storage_types)
pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None
device, dtype, layout, memory_format, Size, Generator = (
    _C.device, _C.dtype, _C.layout, _C.memory_format, _C.Size, _C.Generator)

# The threads of a parent do not live in its children: a parallel loop there would wait for them for ever.
_os.register_at_fork(after_in_child=lambda: _C.set_num_threads(1))


def __getattr__(name):
    if name in _C._device.accelerator_types() and name not in _missing.LAZY["taeda"]:  # a type that a plug-in brought
        from ._devices.functions import module_of
        return module_of(name)
    return _missing.attribute("taeda", name)


def __dir__():
    return sorted({*globals(), *_missing.LAZY["taeda"], *_missing.NAMES["taeda"]})
