"""Process groups: the default one, and smaller ones."""

import itertools
import os
from datetime import timedelta

from .. import _C

_dist = _C._distributed


class Backend(str):
    """A backend's name, in small letters; its attributes are the names that there are. The argument is a text.

    >>> torch.distributed.Backend("GLOO")
    'gloo'
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    MPI = "mpi"
    UCC = "ucc"
    XCCL = "xccl"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL}  # of other types GLOO

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name!r}")
        return super().__new__(cls, name.lower())


class _Group(type):
    @property
    def WORLD(cls):
        return _dist.default_group() if _dist.is_initialized() else None


class group(metaclass=_Group):
    """`group.WORLD` is the default group, None before init_process_group. Takes no arguments.

    >>> torch.distributed.group.WORLD is None
    False
    """


class GroupMember(metaclass=_Group):
    """`NON_GROUP_MEMBER` stands for a group that this process is not in. Takes no arguments.

    >>> torch.distributed.GroupMember.NON_GROUP_MEMBER
    -100
    """

    NON_GROUP_MEMBER = -100


def resolve(group):
    """The group that a `group` argument means; None is the default one, which C++ finds itself."""
    if group is GroupMember.NON_GROUP_MEMBER:
        raise ValueError("Invalid process group specified: this process is not in the group")
    return group


def is_outside(group):
    """Whether this process is not in the group."""
    return group is GroupMember.NON_GROUP_MEMBER or (group is not None and group.rank() < 0)


def checked_timeout(timeout):
    """A timedelta, or None; seconds are not taken, as in PyTorch."""
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timeout


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="",
                       pg_options=None, device_id=None):
    """Joins the default group; returns when all processes have.

    backend: "gloo", "mpi" or "nccl"; unless given, what serves the tensors that come
    init_method: where processes meet, "env://" (unless given), "tcp://host:port" or "file://path"; or store, rank and
        world_size
    timeout: of operations, a timedelta; 30 minutes unless given
    world_size, rank: how many processes there are and which this is, numbers; those of the environment unless given
    store: in the place of init_method

    Arguments are no tensors; there are no shapes. A group that is there already is a ValueError, processes that do not come a
    DistError.

    >>> torch.distributed.is_initialized()
    True
    """
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None and (world_size <= 0 or rank < 0):
        raise AssertionError("world_size must be positive if using store" if world_size <= 0
                             else "rank must be non-negative if using store")
    if init_method is not None and not isinstance(init_method, str):
        raise RuntimeError(f"`init_method` must be a string. {type(init_method)}: {init_method}")
    known = {"env", "tcp", "file", "store"}
    if init_method and "://" in init_method and init_method.partition("://")[0] not in known:
        raise RuntimeError(f"No rendezvous handler for {init_method.partition('://')[0]}://; there are env://, tcp://host:port "
                           "and file:///path")
    name = str(Backend(backend)) if backend is not None else _default_backend(device_id)
    _dist.init_process_group("" if name == Backend.UNDEFINED else name, init_method or "", checked_timeout(timeout),
                             int(world_size), int(rank), store, group_name)


def _default_backend(device_id):
    """Gloo serves all tensors; NCCL those of GPUs that are no simulated ones."""
    return "" if device_id is None else get_default_backend_for_device(device_id)


def destroy_process_group(group=None):
    """Leaves a group, or all of them; waits for the others for up to five seconds. Arguments are no tensors; there are no
    shapes.

    >>> torch.distributed.destroy_process_group(torch.distributed.new_group([0]))
    """
    if group is GroupMember.NON_GROUP_MEMBER:
        return
    if group is None and not _dist.is_initialized():
        raise AssertionError("Default process group has not been initialized, please make sure to call "
                             "init_process_group.")
    _dist.destroy_process_group(group)


def is_available():
    """Whether there is an engine for process groups. Takes no arguments.

    >>> torch.distributed.is_available()
    True
    """
    return _dist.is_available()


def is_initialized():
    """Whether this process has joined the default group. Takes no arguments.

    >>> torch.distributed.is_initialized()
    True
    """
    return _dist.is_initialized()


def is_gloo_available():
    """Whether the engine gloo was built and is there. Takes no arguments.

    >>> isinstance(torch.distributed.is_gloo_available(), bool)
    True
    """
    return _dist.has_engine("gloo")


def is_mpi_available():
    """Whether the engine mpi was built and is there. Takes no arguments.

    >>> isinstance(torch.distributed.is_mpi_available(), bool)
    True
    """
    return _dist.has_engine("mpi")


def is_nccl_available():
    """Whether the engine nccl was built and is there. Takes no arguments.

    >>> isinstance(torch.distributed.is_nccl_available(), bool)
    True
    """
    return _dist.has_engine("nccl")


def is_ucc_available():
    """False: there is no engine ucc. Takes no arguments.

    >>> torch.distributed.is_ucc_available()
    False
    """
    return False


def is_xccl_available():
    """False: there is no engine xccl. Takes no arguments.

    >>> torch.distributed.is_xccl_available()
    False
    """
    return False


def is_backend_available(backend):
    """Whether a backend of that name, a text, was built and is there.

    >>> torch.distributed.is_backend_available("no such backend")
    False
    """
    return _dist.has_engine(backend.lower()) if backend.lower() in ("gloo", "mpi", "nccl") else False


def is_torchelastic_launched():
    """Whether torchrun, or `taeda launch`, started this process. Takes no arguments.

    >>> isinstance(torch.distributed.is_torchelastic_launched(), bool)
    True
    """
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def supports_complex(reduceOp):
    """Whether a ReduceOp can be of complex numbers, scalars: sums, averages and products can.

    >>> torch.distributed.distributed_c10d.supports_complex(torch.distributed.ReduceOp.MAX)
    False
    """
    return reduceOp not in (_dist.ReduceOp.MAX, _dist.ReduceOp.MIN, _dist.ReduceOp.PRODUCT, _dist.ReduceOp.BAND,
                            _dist.ReduceOp.BOR, _dist.ReduceOp.BXOR)


def get_rank(group=None):
    """This process's rank; -1 outside of the group. The argument is a group, by default the one of all processes.

    >>> torch.distributed.get_rank()
    0
    """
    return -1 if group is GroupMember.NON_GROUP_MEMBER else _dist.get_rank(group)


def get_world_size(group=None):
    """How many processes the group has; -1 outside of it. The argument is a group, by default the one of all processes.

    >>> torch.distributed.get_world_size()
    1
    """
    return -1 if group is GroupMember.NON_GROUP_MEMBER else _dist.get_world_size(group)


def get_backend(group=None):
    """The name of a group's backend, a text: "gloo", "mpi" or "nccl".

    >>> torch.distributed.get_backend()
    'gloo'
    """
    return Backend(_dist.get_backend(resolve(group)))


def get_backend_config(group=None):
    """The backends of a group by types of devices, a text. The default group unless given.

    >>> isinstance(torch.distributed.get_backend_config(), str)
    True
    """
    name = get_backend(group)
    return f"cpu:{name},cuda:{name}"


def set_timeout(timeout, group=None):
    """How long operations of a group that this process calls from now on may take, a timedelta of at least a millisecond. The
    default group unless given. A process that is not in the group is a ValueError.

    >>> from datetime import timedelta
    >>> torch.distributed.set_timeout(timedelta(minutes=5))
    """
    if is_outside(group):
        raise ValueError("Invalid process group specified: this process is not in the group")
    if timeout is None:
        raise TypeError("Expected timeout argument to be of type datetime.timedelta, got None")
    (group or _dist.default_group()).set_timeout(checked_timeout(timeout))


def get_default_backend_for_device(device):
    """"nccl" for a device of type cuda, else "gloo"; the device or its name, a text.

    >>> torch.distributed.get_default_backend_for_device("cpu")
    'gloo'
    """
    kind = device.type if isinstance(device, _C.device) else _C.device(device).type
    return Backend.default_device_backend_map.get(kind, Backend.GLOO)


def get_group_rank(group, global_rank):
    """The rank in `group` of a rank of the world; a ValueError for one that is not in it. The arguments are a group and a
    number.

    >>> torch.distributed.get_group_rank(torch.distributed.group.WORLD, 0)
    0
    """
    return _dist.get_group_rank(resolve(group), global_rank)


def get_global_rank(group, group_rank):
    """The rank in the world of a rank of `group`; a ValueError for one that it has not. The arguments are a group and a number.

    >>> torch.distributed.get_global_rank(torch.distributed.group.WORLD, 0)
    0
    """
    return _dist.get_global_rank(resolve(group), group_rank)


def get_process_group_ranks(group):
    """The members' ranks in the world, a list of numbers.

    >>> torch.distributed.get_process_group_ranks(torch.distributed.group.WORLD)
    [0]
    """
    return _dist.get_process_group_ranks(resolve(group))


def get_node_local_rank(fallback_rank=None):
    """This process's number among those of its machine, a scalar: LOCAL_RANK, or `fallback_rank` where that is not set; without
    either a RuntimeError.

    >>> isinstance(torch.distributed.get_node_local_rank(fallback_rank=0), int)
    True
    """
    return _dist.get_node_local_rank(fallback_rank)


_count = itertools.count(1)
_made = [0]


def get_pg_count():
    """How many groups this process has made. Takes no arguments.

    >>> torch.distributed.get_pg_count() > 0
    True
    """
    return _made[0] + bool(_dist.is_initialized())


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None,
              device_id=None):
    """A group of some ranks, by default all. Every process of the world calls this, in the same order.

    ranks: a list of numbers, each once
    timeout: a timedelta for its operations; the default group's unless given
    backend: "gloo", "mpi" or "nccl"; the default group's unless given

    Arguments are no tensors; there are no shapes.

    >>> torch.distributed.get_world_size(torch.distributed.new_group([0]))
    1
    """
    made = _dist.new_group([] if ranks is None else list(ranks), checked_timeout(timeout),
                           "" if backend is None else str(Backend(backend)))
    _made[0] = next(_count)
    return made if made.rank() >= 0 else GroupMember.NON_GROUP_MEMBER


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Groups of `group_size` neighbours each: a pair of this process's and a list of all of them.

    group_size: divides the number of ranks, else ValueError
    timeout, backend: as new_group's

    >>> mine, groups = torch.distributed.new_subgroups(1)
    >>> len(groups)
    1
    """
    world = get_world_size()
    if group_size is None:
        raise ValueError("group_size must be given: the number of devices of a machine is not the number of its processes")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if world < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({world})")
    if world % group_size:
        raise ValueError(f"The world size ({world}) must be divisible by '{group_size=}'")
    return new_subgroups_by_enumeration([list(range(i, i + group_size)) for i in range(0, world, group_size)],
                                        timeout, backend, pg_options)


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    """A group for each list of ranks: a pair of this process's and a list of all of them.

    ranks_per_subgroup_list: lists of ranks; one that two lists have is a ValueError
    timeout, backend: as new_group's

    >>> mine, groups = torch.distributed.new_subgroups_by_enumeration([[0]])
    >>> len(groups)
    1
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen = set()
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup and another one")
            seen.add(rank)
    mine, groups = None, []
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options)
        groups.append(made)
        if get_rank() in ranks:
            mine = made
    return mine, groups


def split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None):
    """This process's group among those that `split_ranks`, lists of ranks of the world, divides all processes into. Other
    arguments are optional.

    >>> torch.distributed.get_world_size(torch.distributed.split_group(split_ranks=[[0]]))
    1
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    return new_subgroups_by_enumeration(split_ranks, timeout)[0]
