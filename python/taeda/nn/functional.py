"""torch.nn.functional: what modules compute, as functions."""

import math
import operator
import sys

from .. import _C
from .._C import (  # noqa: F401  the same signatures there
    avg_pool1d, avg_pool2d, avg_pool3d, channel_shuffle, conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d,
    conv_transpose3d, cosine_similarity, gelu, hardshrink, linear, one_hot, pairwise_distance, pdist,
    prelu, scaled_dot_product_attention, softplus, softshrink)
from .._C import celu_, elu_, hardtanh_, leaky_relu_, relu_, rrelu_, selu_, threshold_  # noqa: F401
from .._core.arguments import expect
from .._core.documented import borrow as _borrow
from .._operations.written import into as _into
from .._core.warnings import warn

_F = _C._functional
bilinear, pixel_shuffle, pixel_unshuffle = _F.bilinear, _F.pixel_shuffle, _F.pixel_unshuffle
logsigmoid = _C.log_sigmoid
native_channel_shuffle = channel_shuffle


def _repeated(value, count):
    return list(value) if isinstance(value, (list, tuple)) else [value] * count


def _ints(function, argument, value, count):
    """`count` sizes: one for all dimensions, or a list of them."""
    values = _repeated(value, count)
    for each in values:
        if isinstance(each, (bool, _C.TensorBase)) or not hasattr(each, "__index__"):
            raise TypeError(f"{function}(): argument '{argument}' must be tuple of ints, but found element of type "
                            f"{type(each).__name__}")
    return values


# Activations


def relu(input, inplace=False):
    return _C.relu_(input) if inplace else _C.relu(input)


def relu6(input, inplace=False):
    return _C.relu6_(input) if inplace else _C.relu6(input)


def threshold(input, threshold, value, inplace=False):
    return (_C.threshold_ if inplace else _C.threshold)(input, threshold, value)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return (_C.hardtanh_ if inplace else _C.hardtanh)(input, min_val, max_val)


def elu(input, alpha=1.0, inplace=False):
    return (_C.elu_ if inplace else _C.elu)(input, alpha)


def selu(input, inplace=False):
    return (_C.selu_ if inplace else _C.selu)(input)


def celu(input, alpha=1.0, inplace=False):
    return (_C.celu_ if inplace else _C.celu)(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return (_C.leaky_relu_ if inplace else _C.leaky_relu)(input, negative_slope)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    return (_C.rrelu_ if inplace else _C.rrelu)(input, lower, upper, training)


def glu(input, dim=-1):
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _C.glu(input, dim)


def tanhshrink(input):
    return _C.tanhshrink(input)


def softsign(input):
    return _C.softsign(input)


def tanh(input):
    return input.tanh()


def sigmoid(input):
    return input.sigmoid()


def hardsigmoid(input, inplace=False):
    return (_C.hardsigmoid_ if inplace else _C.hardsigmoid)(input)


def silu(input, inplace=False):
    return (_C.silu_ if inplace else _C.silu)(input)


def mish(input, inplace=False):
    return (_C.mish_ if inplace else _C.mish)(input)


def hardswish(input, inplace=False):
    return (_C.hardswish_ if inplace else _C.hardswish)(input)


def _implicit_dim(name, ndim, stacklevel):
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / sum exp(x) along `dim`, without overflow.

    dim: the dimension; without it 0 for 0, 1 and 3 dimensions and 1 for others, with a warning
    dtype: to which the input is converted first

    Shapes: any, which the result has; a `dim` that is not there is an IndexError.

    >>> F.softmax(torch.tensor([[0.0, 0.0], [0.0, 1.0986123]]), dim=1)
    tensor([[0.5000, 0.5000],
            [0.2500, 0.7500]])
    """
    return _C.softmax(input, _implicit_dim("softmax", input.dim(), _stacklevel) if dim is None else dim, dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    return _C.softmin(input, _implicit_dim("softmin", input.dim(), _stacklevel) if dim is None else dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return _C.log_softmax(input, _implicit_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim, dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """softmax((logits + g) / tau) along `dim`, where g are numbers drawn from Gumbel's distribution (Jang et al. 2016,
    arXiv:1611.01144).

    tau: temperature; 1 unless given
    hard: whether one-hot vectors are given, with the gradient of the soft ones; False unless given
    eps: has no effect

    Shapes: any, which the result has.

    >>> F.gumbel_softmax(torch.randn(4, 3), hard=True).sum(-1)
    tensor([1., 1., 1., 1.])
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    return _F.gumbel_softmax(logits, tau, bool(hard), dim)


