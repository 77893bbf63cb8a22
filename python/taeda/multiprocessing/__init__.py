"""Python's multiprocessing, for which tensors are shared memory: what one process writes, the others see.

A tensor that is put into a queue or pipe, or handed to a process, moves to shared memory and goes as a descriptor; storages
have no names, so none is left behind, however the processes end.
"""

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403

from . import reductions
from .spawn import (ENV_VAR_PARALLEL_START, ProcessContext, ProcessException, ProcessExitedException,
                    ProcessRaisedException, SpawnContext, spawn, start_processes)

__all__ = list(_multiprocessing.__all__) + [
    "ENV_VAR_PARALLEL_START", "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn",
    "start_processes"]

reductions.init_reductions()


def get_all_sharing_strategies():
    """How memory can be shared: by descriptors alone."""
    return {"file_descriptor"}


def get_sharing_strategy():
    return "file_descriptor"


def set_sharing_strategy(new_strategy):
    """Names a strategy. Memory is shared by descriptors in any case: "file_system" would need names in /dev/shm."""
    if new_strategy not in ("file_descriptor", "file_system"):
        raise AssertionError(f"Unknown sharing strategy {new_strategy!r}")
