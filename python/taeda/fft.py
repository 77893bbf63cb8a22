"""torch.fft."""

from . import _C

globals().update({name: getattr(_C._fft, name) for name in dir(_C._fft) if not name.startswith("_")})
