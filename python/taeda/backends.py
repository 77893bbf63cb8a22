"""torch.backends: switches of the libraries behind devices."""

import contextlib
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
        from ._core.missing import attribute
        return attribute(self.__name__, name)

    def __setattr__(self, name, value):
        if (key := f"{self._prefix}.{name}") in _switches:
            _switches[key][1](bool(value))
        else:
            self.__dict__[name] = value


def _room(name, prefix, **fixed):
    made = sys.modules[f"taeda.backends.{name}"] = _Room(name, prefix, **fixed)
    return made


@contextlib.contextmanager
def _flags(room, **values):
    """Switches of a room for a block."""
    before = {name: getattr(room, name) for name in values}
    for name, value in values.items():
        setattr(room, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(room, name, value)


cudnn = _room("cudnn", "cudnn", is_available=lambda: _C._device.is_available("cuda"), version=lambda: None,
              CUDNN_TENSOR_DTYPES=set(), benchmark_limit=10)
cuda = _room("cuda", "cuda", matmul=_room("cuda.matmul", "matmul"), is_built=lambda: True)
# Which ways of computing attention may be chosen. Taeda has one for each device, so that choices change nothing.
_attention = dict.fromkeys(("flash", "mem_efficient", "math", "cudnn"), True)
for _way in _attention:
    setattr(cuda, f"enable_{_way}_sdp", lambda enabled, way=_way: _attention.update({way: bool(enabled)}))
    setattr(cuda, f"{_way}_sdp_enabled", lambda way=_way: _attention[way])


class _Plans:
    """What a device keeps of transforms that it has planned. Taeda plans within the call, so that it is always empty."""

    size, max_size = 0, 4096

    def clear(self):
        """Nothing to forget."""

    def __getitem__(self, device):
        return self


@contextlib.contextmanager
def _sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """Which ways of computing attention may be chosen in a block."""
    before = dict(_attention)
    _attention.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _attention.update(before)


def _chosen(names, first):
    """A function that names the library in use, and takes another name."""
    def call(backend=None):
        if backend is not None and str(backend).rpartition(".")[2].lower() not in names:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(names)}.")
        return first
    return call


cuda.sdp_kernel, cuda.cufft_plan_cache = _sdp_kernel, _Plans()
cuda.is_flash_attention_available = lambda: False
for _way in ("flash", "efficient", "cudnn"):
    setattr(cuda, f"can_use_{_way}_attention", lambda params, debug=False: False)
cuda.preferred_linalg_library = _chosen(("default", "cusolver", "magma"), "default")
cuda.preferred_blas_library = _chosen(("default", "cublas", "cublaslt", "hipblaslt", "ck"), "default")
cudnn.flags = lambda enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True: _flags(
    cudnn, enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic,
    allow_tf32=allow_tf32)
mps = _room("mps", "mps", is_available=lambda: False, is_built=lambda: False)
mkldnn = _room("mkldnn", "mkldnn", is_available=lambda: True, enabled=True)
mkl = _room("mkl", "mkl", is_available=lambda: False)
openmp = _room("openmp", "openmp", is_available=lambda: True)


class _Verbose:
    """A block of which MKL would tell what it does."""

    def __init__(self, enable):
        self.enable = enable

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


mkl.VERBOSE_OFF, mkl.VERBOSE_ON, mkl.verbose = 0, 1, _Verbose
_fast_path = [True]
mha = _room("mha", "mha", get_fastpath_enabled=lambda: _fast_path[0],  # layers have one path, whatever this says
            set_fastpath_enabled=lambda value: _fast_path.__setitem__(0, bool(value)))
nnpack = _room("nnpack", "nnpack", is_available=lambda: False, set_flags=lambda _enabled: (False,))
xnnpack = _room("xnnpack", "xnnpack", enabled=False)
miopen = _room("miopen", "miopen", immediate=False)
cusparselt = _room("cusparselt", "cusparselt", is_available=lambda: False, version=lambda: None)
kleidiai = _room("kleidiai", "kleidiai", is_available=lambda: False)
opt_einsum = _room("opt_einsum", "opt_einsum", is_available=lambda: False, get_opt_einsum=lambda: None, enabled=False,
                   strategy=None)
__path__ = []
