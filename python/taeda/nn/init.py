"""First values of parameters: the same numbers as PyTorch's from the same seed."""

import math

from .. import _C
from ..autograd.modes import no_grad
from .._core.warnings import warn

_GAINS = {"linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1,
          "conv_transpose3d": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity, param=None):
    """By how much weights before a nonlinearity are greater than before none, so that it keeps the variance.

    nonlinearity: "linear", "conv1d" to "conv3d", "conv_transpose1d" to "conv_transpose3d", "sigmoid", "tanh", "relu",
        "leaky_relu" or "selu", else ValueError
    param: the slope of leaky_relu; 0.01 unless given

    Arguments and result are scalars.

    >>> nn.init.calculate_gain("relu")
    1.4142135623730951
    """
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Draws uniformly from [a, b), [0, 1) unless given, and gives the tensor.

    Shapes: any. `generator` draws; the default one of the tensor's device unless given.

    >>> nn.init.uniform_(torch.empty(2, 3), 2, 3).min() >= 2
    tensor(True)
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Draws from the normal distribution with this mean and standard deviation (0 and 1 unless given), and gives the tensor.

    Shapes: any. `generator` draws; the default one of the tensor's device unless given.

    >>> nn.init.normal_(torch.empty(2, 3)).shape
    torch.Size([2, 3])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Draws from the part of the normal distribution between a and b (-2 and 2 unless given), and gives the tensor.

    What falls outside is drawn again; where less than 0.3 of the distribution is inside, uniform numbers are drawn, and kept
    with the probability that their density has in the densest one's.

    mean, std: of the whole distribution; 0 and 1 unless given

    Shapes: any.

    >>> nn.init.trunc_normal_(torch.empty(100)).abs().max() <= 2
    tensor(True)
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
             "incorrect.")

    return _C._init.trunc_normal(tensor, float(mean), float(std), float(a), float(b), generator)


def constant_(tensor, val):
    """Fills the tensor with `val`, and gives it.

    Shapes: any.

    >>> nn.init.constant_(torch.empty(2), 0.3)
    tensor([0.3000, 0.3000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Fills the tensor with ones, and gives it.

    Shapes: any.

    >>> nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Fills the tensor with zeros, and gives it.

    Shapes: any.

    >>> nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def eye_(tensor):
    """Makes a matrix the unit matrix, as far as it goes, and gives it.

    Shapes: [n, m]; other numbers of dimensions are a ValueError.

    >>> nn.init.eye_(torch.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    return _C._init.eye(tensor)


def dirac_(tensor, groups=1):
    """Makes weights those of a convolution that leaves its input as it is, group by group, and gives them.

    groups: 1 unless given; divides the output channels, else ValueError

    Shapes: [out, in / groups, *] of three to five dimensions, else ValueError.

    >>> nn.init.dirac_(torch.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    return _C._init.dirac(tensor, groups)


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Draws uniformly with variance gain^2 2 / (fan_in + fan_out) (Glorot and Bengio 2010), and gives the tensor.

    gain: as calculate_gain gives it; 1 unless given

    Shapes: [out, in, *]: fan_in is in times the sizes behind it, fan_out likewise; fewer than two dimensions are a
    ValueError.

    >>> nn.init.xavier_uniform_(torch.empty(4, 2)).abs().max() <= 1
    tensor(True)
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Draws normal numbers with variance gain^2 2 / (fan_in + fan_out) (Glorot and Bengio 2010), and gives the tensor.

    gain: as calculate_gain gives it; 1 unless given

    Shapes: [out, in, *], as xavier_uniform_; fewer than two dimensions are a ValueError.

    >>> nn.init.xavier_normal_(torch.empty(4, 2)).shape
    torch.Size([4, 2])
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _is_empty(tensor):
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return True
    return False


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Draws uniformly with variance gain^2 / fan (He et al. 2015, arXiv:1502.01852), and gives the tensor.

    a: the slope of leaky_relu below zero; 0 unless given
    mode: "fan_in" (unless given) keeps the variance forward, "fan_out" backward; others are a ValueError
    nonlinearity: which gain is calculate_gain's; "leaky_relu" unless given

    Shapes: [out, in, *]; fewer than two dimensions are a ValueError.

    >>> nn.init.kaiming_uniform_(torch.empty(4, 3), nonlinearity="relu").abs().max() < 1.42
    tensor(True)
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Draws normal numbers with variance gain^2 / fan (He et al. 2015, arXiv:1502.01852), and gives the tensor.

    a, mode, nonlinearity: as kaiming_uniform_'s

    Shapes: [out, in, *]; fewer than two dimensions are a ValueError.

    >>> nn.init.kaiming_normal_(torch.empty(4, 3), mode="fan_out").shape
    torch.Size([4, 3])
    """
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Makes the tensor, as a matrix, one with orthonormal rows or columns, whichever are fewer, times gain, and gives it (Saxe
    et al. 2013, arXiv:1312.6120).

    gain: 1 unless given

    Shapes: [n, *], whose dimensions behind the first count as one; fewer than two are a ValueError.

    >>> w = nn.init.orthogonal_(torch.empty(2, 4))
    >>> torch.allclose(w @ w.T, torch.eye(2), atol=1e-5)
    True
    """
    return _C._init.orthogonal(tensor, float(gain), generator)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Draws normal numbers, of which a part of each column is set to zero, and gives the tensor (Martens 2010).

    sparsity: which part, in [0, 1]
    std: 0.01 unless given

    Shapes: [n, m]; other numbers of dimensions are a ValueError.

    >>> (nn.init.sparse_(torch.empty(4, 3), 0.5) == 0).sum(0)
    tensor([2, 2, 2])
    """
    return _C._init.sparse(tensor, float(sparsity), float(std), generator)


_no_grad_uniform_, _no_grad_normal_ = uniform_, normal_  # by the names that some packages call


def _deprecated(new):
    old = new.__name__[:-1]

    def call(*args, **kwargs):
        warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.", FutureWarning)
        return new(*args, **kwargs)
    call.__name__ = old
    call.__doc__ = f"{new.__name__} under an old name, with a warning.\n\n{new.__doc__}"
    return call


uniform, normal, constant, eye, dirac, xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal, orthogonal, sparse = map(
    _deprecated, (uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_, kaiming_uniform_,
                  kaiming_normal_, orthogonal_, sparse_))
