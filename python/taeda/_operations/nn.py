"""Functions of torch that stand below those of nn.functional: with the statistics, masks and places that those leave out,
and with numbers in the place of names."""

from .. import _C
from ..autograd.modes import no_grad

__all__ = ["affine_grid_generator", "bilinear", "constant_pad_nd", "conv_tbc", "convolution", "embedding_bag",
           "embedding_renorm_", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "native_batch_norm",
           "native_channel_shuffle", "native_dropout", "native_group_norm", "native_layer_norm", "pixel_shuffle",
           "pixel_unshuffle"]

_F = _C._functional


def affine_grid_generator(theta, size, align_corners):
    """nn.functional.affine_grid with all arguments: `theta` [N, 2, 3] and `size` [N, C, H, W] give [N, H, W, 2].

    >>> torch.affine_grid_generator(torch.eye(2, 3)[None], [1, 1, 2, 2], True).shape
    torch.Size([1, 2, 2, 2])
    """
    return _F.affine_grid(theta, list(size), align_corners)


def constant_pad_nd(input, pad, value=0):
    """pad[0] entries of `value` before and pad[1] after the last dimension, and so on; negative numbers cut.

    >>> torch.constant_pad_nd(torch.ones(2), [1, 2], 5)
    tensor([5., 1., 1., 5., 5.])
    """
    return _F.pad(input, list(pad), "constant", value)


