"""First values of parameters: the same numbers as PyTorch's from the same seed."""

import math

from .. import _C
from ..autograd.modes import no_grad
from .._core.warnings import warn

_GAINS = {"linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1,
          "conv_transpose3d": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity, param=None):
    """By how much weights before a nonlinearity are greater than before none; `param`: the slope of leaky_relu."""
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
    """Draws from [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Draws from the normal distribution."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Draws from the part of the normal distribution between a and b.

    What falls outside is drawn again; where less than 0.3 of the distribution is inside, uniform numbers are drawn, and kept
    with the probability that their density has in the densest one's.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
             "incorrect.")

    return _C._init.trunc_normal(tensor, float(mean), float(std), float(a), float(b), generator)


def constant_(tensor, val):
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.0)


def zeros_(tensor):
    return constant_(tensor, 0.0)


def eye_(tensor):
    """The unit matrix, as far as the matrix goes."""
    return _C._init.eye(tensor)


def dirac_(tensor, groups=1):
    """Convolutions that leave their input as it is, group by group."""
    return _C._init.dirac(tensor, groups)


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform with variance gain^2 2 / (fan_in + fan_out) (Glorot and Bengio 2010)."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _is_empty(tensor):
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return True
    return False


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform with variance gain^2 / fan (He et al. 2015, arXiv:1502.01852)."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """A matrix (dimensions behind the first as one) with orthonormal rows or columns (Saxe et al. 2013, arXiv:1312.6120)."""
    return _C._init.orthogonal(tensor, float(gain), generator)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal, with a part of each column set to zero (Martens 2010)."""
    return _C._init.sparse(tensor, float(sparsity), float(std), generator)


_no_grad_uniform_, _no_grad_normal_ = uniform_, normal_  # by the names that some packages call


def _deprecated(new):
    old = new.__name__[:-1]

    def call(*args, **kwargs):
        warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.", FutureWarning)
        return new(*args, **kwargs)
    call.__name__ = old
    return call


uniform, normal, constant, eye, dirac, xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal, orthogonal, sparse = map(
    _deprecated, (uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_, kaiming_uniform_,
                  kaiming_normal_, orthogonal_, sparse_))
