"""Collectives that gradients pass through: the loss is the sum of all ranks' losses, so that the gradient of what was sent is
the sum of those of what was received. All ranks must run backward, in the same order."""

from ... import _C
from ...autograd.function import Function
from .. import collectives
from ..collectives import ReduceOp
from ..groups import get_rank, get_world_size

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
           "scatter"]


def _received(grad):
    """Whole tensors are what is sent."""
    return grad.contiguous()


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, src, group, tensor):
        ctx.src, ctx.group = src, group
        made = tensor.clone()
        collectives.broadcast(made, src, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone(memory_format=_C.contiguous_format)
        collectives.reduce(grad, ctx.src, ReduceOp.SUM, ctx.group)
        return None, None, grad if get_rank() == ctx.src else _C.zeros_like(grad)


class _Gather(Function):
    @staticmethod
    def forward(ctx, dst, group, tensor):
        ctx.dst, ctx.group = dst, group
        made = [_C.zeros_like(tensor) for _ in range(get_world_size(group))]
        collectives.gather(tensor.contiguous(), made if get_rank() == dst else None, dst, group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        return None, None, _scattered(ctx.dst, ctx.group, grads)


def _scattered(src, group, tensors):
    made = _C.empty_like(tensors[0], memory_format=_C.contiguous_format)
    collectives.scatter(made, [_received(t) for t in tensors] if get_rank() == src else None, src, group)
    return made


class _Scatter(Function):
    @staticmethod
    def forward(ctx, src, group, *tensors):
        ctx.src, ctx.group, ctx.count = src, group, len(tensors)
        return _scattered(src, group, tensors)

    @staticmethod
    def backward(ctx, grad):
        made = [_C.zeros_like(grad, memory_format=_C.contiguous_format) for _ in range(get_world_size(ctx.group))]
        collectives.gather(_received(grad), made if get_rank() == ctx.src else None, ctx.src, ctx.group)
        return None, None, *made


class _Reduce(Function):
    @staticmethod
    def forward(ctx, dst, op, group, tensor):
        ctx.dst, ctx.group = dst, group
        made = tensor.clone()
        collectives.reduce(made, dst, op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone(memory_format=_C.contiguous_format)
        collectives.broadcast(grad, ctx.dst, ctx.group)
        return None, None, None, grad


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, output, *inputs):
        ctx.group = group
        made = _C.empty_like(output, memory_format=_C.contiguous_format)
        collectives.reduce_scatter(made, [_received(t) for t in inputs], op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        made = [_C.empty_like(grad, memory_format=_C.contiguous_format) for _ in range(get_world_size(ctx.group))]
        collectives.all_gather(made, _received(grad), ctx.group)
        return None, None, None, *made


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        tensor = tensor.contiguous()
        made = [_C.empty_like(tensor) for _ in range(get_world_size(group))]
        collectives.all_gather(made, tensor, group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        made = _C.empty_like(grads[0], memory_format=_C.contiguous_format)
        collectives.reduce_scatter(made, [_received(g) for g in grads], ReduceOp.SUM, ctx.group)
        return None, made


class _AllToAll(Function):
    @staticmethod
    def forward(ctx, group, sizes, *tensors):
        ctx.group, ctx.sizes = group, [t.shape for t in tensors]
        made = [_C.empty(size, dtype=tensors[0].dtype, device=tensors[0].device) for size in sizes]
        collectives.all_to_all(made, [_received(t) for t in tensors], group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        made = [_C.empty(size, dtype=grads[0].dtype, device=grads[0].device) for size in ctx.sizes]
        collectives.all_to_all(made, [_received(g) for g in grads], ctx.group)
        return None, None, *made


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx, group, output, output_split_sizes, input_split_sizes, tensor):
        ctx.group, ctx.size, ctx.sent, ctx.got = group, tensor.shape, input_split_sizes, output_split_sizes
        made = _C.empty_like(output, memory_format=_C.contiguous_format)
        collectives.all_to_all_single(made, tensor.contiguous(), output_split_sizes, input_split_sizes, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        made = _C.empty(ctx.size, dtype=grad.dtype, device=grad.device)
        collectives.all_to_all_single(made, _received(grad), ctx.sent, ctx.got, ctx.group)
        return None, None, None, None, made


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        made = tensor.clone(memory_format=_C.contiguous_format)
        collectives.all_reduce(made, op, group)
        return made

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone(memory_format=_C.contiguous_format)
        collectives.all_reduce(grad, ctx.op, ctx.group)
        return None, None, grad


def broadcast(tensor, src, group=None):
    """The tensor of rank `src`; gradients of all are summed there."""
    return _Broadcast.apply(src, group, tensor)


def gather(tensor, dst=0, group=None):
    """On rank `dst` all ranks' tensors, elsewhere zeros."""
    return _Gather.apply(dst, group, tensor)


def scatter(tensors, src=0, group=None):
    """What rank `src` has for this one in `tensors`, which others give, too, for their sizes."""
    return _Scatter.apply(src, group, *tensors)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    """On rank `dst` the sum of all ranks' tensors."""
    return _Reduce.apply(dst, op, group, tensor)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    """The sum over ranks of what they have for this one; `output` says its size."""
    return _ReduceScatter.apply(op, group, output, *input_list)


def all_gather(tensor, group=None):
    """All ranks' tensors, a tuple."""
    return _AllGather.apply(group, tensor)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    """What all ranks have for this one, a tuple; `output_tensor_list` says the sizes."""
    return _AllToAll.apply(group, [t.shape for t in output_tensor_list], *input_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    """The same of rows of one tensor; `output` says the size."""
    return _AllToAllSingle.apply(group, output, output_split_sizes, input_split_sizes, input)


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """The sum of all ranks' tensors. Gradients are combined by the same operation, as PyTorch's are."""
    return _AllReduce.apply(op, group, tensor)
