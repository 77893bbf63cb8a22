"""What the processes of a group exchange: tensors, all together or from one to another."""

from datetime import timedelta

from .. import _C
from .groups import checked_timeout, get_global_rank, get_rank, is_outside
from .._core.warnings import warn

_dist = _C._distributed
ReduceOp = _dist.ReduceOp


class Work:
    """An operation under way: `wait` for it before its tensors are used.

    >>> work = torch.distributed.all_reduce(torch.ones(2), async_op=True)
    >>> work.wait()
    True
    """

    __slots__ = ("_work", "_keep")

    def __init__(self, work, keep=None):
        self._work, self._keep = work, keep

    def wait(self, timeout=None):
        """Waits until this rank's part is done, and raises its error. The streams of accelerators then wait, the host not."""
        if timeout is not None and timeout <= timedelta(0):
            timeout = None
        self._work._wait(timeout)
        return True

    def is_completed(self):
        return self._work.is_completed()

    def is_success(self):
        return self._work.is_success()

    def exception(self):
        return self._work.exception()

    def result(self):
        """The tensors that it gives values to."""
        return self._work.result()

    def source_rank(self):
        return self._work._source_rank()

    def synchronize(self):
        self.wait()

    def get_future(self):
        """A torch.futures.Future of the tensors."""
        from ..futures import Future
        future = Future()

        def complete():
            try:
                self._work._wait()
                future.set_result(self._work.result())
            except BaseException as error:
                future.set_exception(error)
        # Collectives of a callback that is added late are numbered as the callback's, as on ranks where it is not late.
        future._call = self._work._on_completion
        self._work._on_completion(complete)
        return future

    def __repr__(self):
        return repr(self._work)


def _given(work):
    return None if work is None else Work(work)


def _check_tensor(value, name):
    if not isinstance(value, _C.TensorBase):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
                        f"             but got {type(value)} instead.")


def _check_list(value, name):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
                        f"             but got {type(value)} instead.")
    if not all(isinstance(t, _C.TensorBase) for t in value):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
                        f"             but got {type(value)} with elements of type {[type(t) for t in value]}.")


def _left_out(group, name):
    """Whether there is nothing to do, which is said."""
    if not is_outside(group):
        return False
    warn(f"Running {name} on global rank {get_rank()} which does not belong to the given group.")
    return True


