"""Hooks that average, also with fewer bytes."""

from .... import _C
from ...collectives import all_reduce

_dist = _C._distributed


def _average(group, buffer):
    group = _dist.default_group() if group is None else group
    return all_reduce(buffer.div_(group.size()), group=group, async_op=True).get_future().then(lambda f: f.value()[0])


def allreduce_hook(process_group, bucket):
    """The average of the ranks' gradients: what happens without a hook."""
    return _average(process_group, bucket.buffer())


def _compressed(group, bucket, dtype):
    buffer = bucket.buffer()
    return _average(group, buffer.to(dtype)).then(lambda f: buffer.copy_(f.value()))


def fp16_compress_hook(process_group, bucket):
    """The average, of gradients rounded to float16."""
    return _compressed(process_group, bucket, _C.float16)


def bf16_compress_hook(process_group, bucket):
    """The average, of gradients rounded to bfloat16."""
    return _compressed(process_group, bucket, _C.bfloat16)


def _wrapper(hook, dtype):
    def wrapped(state, bucket):
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))
        return hook(state, bucket).then(lambda f: buffer.copy_(_one(f.value())))
    return wrapped


def _one(value):
    return value[0] if isinstance(value, (list, tuple)) else value


def fp16_compress_wrapper(hook):
    """Rounds the bucket to float16 for another hook."""
    return _wrapper(hook, _C.float16)


def bf16_compress_wrapper(hook):
    """Rounds the bucket to bfloat16 for another hook."""
    return _wrapper(hook, _C.bfloat16)


def noop_hook(_, bucket):
    """Each rank keeps its own gradients: for measuring."""
    from ....futures import Future
    future = Future()
    future.set_result(bucket.buffer())
    return future
