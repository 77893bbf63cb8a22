"""torch.version: PyTorch's version whose names these are; there is no CUDA that this build would be for."""

from .torch_version import __version__

cuda = None
hip = None
rocm = None
xpu = None
debug = False
git_version = "unknown"
__all__ = ["__version__", "cuda", "debug", "hip"]
