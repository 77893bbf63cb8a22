"""torch.nn.attention: names of ways to compute scaled_dot_product_attention, which differ in PyTorch by speed and memory.

Taeda has one for each device, whatever the name: a choice is checked and changes no result.
"""

import contextlib
import enum

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """PyTorch's names and numbers."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_current = [list(SDPBackend)[1:]]


def _cur_sdpa_kernel_backends(with_priority=False):
    return list(_current[-1])


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Accepts a backend, or a list of them, for a block."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    _current.append(list(dict.fromkeys([backends] if isinstance(backends, SDPBackend) else backends)))
    try:
        yield {}
    finally:
        _current.pop()


def __getattr__(name):
    if name in ("bias", "flex_attention"):
        import importlib
        return importlib.import_module(f"taeda.nn.attention.{name}")
    from ..._core.missing import attribute
    return attribute(__name__, name)