# Dropout


def _drop(name, input, p, training, inplace):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return getattr(_C, name + "_" if inplace else name)(input, p, training)


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with probability p and multiplies the others by 1 / (1 - p), while `training`; else the input itself
    (Srivastava et al. 2014).

    p: 0.5 unless given; outside of [0, 1] a ValueError
    training: True unless given
    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> F.dropout(torch.ones(4), 0.2, training=False)
    tensor([1., 1., 1., 1.])
    """
    return _drop("dropout", input, p, training, inplace)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _drop("alpha_dropout", input, p, training, inplace)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _drop("feature_alpha_dropout", input, p, training, inplace)


def _channel_drop(dims):
    name, batched = f"dropout{dims}d", dims + 2

    def call(input, p=0.5, training=True, inplace=False):
        if p < 0.0 or p > 1.0:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        ndim = input.dim()
        if ndim not in (batched - 1, batched):
            wrong = (f"{name}: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide "
                     "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
                     "dimension (i.e. 2D or 3D inputs).") if dims == 1 else (
                f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
                f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {name} "
                f"exists to provide channel-wise dropout on inputs with {dims} spatial dimensions, a channel dimension, and an "
                f"optional batch dimension (i.e. {batched - 1}D or {batched}D inputs).")
            if dims == 1:
                raise RuntimeError(wrong)
            warn(wrong)
        if dims == 2 and ndim == 3:
            warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
                 "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
                 "will change in a future release to interpret the input as one without a batch dimension, i.e. shape "
                 "(C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using dropout1d "
                 "instead.")
        drop = _C.feature_dropout_ if inplace else _C.feature_dropout
        if ndim != batched - 1 or dims == 2:
            return drop(input, p, training)
        return drop(input.unsqueeze_(0) if inplace else input.unsqueeze(0), p, training).squeeze(0)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Zeroes whole channels with probability p and multiplies the others by 1 / (1 - p), while `training`.

    p: 0.5 unless given; outside of [0, 1] a ValueError
    training: True unless given
    inplace: whether the result is written over the input; False unless given

    Shapes: input [N, C{", *" * dims}] or [C{", *" * dims}], which the result has; for 2, without a batch it is [N, C, L].

    >>> F.{name}(torch.ones(2, 3{", 4" * dims}), training=False).shape
    torch.Size([2, 3{", 4" * dims}])
    """
    return call


dropout1d, dropout2d, dropout3d = map(_channel_drop, (1, 2, 3))


# Normalization


def _check_statistics(input):
    shape = input.shape
    if input.numel() // max(shape[1], 1) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shape}")


