"""torch.nn.attention: which kernel attention would take. Taeda chooses by shape and device; results are the same."""

import contextlib
import enum


class SDPBackend(enum.Enum):
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Accepted: attention takes the kernel that fits."""
    yield
