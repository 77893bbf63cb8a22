"""Activations and attention."""

from ... import _C
from ..._core.warnings import warn
from .. import functional as F
from .. import init
from ..._tensors.parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

# A program may put functions of its own into nn.functional: modules call those. The package's own are left out on the way to
# the operation.
(_relu, _silu, _mish, _selu, _hardswish, _hardsigmoid, _hardtanh, _elu,
 _celu, _leaky_relu, _rrelu, _threshold, _softsign, _tanhshrink) = (
    F.relu, F.silu, F.mish, F.selu, F.hardswish, F.hardsigmoid, F.hardtanh, F.elu,
    F.celu, F.leaky_relu, F.rrelu, F.threshold, F.softsign, F.tanhshrink)


class _InPlace(Module):
    """An activation that takes nothing but `inplace`."""

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    """max(0, x)."""

    def forward(self, input):
        if F.relu is not _relu:
            return F.relu(input, inplace=self.inplace)
        return _C.relu_(input) if self.inplace else _C.relu(input)


class SiLU(_InPlace):
    """x sigmoid(x)."""

    def forward(self, input):
        if F.silu is not _silu:
            return F.silu(input, inplace=self.inplace)
        return _C.silu_(input) if self.inplace else _C.silu(input)


class Mish(_InPlace):
    """x tanh(softplus(x))."""

    def forward(self, input):
        if F.mish is not _mish:
            return F.mish(input, inplace=self.inplace)
        return _C.mish_(input) if self.inplace else _C.mish(input)


class SELU(_InPlace):
    """ELU scaled so that mean 0 and variance 1 stay (Klambauer et al. 2017, arXiv:1706.02515)."""

    def forward(self, input):
        if F.selu is not _selu:
            return F.selu(input, self.inplace)
        return _C.selu_(input) if self.inplace else _C.selu(input)


class Hardswish(Module):
    """x relu6(x + 3) / 6."""

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        if F.hardswish is not _hardswish:
            return F.hardswish(input, self.inplace)
        return _C.hardswish_(input) if self.inplace else _C.hardswish(input)


class Hardsigmoid(Hardswish):
    """relu6(x + 3) / 6."""

    def forward(self, input):
        if F.hardsigmoid is not _hardsigmoid:
            return F.hardsigmoid(input, self.inplace)
        return _C.hardsigmoid_(input) if self.inplace else _C.hardsigmoid(input)


class Hardtanh(Module):
    """x, limited to [min_val, max_val]."""

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        for old, given in (("min_value", min_value), ("max_value", max_value)):
            if given is not None:
                warn(f"keyword argument `{old}` is deprecated and renamed to `{old[:3]}_val`", FutureWarning)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input):
        if F.hardtanh is not _hardtanh:
            return F.hardtanh(input, self.min_val, self.max_val, self.inplace)
        return (_C.hardtanh_ if self.inplace else _C.hardtanh)(input, self.min_val, self.max_val)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """x, limited to [0, 6]."""

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class ELU(Module):
    """x where positive, alpha (exp(x) - 1) elsewhere."""

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input):
        if F.elu is not _elu:
            return F.elu(input, self.alpha, self.inplace)
        return (_C.elu_ if self.inplace else _C.elu)(input, self.alpha)

    def extra_repr(self):
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class CELU(ELU):
    """x where positive, alpha (exp(x / alpha) - 1) elsewhere."""

    def forward(self, input):
        if F.celu is not _celu:
            return F.celu(input, self.alpha, self.inplace)
        return (_C.celu_ if self.inplace else _C.celu)(input, self.alpha)


