"""torch.distributed: processes that train together."""

from .. import _C
from .constants import default_pg_timeout
from .groups import (  # noqa: F401
    Backend, GroupMember, destroy_process_group, get_backend, get_backend_config, get_default_backend_for_device,
    get_global_rank, get_group_rank, get_node_local_rank, get_pg_count, get_process_group_ranks, get_rank, get_world_size,
    group, init_process_group, is_available, is_backend_available, is_gloo_available, is_initialized, is_mpi_available,
    is_nccl_available, is_torchelastic_launched, is_ucc_available, is_xccl_available, new_group, new_subgroups,
    new_subgroups_by_enumeration, set_timeout, split_group, supports_complex)
from .collectives import (  # noqa: F401
    P2POp, Work, all_gather, all_gather_coalesced, all_gather_into_tensor, all_reduce, all_reduce_coalesced, all_to_all,
    all_to_all_single, barrier, batch_isend_irecv, broadcast, gather, irecv, isend, monitored_barrier, recv, reduce,
    reduce_scatter, reduce_scatter_tensor, scatter, send)
from .objects import (  # noqa: F401
    all_gather_object, broadcast_object_list, gather_object, recv_object_list, scatter_object_list, send_object_list)
from .rendezvous import rendezvous  # noqa: F401
from .device_mesh import DeviceMesh, init_device_mesh  # noqa: F401
from .stores import QueueEmptyError  # noqa: F401

ReduceOp, ProcessGroup = _C._distributed.ReduceOp, _C._distributed.ProcessGroup
Store, TCPStore, FileStore, HashStore, PrefixStore = (
    _C._distributed.Store, _C._distributed.TCPStore, _C._distributed.FileStore, _C._distributed.HashStore,
    _C._distributed.PrefixStore)
DistError = _C.DistError
DistBackendError = DistNetworkError = DistStoreError = DistError
_all_gather_base, _reduce_scatter_base = all_gather_into_tensor, reduce_scatter_tensor

ReduceOp.RedOpType = ReduceOp  # each operation is one of its members
ReduceOp.__module__ = "taeda.distributed"  # where pickles find it
for _kind in (ProcessGroup, Store, TCPStore, FileStore, HashStore, PrefixStore):
    _kind.__module__ = "torch.distributed"

_LAZY = {"algorithms", "autograd", "checkpoint", "distributed_c10d", "elastic", "launch", "nn", "optim", "pipeline", "rpc",
         "run"}


def __getattr__(name):
    if name in _LAZY:
        import importlib
        return importlib.import_module(f"taeda.distributed.{name}")
    if name == "GradBucket":
        return _C._distributed.GradBucket
    from .._core.missing import attribute
    return attribute(__name__, name)
