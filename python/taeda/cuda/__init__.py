"""torch.cuda: NVIDIA GPUs or, with TAEDA_SIM_AS_CUDA, simulated devices that answer to the name."""

from .. import _C
from .._accelerator import functions as _functions
from ..creation import legacy_types as _legacy_types

globals().update(_functions("cuda"))
globals().update(_legacy_types("cuda"))
OutOfMemoryError = _C.OutOfMemoryError
has_half = True


def init():
    """Does nothing: devices are made ready when they are first used."""


def is_initialized():
    return is_available()  # noqa: F821


def is_bf16_supported(including_emulation=True):
    return is_available()  # noqa: F821


def ipc_collect():
    """Does nothing: memory is shared between processes through files."""


def get_arch_list():
    return []


def is_current_stream_capturing():
    return False


def __getattr__(name):
    if name in ("amp", "nccl", "nvtx", "comm"):
        import importlib
        return importlib.import_module(f"taeda.cuda.{name}")
    from .._missing import attribute
    return attribute(__name__, name)