def conv_tbc(input, weight, bias, pad=0):
    """A convolution over time of input [T, B, in] with weight [width, in, out] and bias [out]: [T + 2 pad - width + 1, B,
    out].

    >>> torch.conv_tbc(torch.ones(4, 1, 2), torch.ones(3, 2, 5), torch.zeros(5)).shape
    torch.Size([2, 1, 5])
    """
    if input.dim() != 3 or weight.dim() != 3 or bias.dim() != 1:
        raise RuntimeError("conv_tbc: expected input and weight of 3 dimensions and bias of 1, but got "
                           f"{input.dim()}, {weight.dim()} and {bias.dim()}")
    return _C.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution, or a transposed one, of input [N, C, ...] over as many dimensions as the weight has behind its channels.

    >>> torch.convolution(torch.ones(1, 1, 3), torch.ones(1, 1, 2), None, [1], [0], [1], False, [0], 1)
    tensor([[[2., 2.]]])
    """
    dims = weight.dim() - 2
    if dims not in (1, 2, 3):
        raise RuntimeError(f"convolution: expected a weight of 3, 4 or 5 dimensions, but got {weight.dim()}")
    stride, padding, dilation, output_padding = (
        list(v) * dims if len(v) == 1 else list(v) for v in (stride, padding, dilation, output_padding))
    if transposed:
        return getattr(_C, f"conv_transpose{dims}d")(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return getattr(_C, f"conv{dims}d")(input, weight, bias, stride, padding, dilation, groups)


def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=-1):
    """Sums (mode 0), means (1) or maxima (2) of bags of rows, [B, D]; with each index's bag, each bag's size and, of maxima,
    where they are from.

    >>> torch.embedding_bag(torch.eye(2), torch.tensor([0, 1, 1]), torch.tensor([0, 1]))[0]
    tensor([[1., 0.],
            [0., 2.]])
    """
    made = _F.embedding_bag(indices, weight, offsets, None, 2, scale_grad_by_freq, ("sum", "mean", "max")[mode], sparse,
                            per_sample_weights, include_last_offset, None if padding_idx < 0 else padding_idx)
    ends = offsets[1:] if include_last_offset else _C.cat([offsets[1:], offsets.new_full((1,), indices.numel())])
    sizes = ends - (offsets[:-1] if include_last_offset else offsets)
    bags = _C.repeat_interleave(_C.arange(sizes.numel(), dtype=indices.dtype, device=indices.device), sizes)
    if padding_idx >= 0:
        counted = (indices != padding_idx).to(sizes.dtype)
        sizes = _C.zeros_like(sizes).index_add(0, bags, counted)
    places = offsets.new_empty((0,))
    if mode == 2:
        rows = weight.detach()[indices]
        first = _C.where(rows == made.detach()[bags], indices[:, None], _C.full_like(indices[:, None], weight.size(0)))
        places = _C.full(tuple(made.shape), weight.size(0), dtype=indices.dtype, device=indices.device).scatter_reduce(
            0, bags[:, None].expand(first.shape), first, "amin")
        places = places.masked_fill(places == weight.size(0), 0)
    return made, bags, sizes, places


def embedding_renorm_(weight, indices, max_norm, norm_type):
    """Shortens rows of `weight` [V, D], in place, to the norm that they may have at most.

    >>> torch.embedding_renorm_(torch.tensor([[3.0, 4.0], [3.0, 4.0]]), torch.tensor([0]), 1.0, 2.0)
    tensor([[0.6000, 0.8000],
            [3.0000, 4.0000]])
    """
    with no_grad():
        _F.embedding(indices, weight, None, max_norm, norm_type, False, False)
    return weight


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """nn.functional.grid_sample of input [N, C, H, W] at grid [N, h, w, 2], or of volumes; modes are numbers: bilinear,
    nearest, bicubic and zeros, border, reflection.

    >>> torch.grid_sampler(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[1.]]]])
    """
    return _F.grid_sample(input, grid, ("bilinear", "nearest", "bicubic")[interpolation_mode],
                          ("zeros", "border", "reflection")[padding_mode], align_corners)


def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sampler of pictures [N, C, H, W] at grid [N, h, w, 2].

    >>> torch.grid_sampler_2d(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[1.]]]])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sampler of volumes [N, C, D, H, W] at grid [N, d, h, w, 3].

    >>> torch.grid_sampler_3d(torch.ones(1, 1, 2, 2, 2), torch.zeros(1, 1, 1, 1, 3), 0, 0, True).shape
    torch.Size([1, 1, 1, 1, 1])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def _statistics(values, dims, eps):
    """Mean and one over the root of variance and eps, over some dimensions."""
    spread, mean = _C.var_mean(values, dims, correction=0)
    return mean, (spread + eps).rsqrt()


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, *, out=None):
    """batch_norm of input [N, C, ...], the mean of each channel [C], and one over its deviation; of the batch, empty where the
    running ones were taken.

    >>> [t.shape for t in torch.native_batch_norm(torch.ones(2, 3), None, None, None, None, True, 0.1, 1e-5)]
    [torch.Size([2, 3]), torch.Size([3]), torch.Size([3])]
    """
    made = _C.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    if not training:
        return made, input.new_empty((0,)), input.new_empty((0,))
    return made, *_statistics(input.detach(), [0, *range(2, input.dim())], eps)


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """group_norm of input [N, C, ...], the mean of each group [N, group], and one over its deviation.

    >>> [t.shape for t in torch.native_group_norm(torch.ones(2, 4, 3), None, None, 2, 4, 3, 2, 1e-5)]
    [torch.Size([2, 4, 3]), torch.Size([2, 2]), torch.Size([2, 2])]
    """
    made = _C.group_norm(input, group, weight, bias, eps)
    return made, *_statistics(input.detach().reshape(N, group, C // group * HxW), [-1], eps)


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """layer_norm, the mean of each part that is normalised, and one over its deviation, with ones for its dimensions: shapes
    [*, normalized_shape] and [*, 1].

    >>> [t.shape for t in torch.native_layer_norm(torch.ones(2, 3), [3], None, None, 1e-5)]
    [torch.Size([2, 3]), torch.Size([2, 1]), torch.Size([2, 1])]
    """
    made = _C.layer_norm(input, normalized_shape, weight, bias, eps)
    count = len(normalized_shape)
    shape = tuple(input.shape)[:input.dim() - count] + (1,) * count
    return made, *(s.reshape(shape) for s in _statistics(input.detach(), list(range(-count, 0)), eps))


def native_channel_shuffle(input, groups):
    """channel_shuffle: the channels of input [N, C, ...], C a multiple of `groups`, in another order.

    >>> torch.native_channel_shuffle(torch.arange(4.0).reshape(1, 4, 1, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    return _C.channel_shuffle(input, groups)


def native_dropout(input, p, train=None):
    """dropout, and which elements it kept, two tensors of the input's shape.

    >>> torch.native_dropout(torch.ones(2), 0.0, True)
    (tensor([1., 1.]), tensor([True, True]))
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    kept = _C.ones_like(input, dtype=_C.bool)
    if train is False or input.numel() == 0:
        return input.clone(), kept
    if p == 1:
        return input * 0, kept.fill_(False)
    kept.bernoulli_(1 - p)
    return input * kept * (1 / (1 - p)), kept


bilinear, pixel_shuffle, pixel_unshuffle = _F.bilinear, _F.pixel_shuffle, _F.pixel_unshuffle