def _root(rank, group_rank, group, name, default):
    """A root, which is a rank of the world, or of the group by another name."""
    if group_rank is not None:
        if rank is not None:
            raise ValueError(f"Can't specify both group_{name} and {name}")
        return get_global_rank(group, group_rank) if group is not None else group_rank
    if rank is None:
        if default is None:
            raise ValueError(f"Must specify {name} or group_{name}")
        return default if group is None else get_global_rank(group, default)
    return rank


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Gives `tensor` the values that it has on rank `src`.

    src, group_src: the root's rank in the world, or in the group
    group: whose processes take part; all unless given
    async_op: whether a Work is given at once, to wait for; False unless given

    Shapes: any, the same on all ranks; another on one is a DistError of all.

    >>> torch.distributed.broadcast(torch.ones(2), src=0)
    """
    _check_tensor(tensor, "tensor")
    if _left_out(group, "broadcast"):
        return None
    return _given(_dist.broadcast(tensor, _root(src, group_src, group, "src", None), group, async_op))


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Makes `tensor` the sum, or whatever `op` says, of all ranks' tensors; they have the same bits everywhere.

    op: a ReduceOp: SUM (unless given), AVG, PRODUCT, MIN, MAX, BAND, BOR or BXOR
    group, async_op: as broadcast's

    Shapes: any, the same on all ranks.

    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.distributed.all_reduce(x)
    >>> x
    tensor([1., 2.])
    """
    _check_tensor(tensor, "tensor")
    if _left_out(group, "all_reduce"):
        return None
    return _given(_dist.all_reduce(tensor, op, group, async_op))


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """Makes `tensor` the sum, or whatever `op` says, of all ranks' tensors on rank `dst` alone; on others it is undefined then.

    dst, group_dst: the root's rank in the world, or in the group
    op, group, async_op: as all_reduce's

    Shapes: any, the same on all ranks.

    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.distributed.reduce(x, dst=0)
    >>> x
    tensor([1., 2.])
    """
    _check_tensor(tensor, "tensor")
    if _left_out(group, "reduce"):
        return None
    return _given(_dist.reduce(tensor, _root(dst, group_dst, group, "dst", None), op, group, async_op))


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """`tensor_list[r]` becomes the tensor of rank r.

    group, async_op: as broadcast's

    Shapes: as many tensors as ranks, each of its rank's shape.

    >>> parts = [torch.zeros(2)]
    >>> torch.distributed.all_gather(parts, torch.tensor([1.0, 2.0]))
    >>> parts
    [tensor([1., 2.])]
    """
    _check_list(tensor_list, "tensor_list")
    _check_tensor(tensor, "tensor")
    if _left_out(group, "all_gather"):
        return None
    return _given(_dist.all_gather(list(tensor_list), tensor, group, async_op))


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """`output_tensor` becomes all ranks' tensors, one after the other or stacked.

    group, async_op: as broadcast's

    Shapes: input [n, *], output [ranks n, *] or [ranks, n, *].

    >>> out = torch.zeros(2)
    >>> torch.distributed.all_gather_into_tensor(out, torch.tensor([1.0, 2.0]))
    >>> out
    tensor([1., 2.])
    """
    _check_tensor(input_tensor, "input_tensor")
    _check_tensor(output_tensor, "output_tensor")
    if _left_out(group, "all_gather_into_tensor"):
        return None
    return _given(_dist.all_gather_into_tensor(output_tensor, input_tensor, group, async_op))


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """On rank `dst` (0 unless given) `gather_list[r]` becomes the tensor of rank r; others give no list, else ValueError.

    group, async_op, group_dst: as reduce's

    Shapes: as many tensors as ranks, each of its rank's shape.

    >>> parts = [torch.zeros(2)]
    >>> torch.distributed.gather(torch.tensor([1.0, 2.0]), parts)
    >>> parts
    [tensor([1., 2.])]
    """
    _check_tensor(tensor, "tensor")
    if _left_out(group, "gather"):
        return None
    root = _root(dst, group_dst, group, "dst", 0)
    if gather_list:
        _check_list(gather_list, "gather_list")
        if get_rank() != root:
            raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    elif get_rank() == root:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return _given(_dist.gather(tensor, list(gather_list or []), root, group, async_op))


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """`tensor` becomes what rank `src` (0 unless given) has for this rank in its `scatter_list`; others give no list, else
    ValueError.

    group, async_op, group_src: as broadcast's

    Shapes: as many tensors as ranks, of one shape.

    >>> x = torch.zeros(2)
    >>> torch.distributed.scatter(x, [torch.tensor([1.0, 2.0])])
    >>> x
    tensor([1., 2.])
    """
    _check_tensor(tensor, "tensor")
    if _left_out(group, "scatter"):
        return None
    root = _root(src, group_src, group, "src", 0)
    if scatter_list:
        _check_list(scatter_list, "scatter_list")
        if get_rank() != root:
            raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    elif get_rank() == root:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    return _given(_dist.scatter(tensor, list(scatter_list or []), root, group, async_op))


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """`output` becomes the sum over ranks, or whatever `op` says, of what they have for this rank in `input_list`.

    op, group, async_op: as all_reduce's

    Shapes: as many tensors as ranks, of output's shape.

    >>> x = torch.zeros(2)
    >>> torch.distributed.reduce_scatter(x, [torch.tensor([1.0, 2.0])])
    >>> x
    tensor([1., 2.])
    """
    _check_tensor(output, "output")
    _check_list(input_list, "input_list")
    if _left_out(group, "reduce_scatter"):
        return None
    return _given(_dist.reduce_scatter(output, list(input_list), op, group, async_op))


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """reduce_scatter of one tensor that holds the parts for all ranks.

    op, group, async_op: as all_reduce's

    Shapes: input [ranks n, *] or [ranks, n, *], output [n, *].

    >>> x = torch.zeros(2)
    >>> torch.distributed.reduce_scatter_tensor(x, torch.tensor([1.0, 2.0]))
    >>> x
    tensor([1., 2.])
    """
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    if _left_out(group, "reduce_scatter_tensor"):
        return None
    return _given(_dist.reduce_scatter_tensor(output, input, op, group, async_op))


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """`output_tensor_list[r]` becomes what rank r has for this rank in its `input_tensor_list`.

    group, async_op: as broadcast's

    Shapes: as many tensors as ranks in both lists.

    >>> out = [torch.zeros(2)]
    >>> torch.distributed.all_to_all(out, [torch.tensor([1.0, 2.0])])
    >>> out
    [tensor([1., 2.])]
    """
    _check_list(output_tensor_list, "output_tensor_list")
    _check_list(input_tensor_list, "input_tensor_list")
    if _left_out(group, "all_to_all"):
        return None
    return _given(_dist.all_to_all(list(output_tensor_list), list(input_tensor_list), group, async_op))


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """all_to_all with rows of one tensor.

    output_split_sizes, input_split_sizes: how many rows come from and go to each rank; equal parts unless given
    group, async_op: as broadcast's

    Shapes: [n, *] and [m, *]; sizes that do not sum to them are a RuntimeError.

    >>> out = torch.zeros(2)
    >>> torch.distributed.all_to_all_single(out, torch.tensor([1.0, 2.0]))
    >>> out
    tensor([1., 2.])
    """
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    if _left_out(group, "all_to_all_single"):
        return None
    return _given(_dist.all_to_all_single(output, input, list(output_split_sizes or []), list(input_split_sizes or []),
                                          group, async_op))


