"""Batch normalization over the batches of several processes."""

from ... import _C
from ... import distributed
from ...autograd import Function


class _Normalize(Function):
    """(x - mean) / sqrt(var + eps) weight + bias with mean and variance over all processes' batches."""

    @staticmethod
    def forward(ctx, x, weight, bias, mean, inverse, count, group):
        shape = [1, -1] + [1] * (x.dim() - 2)
        normal = (x - mean.reshape(shape).to(x.dtype)) * inverse.reshape(shape).to(x.dtype)
        ctx.save_for_backward(normal, weight, inverse)
        ctx.count, ctx.group, ctx.shape = count, group, shape
        out = normal if weight is None else normal * weight.reshape(shape)
        return out.clone() if bias is None and weight is None else out if bias is None else out + bias.reshape(shape)

    @staticmethod
    def backward(ctx, grad):
        normal, weight, inverse = ctx.saved_tensors
        dims = [d for d in range(grad.dim()) if d != 1]
        sums = _C.stack([grad.sum(dims), (grad * normal).sum(dims)])
        weight_grad = sums[1].clone() if weight is not None and ctx.needs_input_grad[1] else None
        bias_grad = sums[0].clone() if ctx.needs_input_grad[2] else None
        input_grad = None
        if ctx.needs_input_grad[0]:
            distributed.all_reduce(sums, group=ctx.group)
            means = (sums / ctx.count).reshape([2] + ctx.shape)
            factor = inverse if weight is None else inverse * weight
            input_grad = (grad - means[0] - normal * means[1]) * factor.reshape(ctx.shape).to(grad.dtype)
        return input_grad, weight_grad, bias_grad, None, None, None, None


def normalize(module, input, group):
    """A SyncBatchNorm's forward in training with the other processes of a group."""
    dims, data = [d for d in range(input.dim()) if d != 1], input.detach()
    channels, shape = data.size(1), [1, -1] + [1] * (input.dim() - 2)
    total = _C.cat([data.sum(dims), data.new_full((1,), data.numel() / max(channels, 1))])
    distributed.all_reduce(total, group=group)
    count = total[-1].item()
    mean = total[:-1] / count
    variance = (data - mean.reshape(shape)).square().sum(dims)
    distributed.all_reduce(variance, group=group)
    variance = variance / count
    if module.running_mean is not None:
        module.num_batches_tracked.add_(1)
        factor = module.momentum if module.momentum is not None else 1.0 / float(module.num_batches_tracked)
        module.running_mean.lerp_(mean.to(module.running_mean.dtype), factor)
        unbiased = variance * (count / max(count - 1, 1))
        module.running_var.lerp_(unbiased.to(module.running_var.dtype), factor)
    inverse = (variance + module.eps).rsqrt()
    return _Normalize.apply(input, module.weight, module.bias, mean, inverse, count, group)