class LeakyReLU(Module):
    """x where positive, negative_slope x elsewhere."""

    __constants__ = ["inplace", "negative_slope"]

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input):
        if F.leaky_relu is not _leaky_relu:
            return F.leaky_relu(input, self.negative_slope, self.inplace)
        return (_C.leaky_relu_ if self.inplace else _C.leaky_relu)(input, self.negative_slope)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class RReLU(Module):
    """LeakyReLU with slopes drawn between the bounds in training, their mean elsewhere."""

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        if F.rrelu is not _rrelu:
            return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)
        return (_C.rrelu_ if self.inplace else _C.rrelu)(input, self.lower, self.upper, self.training)

    def extra_repr(self):
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class Threshold(Module):
    """x where it is above the threshold, `value` elsewhere."""

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input):
        if F.threshold is not _threshold:
            return F.threshold(input, self.threshold, self.value, self.inplace)
        return (_C.threshold_ if self.inplace else _C.threshold)(input, self.threshold, self.value)

    def extra_repr(self):
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class PReLU(Module):
    """LeakyReLU with slopes that learn, one for all or one for each channel."""

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(_C.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class Softplus(Module):
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardshrink(Module):
    """x where |x| is above lambd, 0 elsewhere."""

    __constants__ = ["lambd"]

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.hardshrink(input, self.lambd)

    def extra_repr(self):
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """x, nearer to 0 by lambd."""

    def forward(self, input):
        return F.softshrink(input, self.lambd)


class GELU(Module):
    """x times the normal distribution's cumulative probability at x; `approximate`: "none" or "tanh"."""

    __constants__ = ["approximate"]

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """The first half times the sigmoid of the second, along `dim`."""

    __constants__ = ["dim"]

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class Sigmoid(Module):
    def forward(self, input):
        return _C.sigmoid(input)


class Tanh(Module):
    def forward(self, input):
        return _C.tanh(input)


class LogSigmoid(Module):
    def forward(self, input):
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, input):
        return _C.softsign(input) if F.softsign is _softsign else F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input):
        return _C.tanhshrink(input) if F.tanhshrink is _tanhshrink else F.tanhshrink(input)


class Softmax(Module):
    """exp(x), divided by its sum along `dim`."""

    __constants__ = ["dim"]

    def __init__(self, dim=None):
        super().__init__()
        if dim is not None and type(dim) is not int:
            raise TypeError(f"dim must be an int or None, got {type(dim)}")
        self.dim = dim

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def forward(self, input):
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmin(Softmax):
    """Softmax of -x."""

    def forward(self, input):
        return F.softmin(input, self.dim, _stacklevel=5)


class LogSoftmax(Softmax):
    """The logarithm of softmax."""

    def forward(self, input):
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of images."""

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class MultiheadAttention(Module):
    """Attention of several heads (Vaswani et al. 2017, arXiv:1706.03762)."""

    __constants__ = ["batch_first"]

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, device=None, dtype=None):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                             f"num_heads={num_heads} instead")
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        shapes = {"q_proj_weight": (embed_dim, embed_dim), "k_proj_weight": (embed_dim, self.kdim),
                  "v_proj_weight": (embed_dim, self.vdim)}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(_C.empty((3 * embed_dim, embed_dim), **options))
            for name in shapes:
                self.register_parameter(name, None)
        else:
            for name, shape in shapes.items():
                setattr(self, name, Parameter(_C.empty(shape, **options)))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(_C.empty(3 * embed_dim, **options))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **options)
        if add_bias_kv:
            self.bias_k = Parameter(_C.empty((1, 1, embed_dim), **options))
            self.bias_v = Parameter(_C.empty((1, 1, embed_dim), **options))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state):
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
                is_causal=False):
        """query [L, N, E], key and value [S, N, *], batch first if so made, or without a batch; gives the output and, with
        `need_weights`, the weights [N, L, S] (averaged over the heads, or [N, heads, L, S])."""
        turned = self.batch_first and query.dim() == 3
        if turned:
            if key is value:
                query, key = (query.transpose(1, 0), key.transpose(1, 0)) if query is not key else [query.transpose(1, 0)] * 2
                value = key
            else:
                query, key, value = (t.transpose(1, 0) for t in (query, key, value))
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal)
        return (output.transpose(1, 0) if turned else output), weights
