"""torch.cpu.amp: automatic mixed precision on the CPU."""

from .. import _C
from ..amp import GradScaler as _GradScaler, autocast as _autocast

__all__ = ["GradScaler", "autocast"]


class autocast(_autocast):
    def __init__(self, enabled=True, dtype=_C.bfloat16, cache_enabled=True):
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