def _check_eps(eps):
    if eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        _check_statistics(input)
        _check_eps(eps)
    return _C.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return _C.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return _C.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return _C.rms_norm(input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    return _C.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)")
    return _C.local_response_norm(input, size, alpha, beta, k)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """x / max(|x|_p, eps) along `dim`.

    p: of the norm; 2 unless given
    dim: a dimension, or several; 1 unless given
    eps: 1e-12 unless given
    out: a tensor that the result is written into

    Shapes: any with these dimensions, which the result has.

    >>> F.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    made = _C.normalize(input, p, dim, eps) if isinstance(dim, int) else (
        input / input.norm(p, dim, keepdim=True).clamp_min(eps))
    return _into(out, made)


# Embedding


def _padding_place(padding_idx, weight):
    if padding_idx is None:
        return -1
    if not -weight.size(0) <= padding_idx < weight.size(0):
        raise AssertionError("padding_idx must be within num_embeddings" if padding_idx < 0 else
                             "Padding_idx must be within num_embeddings")
    return padding_idx % weight.size(0)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of a table at integers.

    padding_idx: a row without a gradient; an AssertionError where the table has none of that number
    max_norm, norm_type: rows with a larger norm (of order 2 unless given) are shortened to it first, in `weight` itself
    scale_grad_by_freq: whether a row's gradient is divided by how often it was looked up; False unless given
    sparse: whether the table's gradient is a sparse tensor; False unless given

    Shapes: input [*], integers in [0, rows), else IndexError; weight [rows, dim]; result [*, dim].

    >>> F.embedding(torch.tensor([2, 0]), torch.tensor([[1.0], [2.0], [3.0]]))
    tensor([[3.],
            [1.]])
    """
    if max_norm is not None:
        return _F.embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    return _C.embedding(weight, input, _padding_place(padding_idx, weight), scale_grad_by_freq, sparse)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sums, means or maxima of rows of a table, for bags of integers.

    mode: "mean" (unless given), "sum" or "max", else ValueError
    per_sample_weights: a factor for each integer, for "sum" alone
    include_last_offset: whether `offsets` end with the number of integers; False unless given
    padding_idx: integers that count for nothing
    max_norm, norm_type, scale_grad_by_freq, sparse: as embedding's

    Shapes: input [B, L], each row a bag, or [n] with offsets [B] at which bags begin; weight [rows, dim]; result [B, dim].

    >>> F.embedding_bag(torch.tensor([0, 1, 2]), torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([0, 2]), mode="sum")
    tensor([[3.],
            [3.]])
    """
    if weight.dtype == _C.int64 and input.is_floating_point():
        warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
             "deprecated, and should now be `embedding_bag(input, weight, ...)`.")
        input, weight = weight, input
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if type(scale_grad_by_freq) is not bool or type(sparse) is not bool:
        expect("embedding_bag", "scale_grad_by_freq", 5, scale_grad_by_freq, bool)
        expect("embedding_bag", "sparse", 6, sparse, bool)
    return _F.embedding_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights,
                            include_last_offset, padding_idx)


# Pooling


def _pools(name, operation):
    """max_poolNd: the values, or with return_indices the pair of values and their places."""
    with_indices = getattr(_C, operation + "_with_indices")
    plain = getattr(_C, operation)

    def call(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return (with_indices if return_indices else plain)(input, kernel_size, stride, padding, dilation, ceil_mode)

    def pair(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    call.__name__, pair.__name__ = name, name + "_with_indices"
    return call, pair


max_pool1d, max_pool1d_with_indices = _pools("max_pool1d", "max_pool1d")
max_pool2d, max_pool2d_with_indices = _pools("max_pool2d", "max_pool2d")
max_pool3d, max_pool3d_with_indices = _pools("max_pool3d", "max_pool3d")


def _output_size(input, size, dims):
    """One size for all, or a list in which None stands for the input's."""
    if hasattr(size, "__index__"):
        return operator.index(size)
    size = list(size)
    if input.dim() <= len(size):
        raise ValueError(f"Input dimension should be at least {len(size) + 1}")
    return [n if given is None else given for given, n in zip(size, input.shape[-len(size):])]


def adaptive_avg_pool1d(input, output_size):
    return _C.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input, output_size):
    return _C.adaptive_avg_pool2d(input, _output_size(input, output_size, 2))


def adaptive_avg_pool3d(input, output_size):
    return _C.adaptive_avg_pool3d(input, _output_size(input, output_size, 3))


