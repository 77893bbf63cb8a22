"""torch.cuda: NVIDIA GPUs or, with TAEDA_SIM_AS_CUDA, simulated devices that answer to the name."""

from .. import _C
from .._devices.functions import functions as _functions
from .._operations.create import legacy_types as _legacy_types

globals().update(_functions("cuda"))
globals().update(_legacy_types("cuda"))
AcceleratorError = RuntimeError  # what a kernel that failed is reported as
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


def get_gencode_flags():
    return ""


def _generators():
    """The generators of all devices, in order."""
    return tuple(_C._device.default_generator(_C.device("cuda", i)) for i in range(device_count()))  # noqa: F821


def __getattr__(name):
    if name == "default_generators":
        return _generators()
    from .._core.missing import attribute
    return attribute(__name__, name)
