"""torch.sim: simulated accelerators, for programs with several devices on a machine that has none."""

from . import _C
from ._devices.functions import functions as _functions

globals().update(_functions("sim"))


def configure(devices, memory=0, cost=None, compute=True):
    """Makes `devices` simulated devices of `memory` bytes each (0: 2 GiB); while none of them holds memory.

    `cost` names a model of real hardware, say "h100", by which times are predicted. Without `compute` kernels are checked
    and timed, but tensors have no values.
    """
    _C._device.configure_sim(devices, memory, cost, compute)