def barrier(group=None, async_op=False, device_ids=None):
    """Returns when all ranks of the group have called it.

    group, async_op: as broadcast's
    device_ids: is taken

    Arguments are no tensors; there are no shapes.

    >>> torch.distributed.barrier()
    """
    if _left_out(group, "barrier"):
        return None
    return _given(_dist.barrier(group, async_op))


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """A barrier that names who does not come within `timeout`, a timedelta: RuntimeError on rank 0.

    wait_all_ranks: whether all who do not come are named, not the first; False unless given

    Arguments are no tensors; there are no shapes.

    >>> torch.distributed.monitored_barrier()
    """
    if _left_out(group, "monitored_barrier"):
        return
    _dist.monitored_barrier(group, checked_timeout(timeout), wait_all_ranks)


class _Several:
    """Operations that are waited for together."""

    def __init__(self, works):
        self._works = works

    def wait(self, timeout=None):
        for work in self._works:
            work.wait(timeout)
        return True

    def is_completed(self):
        return all(work.is_completed() for work in self._works)

    def get_future(self):
        from ..futures import collect_all
        return collect_all([work.get_future() for work in self._works])


def _together(works, async_op):
    if async_op:
        return _Several(works)
    for work in works:
        work.wait()


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce of several tensors at once.

    >>> tensors = [torch.ones(2), torch.zeros(1)]
    >>> torch.distributed.all_reduce_coalesced(tensors)
    >>> tensors
    [tensor([1., 1.]), tensor([0.])]
    """
    if isinstance(tensors, _C.TensorBase):
        tensors = [tensors]
    _check_list(tensors, "tensor")
    if _left_out(group, "all_reduce_coalesced"):
        return None
    return _together([all_reduce(t, op, group, True) for t in tensors], async_op)


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """all_gather of several tensors, each of one shape in all ranks: `output_tensor_lists[r][k]` becomes the k-th of rank r.

    >>> out = [[torch.zeros(2)]]
    >>> torch.distributed.all_gather_coalesced(out, [torch.ones(2)])
    >>> out
    [[tensor([1., 1.])]]
    """
    _check_list(input_tensor_list, "tensor_list")
    if _left_out(group, "all_gather_coalesced"):
        return None
    works = [all_gather([row[k] for row in output_tensor_lists], t, group, True) for k, t in enumerate(input_tensor_list)]
    return _together(works, async_op)


def _check_peer(rank, name):
    if rank == get_rank():
        raise ValueError(f"Invalid {name} rank: {name} rank should not be the same as the rank of the current process.")


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends `tensor` to rank `dst`, and returns the Work at once; the tensor must not change before that is done.

    tag: a number that both sides give; 0 unless given
    group, group_dst: as reduce's

    Shapes: any, the receiver's.

    >>> callable(torch.distributed.isend)
    True
    """
    _check_tensor(tensor, "tensor")
    if _left_out(group, "isend"):
        return None
    root = _root(dst, group_dst, group, "dst", None)
    _check_peer(root, "destination")
    return Work(_dist.isend(tensor, root, group, tag))


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receives into `tensor` from rank `src`, or any, and returns the Work at once.

    tag: a number that both sides give; 0 unless given
    group, group_src: as broadcast's

    Shapes: any, the sender's.

    >>> callable(torch.distributed.irecv)
    True
    """
    _check_tensor(tensor, "tensor")
    if _left_out(group, "irecv"):
        return None
    root = None if src is None and group_src is None else _root(src, group_src, group, "src", None)
    return Work(_dist.irecv(tensor, root, group, tag))


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends `tensor` to rank `dst`; returns when it was received. To itself is a ValueError.

    tag: a number that both sides give; 0 unless given
    group, group_dst: as reduce's

    Shapes: any, the receiver's.

    >>> callable(torch.distributed.send)
    True
    """
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receives into `tensor` from rank `src`, or any; returns the rank that sent it.

    tag: a number that both sides give; 0 unless given
    group, group_src: as broadcast's

    Shapes: any, the sender's.

    >>> callable(torch.distributed.recv)
    True
    """
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    rank = work.source_rank()
    return rank if group is None else get_global_rank(group, rank)


class P2POp:
    """One message of a batch: `op` is torch.distributed.isend or irecv, another a ValueError; `tensor` has any shape, `peer` is
    a rank.

    >>> torch.distributed.P2POp(torch.distributed.isend, torch.ones(2), 0).peer
    0
    """

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                             "``torch.distributed.irecv``.")
        _check_tensor(tensor, "tensor")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.peer = _root(peer, group_peer, group, "peer", None)

    def __repr__(self):
        return f"P2POp({self.op.__name__} pg={self.group}, peer={self.peer}, tag={self.tag})"


def batch_isend_irecv(p2p_op_list):
    """Starts messages; returns their Works. The argument is a list of P2POp, at least one; else a ValueError.

    >>> torch.distributed.batch_isend_irecv([])
    Traceback (most recent call last):
        ...
    ValueError: Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.
    """
    if not isinstance(p2p_op_list, list) or not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    started = [p.op(p.tensor, p.peer, p.group, p.tag) for p in p2p_op_list]
    return [work for work in started if work is not None]
