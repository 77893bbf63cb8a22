"""torch.backends: switches of the libraries behind devices."""

import sys
import types

from . import _C

_switches = _C._device.switches


class _Room(types.ModuleType):
    """A namespace whose attributes are switches."""

    def __init__(self, name, prefix, **fixed):
        super().__init__(f"taeda.backends.{name}")
        self.__dict__.update(_prefix=prefix, __path__=[])
        self.__dict__.update(fixed)

    def __getattr__(self, name):
        if (key := f"{self._prefix}.{name}") in _switches:
            return _switches[key][0]()
        from ._missing import attribute
        return attribute(self.__name__, name)

    def __setattr__(self, name, value):
        if (key := f"{self._prefix}.{name}") in _switches:
            _switches[key][1](bool(value))
        else:
            self.__dict__[name] = value


def _room(name, prefix, **fixed):
    made = sys.modules[f"taeda.backends.{name}"] = _Room(name, prefix, **fixed)
    return made


cudnn = _room("cudnn", "cudnn", is_available=lambda: _C._device.is_available("cuda"), version=lambda: None,
              CUDNN_TENSOR_DTYPES=set())
cuda = _room("cuda", "cuda", matmul=_room("cuda.matmul", "matmul"), is_built=lambda: True)
# Which ways of computing attention may be chosen. Taeda has one for each device, so that choices change nothing.
_attention = dict.fromkeys(("flash", "mem_efficient", "math", "cudnn"), True)
for _way in _attention:
    setattr(cuda, f"enable_{_way}_sdp", lambda enabled, way=_way: _attention.update({way: bool(enabled)}))
    setattr(cuda, f"{_way}_sdp_enabled", lambda way=_way: _attention[way])
mps = _room("mps", "mps", is_available=lambda: False, is_built=lambda: False)
mkldnn = _room("mkldnn", "mkldnn", is_available=lambda: True, enabled=True)
mkl = _room("mkl", "mkl", is_available=lambda: False)
openmp = _room("openmp", "openmp", is_available=lambda: True)
__path__ = []