def _adaptive_pools(dims):
    name = f"adaptive_max_pool{dims}d"
    operation = getattr(_C, name)

    def pair(input, output_size, return_indices=False):
        return operation(input, _output_size(input, output_size, dims))

    def call(input, output_size, return_indices=False):
        made = pair(input, output_size)
        return made if return_indices else made[0]
    call.__name__, pair.__name__ = name, name + "_with_indices"
    pair.__doc__ = f"""{name} with return_indices=True: a pair of the largest elements and their places in the channel.

    Shapes: input [N, C{", *" * dims}] or [C{", *" * dims}]; the last {dims} sizes become `output_size`.

    >>> values, places = F.{name}_with_indices(torch.randn(1, 3{", 4" * dims}), 2)
    >>> places.shape
    torch.Size([1, 3{", 2" * dims}])
    """
    return call, pair


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_pools(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_pools(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive_pools(3)


def _fractional_pools(dims):
    name = f"fractional_max_pool{dims}d"
    operation = getattr(_F, name)

    def pair(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        sizes = None if output_size is None else _ints(name, "output_size", output_size, dims)
        return operation(input, _ints(name, "kernel_size", kernel_size, dims), sizes,
                         None if output_ratio is None else _repeated(output_ratio, dims), _random_samples)

    def call(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        made = pair(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
        return made if return_indices else made[0]
    call.__name__, pair.__name__ = name, name + "_with_indices"
    pair.__doc__ = f"""{name} with return_indices=True: a pair of the largest elements and their places in the channel.

    Shapes: input [N, C{", *" * dims}] or [C{", *" * dims}]; the last {dims} sizes become as told.

    >>> values, places = F.{name}_with_indices(torch.randn(1, 3{", 8" * dims}), 2, output_size=4)
    >>> places.shape
    torch.Size([1, 3{", 4" * dims}])
    """
    return call, pair


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_pools(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_pools(3)


def _unpool(dims):
    name = f"max_unpool{dims}d"
    operation = getattr(_F, name)

    def call(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel = _ints(name, "kernel_size", kernel_size, dims)
        stride = kernel if stride is None else _ints(name, "stride", stride, dims)
        padding = _ints(name, "padding", padding, dims)
        if output_size is not None:
            output_size = list(output_size)[-dims:]
        return operation(input, indices, kernel, stride, padding, output_size)
    call.__name__ = name
    call.__doc__ = f"""The largest elements back at the places from which max_pool{dims}d took them, zeros elsewhere.

    kernel_size, stride, padding: of the pool
    output_size: the result's sizes behind the channels, if not the least that the pool can have seen

    Shapes: input and indices [N, C{", *" * dims}] or [C{", *" * dims}]; size n becomes
    (n - 1) stride - 2 padding + kernel_size.

    >>> values, places = F.max_pool{dims}d(torch.randn(1, 3{", 4" * dims}), 2, return_indices=True)
    >>> F.max_unpool{dims}d(values, places, 2).shape
    torch.Size([1, 3{", 4" * dims}])
    """
    return call


max_unpool1d, max_unpool2d, max_unpool3d = map(_unpool, (1, 2, 3))


def _lp_pool(dims):
    name = f"lp_pool{dims}d"
    operation = getattr(_F, name, None)

    def call(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        if norm_type == 0:
            raise ValueError("norm_type must be a non-zero value, but got 0")
        kernel = _ints(name, "kernel_size", kernel_size, dims)
        expect(name, "ceil_mode", None, ceil_mode, bool)
        if dims == 3:
            means = _C.avg_pool3d(input.pow(norm_type), kernel, stride, 0, ceil_mode)
            return (means.sign() * means.abs().relu()).mul(math.prod(kernel)).pow(1.0 / norm_type)
        stride = kernel if stride is None else _ints(name, "stride", stride, dims)
        return operation(input, norm_type, kernel, stride, ceil_mode)
    call.__name__ = name
    call.__doc__ = f"""(sum x^p)^(1/p) over each window.

    norm_type: p; 0 is a ValueError
    kernel_size, stride: of windows, an int or one for each dimension; stride is kernel_size unless given
    ceil_mode: whether a last window that starts inside may reach beyond; False unless given

    Shapes: input [N, C{", *" * dims}] or [C{", *" * dims}]; size n becomes floor((n - kernel_size) / stride + 1), or ceil.

    >>> F.lp_pool{dims}d(torch.ones(1, 3{", 4" * dims}), 2, 2).shape
    torch.Size([1, 3{", 2" * dims}])
    """
    return call


lp_pool1d, lp_pool2d, lp_pool3d = map(_lp_pool, (1, 2, 3))


# Images


def pad(input, pad, mode="constant", value=None):
    """The input with entries added around its last dimensions, or cut from them.

    pad: (before, after) of the last dimension, then of the one before it, and so on; negative numbers cut
    mode: "constant" (unless given), "reflect" (mirrored), "replicate" (the border's values) or "circular"; these take 2, 4 or
        6 numbers, for inputs with one or two dimensions more in front
    value: with "constant" what is added; 0 unless given; with other modes a RuntimeError

    Shapes: [*, S] to [*, S + before + after] for each dimension.

    >>> F.pad(torch.tensor([[1, 2]]), (1, 2))
    tensor([[0, 1, 2, 0, 0]])
    >>> F.pad(torch.tensor([[1.0, 2.0, 3.0]]), (2, 0), mode="reflect")
    tensor([[3., 2., 1., 2., 3.]])
    """
    if mode != "constant" and value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if isinstance(value, _C.TensorBase):
        raise TypeError("pad(): argument 'value' (position 4) must be float, not Tensor")
    return _F.pad(input, _ints("pad", "pad", tuple(pad), 1), mode, 0 if value is None else value)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of a convolution as columns.

    kernel_size, dilation, padding, stride: ints or pairs, as a convolution's; 1, 0 and 1 unless given

    Shapes: input [N, C, H, W], result [N, C kh kw, L] with the number of windows L.

    >>> F.unfold(torch.ones(1, 3, 4, 4), 2).shape
    torch.Size([1, 12, 9])
    """
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return _F.unfold(input, *(_ints("unfold", name, value, 2) for name, value in given.items()))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of such columns at the places from which unfold takes them.

    output_size: (H, W)
    kernel_size, dilation, padding, stride: as unfold's

    Shapes: input [N, C kh kw, L], result [N, C, H, W], or both without N.

    >>> F.fold(torch.ones(1, 4, 4), (4, 4), 2, stride=2).shape
    torch.Size([1, 1, 4, 4])
    """
    given = {"output_size": output_size, "kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return _F.fold(input, *(_ints("fold", name, value, 2) for name, value in given.items()))


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """Images of other sizes, between whose pixels numbers are interpolated.

    size: the output's spatial sizes, or scale_factor: by what the input's are multiplied; exactly one of both, else
        ValueError
    mode: "nearest" (unless given), "nearest-exact", "area", "linear" (of [N, C, L]), "bilinear", "bicubic" (of [N, C, H, W])
        or "trilinear" (of [N, C, D, H, W])
    align_corners: whether the outer pixels' centres stay where they are; for the linear and cubic modes alone
    recompute_scale_factor: whether the factor is computed again from the rounded size
    antialias: whether reduced images are smoothed, with "bilinear" and "bicubic"; False unless given

    Shapes: input [N, C, *], result [N, C, *] with other sizes behind the channels.

    >>> F.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    >>> F.interpolate(torch.ones(1, 3, 4, 4), size=(7, 9), mode="bilinear").shape
    torch.Size([1, 3, 7, 9])
    """
    dims = input.dim() - 2
    for name, value in (("size", size), ("scale_factor", scale_factor)):
        if isinstance(value, (list, tuple)) and len(value) != dims:
            kinds = "spatial dimensions, but got input with spatial dimensions of"
            raise ValueError(f"Input and {'output' if name == 'size' else 'scale_factor'} must have the same number of {kinds} "
                             f"{list(input.shape[2:])} and {'output size of' if name == 'size' else 'scale_factor of shape'} "
                             f"{value}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                             f"{'output size' if name == 'size' else 'scale_factor'} in "
                             f"{'(o1, o2, ...,oK)' if name == 'size' else '(s1, s2, ...,sK)'} format.")
    sizes = None if size is None else _repeated(size, dims)
    for n in sizes or ():
        if not isinstance(n, int) and not (isinstance(n, _C.TensorBase) and n.numel() == 1 and not n.is_floating_point()):
            raise TypeError(f"interpolate(): argument 'size' must be ints, but got {type(n).__name__}")
    return _F.interpolate(input, None if sizes is None else [int(n) for n in sizes],
                          None if scale_factor is None else [float(s) for s in _repeated(scale_factor, dims)],
                          mode, align_corners, None if recompute_scale_factor is None else bool(recompute_scale_factor),
                          bool(antialias))


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate under an old name, with a warning.

    Shapes: input [N, C, *], result [N, C, *] with other sizes behind the channels.

    >>> F.upsample(torch.ones(1, 1, 2), scale_factor=2).shape
    torch.Size([1, 1, 4])
    """
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with "nearest" under an old name, with a warning.

    Shapes: input [N, C, *], result [N, C, *] with other sizes behind the channels.

    >>> F.upsample_nearest(torch.ones(1, 1, 2), scale_factor=2).shape
    torch.Size([1, 1, 4])
    """
    warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with "bilinear" and aligned corners under an old name, with a warning.

    Shapes: input [N, C, H, W], result [N, C, H', W'].

    >>> F.upsample_bilinear(torch.ones(1, 1, 2, 2), scale_factor=2).shape
    torch.Size([1, 1, 4, 4])
    """
    warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of images at the places of a grid, from -1 (left, top) to 1 (right, bottom).

    mode: "bilinear" (unless given), "nearest" or "bicubic" between pixels
    padding_mode: "zeros" (unless given), "border" or "reflection" outside of the image; other words are a ValueError
    align_corners: whether -1 and 1 are the centres of the outer pixels and not their edges; False unless given, with a
        warning

    Shapes: input [N, C, H, W] and grid [N, H', W', 2] of pairs (x, y) give [N, C, H', W']; input [N, C, D, H, W] and grid [N,
    D', H', W', 3] give [N, C, D', H', W'].

    >>> picture = torch.arange(4.0).reshape(1, 1, 2, 2)
    >>> F.grid_sample(picture, torch.zeros(1, 1, 1, 2), align_corners=False)
    tensor([[[[1.5000]]]])
    """
    for name, value, known in (("mode", mode, ("bilinear", "nearest", "bicubic")),
                               ("padding_mode", padding_mode, ("zeros", "border", "reflection"))):
        if value not in known:
            last = f"'{known[-1]}'"
            raise ValueError(f"nn.functional.grid_sample(): expected {name} to be "
                             f"{', '.join(map(repr, known[:-1]))}{',' if name == 'padding_mode' else ''} or {last}, but got: "
                             f"'{value}'")
    return _F.grid_sample(input, grid, mode, padding_mode, align_corners)


def affine_grid(theta, size, align_corners=None):
    """Where the pixels of images of `size` come from under affine maps, for grid_sample.

    align_corners: as grid_sample's

    Shapes: theta [N, 2, 3] and size (N, C, H, W) give [N, H, W, 2]; theta [N, 3, 4] and size (N, C, D, H, W) give [N, D, H,
    W, 3]. A theta of integers is a ValueError.

    >>> F.affine_grid(torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2), align_corners=False).shape
    torch.Size([1, 2, 2, 2])
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if align_corners is None:
        warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
             "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
             "details.")
    if align_corners and 1 in list(size)[2:]:
        warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not "
             "an intended use case of affine_grid. See the documentation of affine_grid for details.")
    return _F.affine_grid(theta, list(size), bool(align_corners))


from ._attention import multi_head_attention_forward, remember as _remember  # noqa: E402, F401
from ._losses import *  # noqa: E402, F401, F403

_remember(sys.modules[__name__])
_borrow(globals(), _C)
