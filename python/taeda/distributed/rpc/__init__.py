"""torch.distributed.rpc: functions called at other processes, and references to values there."""

import atexit
import enum
import functools

from ... import _C
from .._rpc import rpc as _rpc
from . import functions  # noqa: F401
from .calls import rpc_async, rpc_sync  # noqa: F401
from .rref import RRef, remote  # noqa: F401

WorkerInfo = _rpc.WorkerInfo
WorkerInfo.__module__ = "taeda.distributed.rpc"  # where pickles find it


class BackendType(enum.Enum):
    TENSORPIPE = "TENSORPIPE"


class TensorPipeRpcBackendOptions:
    """Threads for functions of other workers, seconds that a call may take (0: any), where workers meet, and by the name of
    a worker on which of its devices tensors of this one's arrive."""

    def __init__(self, *, num_worker_threads=16, rpc_timeout=60.0, init_method="env://", device_maps=None, devices=None,
                 _transports=None, _channels=None):
        self.num_worker_threads, self.rpc_timeout, self.init_method = num_worker_threads, float(rpc_timeout), init_method
        self.device_maps, self.devices = {}, list(devices or [])
        for worker, device_map in (device_maps or {}).items():
            self.set_device_map(worker, device_map)

    def set_device_map(self, to, device_map):
        """Adds to what is mapped for a worker: {device here: device there}."""
        from ...nn.parallel.comm import device_of
        known = self.device_maps.setdefault(to, {})
        for here, there in device_map.items():
            here, there = device_of(here), device_of(there)
            if here in known and known[here] != there:
                raise ValueError(f"`set_device_map` only supports 1-to-1 mapping, trying to map {here} to {known[here]} "
                                 f"and {there}")
            known[here] = there

    def set_devices(self, devices):
        self.devices = list(devices)


RpcBackendOptions = TensorPipeRpcBackendOptions


def is_available():
    """Whether there is an engine for calls."""
    return _C._distributed.has_engine("rpc")


def init_rpc(name, backend=None, rank=-1, world_size=None, rpc_backend_options=None):
    """Makes this process a worker; returns when all have come. Rank and size are the environment's where not given."""
    if backend is not None and not isinstance(backend, BackendType):
        raise TypeError("Argument backend must be a member of BackendType")
    if rpc_backend_options is not None and not isinstance(rpc_backend_options, TensorPipeRpcBackendOptions):
        raise TypeError("Argument rpc_backend_options must be an instance of RpcBackendOptions")
    options = rpc_backend_options or TensorPipeRpcBackendOptions()
    _rpc.init(name, rank, -1 if world_size is None else world_size, options.num_worker_threads, options.rpc_timeout,
              options.init_method, options.device_maps)


def _require_initialized(func):
    """A function that is an error before init_rpc."""
    @functools.wraps(func)
    def call(*args, **kwargs):
        if not _rpc.is_initialized():
            raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")
        return func(*args, **kwargs)
    return call


@_require_initialized
def shutdown(graceful=True, timeout=0):
    """Ends this process's part: when no worker has anything to do any more or, without `graceful`, at once."""
    _rpc.shutdown(graceful, float(timeout) or 300.0)


@atexit.register
def _leave():
    # Threads that call Python must not outlive it.
    if _rpc.is_initialized():
        _rpc.shutdown(False, 10.0)


@_require_initialized
def get_worker_info(worker_name=None):
    """This worker, or the one of that name."""
    return _rpc.get_worker_info(worker_name)


def _get_worker_infos():
    return _rpc.get_worker_infos()


def _is_current_rpc_agent_set():
    return _rpc.is_initialized()
