"""torch.nn.parallel: one model on several devices, or in several processes."""

from . import comm  # noqa: F401
from .data_parallel import DataParallel, data_parallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter, scatter_kwargs  # noqa: F401

__all__ = ["replicate", "scatter", "parallel_apply", "gather", "data_parallel", "DataParallel", "DistributedDataParallel"]


def __getattr__(name):
    # What needs torch.distributed, which programs on one machine do without.
    if name == "distributed":
        import importlib
        return importlib.import_module("taeda.nn.parallel.distributed")
    if name in ("DistributedDataParallel", "DistributedDataParallelCPU"):  # its old name for modules on the CPU
        from .distributed import DistributedDataParallel
        return DistributedDataParallel
    from ..._core.missing import attribute
    return attribute(__name__, name)
