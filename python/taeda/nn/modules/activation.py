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
    """max(0, x), element by element; NaN stays NaN.

    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.ReLU()(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """

    def forward(self, input):
        if F.relu is not _relu:
            return F.relu(input, inplace=self.inplace)
        return _C.relu_(input) if self.inplace else _C.relu(input)


class SiLU(_InPlace):
    """x sigmoid(x), element by element (also named swish).

    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.SiLU()(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """

    def forward(self, input):
        if F.silu is not _silu:
            return F.silu(input, inplace=self.inplace)
        return _C.silu_(input) if self.inplace else _C.silu(input)


class Mish(_InPlace):
    """x tanh(softplus(x)), element by element (Misra, arXiv:1908.08681).

    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.Mish()(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """

    def forward(self, input):
        if F.mish is not _mish:
            return F.mish(input, inplace=self.inplace)
        return _C.mish_(input) if self.inplace else _C.mish(input)


class SELU(_InPlace):
    """ELU scaled so that mean 0 and variance 1 stay: scale (max(0, x) + min(0, alpha (exp(x) - 1))) with alpha = 1.6733 and
    scale = 1.0507 (Klambauer et al. 2017, arXiv:1706.02515).

    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.SELU()(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input):
        if F.selu is not _selu:
            return F.selu(input, self.inplace)
        return _C.selu_(input) if self.inplace else _C.selu(input)


class Hardswish(Module):
    """x relu6(x + 3) / 6, element by element (Howard et al. 2019, arXiv:1905.02244).

    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.Hardswish()(torch.tensor([-3.0, 0.0, 3.0]))
    tensor([-0., 0., 3.])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        if F.hardswish is not _hardswish:
            return F.hardswish(input, self.inplace)
        return _C.hardswish_(input) if self.inplace else _C.hardswish(input)


class Hardsigmoid(Hardswish):
    """relu6(x + 3) / 6, element by element.

    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.Hardsigmoid()(torch.tensor([-3.0, 0.0, 3.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    def forward(self, input):
        if F.hardsigmoid is not _hardsigmoid:
            return F.hardsigmoid(input, self.inplace)
        return _C.hardsigmoid_(input) if self.inplace else _C.hardsigmoid(input)


class Hardtanh(Module):
    """x, limited to [min_val, max_val]; the gradient is 0 at the ends.

    min_val, max_val: the limits, -1 and 1 unless given; a min_val that is not smaller is an AssertionError
    inplace: whether the result is written over the input; False unless given
    min_value, max_value: old names of the limits

    Shapes: any, which the result has.

    >>> nn.Hardtanh()(torch.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """

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
    """min(max(0, x), 6), element by element.

    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.ReLU6()(torch.tensor([-1.0, 4.0, 9.0]))
    tensor([0., 4., 6.])
    """

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class ELU(Module):
    """x where positive, alpha (exp(x) - 1) elsewhere (Clevert et al. 2015, arXiv:1511.07289).

    alpha: what large negative numbers come to, with the opposite sign; 1 unless given
    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.ELU()(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

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
    """x where positive, alpha (exp(x / alpha) - 1) elsewhere (Barron 2017, arXiv:1704.07483).

    alpha: 1 unless given; 0 is a RuntimeError of the call
    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.CELU(alpha=0.5)(torch.tensor([-1.0, 2.0]))
    tensor([-0.4323,  2.0000])
    """

    def forward(self, input):
        if F.celu is not _celu:
            return F.celu(input, self.alpha, self.inplace)
        return (_C.celu_ if self.inplace else _C.celu)(input, self.alpha)


class LeakyReLU(Module):
    """x where positive, negative_slope x elsewhere.

    negative_slope: 0.01 unless given
    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.LeakyReLU(0.1)(torch.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

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
    """LeakyReLU with a slope drawn for each negative element between the bounds while training, and with their mean otherwise
    (Xu et al. 2015, arXiv:1505.00853).

    lower, upper: bounds of the slope, 1/8 and 1/3 unless given
    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.RReLU(0.1, 0.3).eval()(torch.tensor([-1.0, 2.0]))
    tensor([-0.2000,  2.0000])
    """

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
    """x where it is above the threshold, `value` elsewhere.

    threshold, value: numbers
    inplace: whether the result is written over the input; False unless given

    Shapes: any, which the result has.

    >>> nn.Threshold(1.0, -1.0)(torch.tensor([0.5, 2.0]))
    tensor([-1.,  2.])
    """

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
    """x where positive, a x elsewhere, where a learns: one number for all, or one for each channel (He et al. 2015,
    arXiv:1502.01852).

    num_parameters: 1 (unless given), or the number of channels, which are dimension 1
    init: what the slopes begin with; 0.25 unless given

    Shapes: input of any shape, or [N, num_parameters, *], which the result has; `weight` [num_parameters].

    >>> nn.PReLU()(torch.tensor([-2.0, 2.0]))
    tensor([-0.5000,  2.0000], grad_fn=<PreluKernelBackward0>)
    """

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
    """log(1 + exp(beta x)) / beta, a smooth ReLU; x itself where beta x is above the threshold.

    beta: 1 unless given
    threshold: 20 unless given

    Shapes: any, which the result has.

    >>> nn.Softplus()(torch.tensor([-1.0, 0.0, 30.0]))
    tensor([ 0.3133,  0.6931, 30.0000])
    """

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardshrink(Module):
    """x where |x| is above lambd, 0 elsewhere.

    lambd: 0.5 unless given

    Shapes: any, which the result has.

    >>> nn.Hardshrink()(torch.tensor([-1.0, 0.3, 2.0]))
    tensor([-1.,  0.,  2.])
    """

    __constants__ = ["lambd"]

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.hardshrink(input, self.lambd)

    def extra_repr(self):
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """x, nearer to 0 by lambd, and 0 where |x| is at most lambd.

    lambd: 0.5 unless given; a negative one is a RuntimeError of the call

    Shapes: any, which the result has.

    >>> nn.Softshrink()(torch.tensor([-1.0, 0.3, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    def forward(self, input):
        return F.softshrink(input, self.lambd)


class GELU(Module):
    """x times the normal distribution's cumulative probability at x (Hendrycks and Gimpel, arXiv:1606.08415).

    approximate: "none" (unless given) or "tanh", which takes 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))); another word
        is a RuntimeError of the call

    Shapes: any, which the result has.

    >>> nn.GELU()(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """

    __constants__ = ["approximate"]

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """a sigmoid(b) of the halves a and b of the input along `dim` (Dauphin et al., arXiv:1612.08083).

    dim: the dimension that is halved; -1 unless given

    Shapes: input [*, 2 n, *], result [*, n, *]. An odd size is a RuntimeError.

    >>> nn.GLU()(torch.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """

    __constants__ = ["dim"]

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class Sigmoid(Module):
    """1 / (1 + exp(-x)), element by element.

    Shapes: any, which the result has.

    >>> nn.Sigmoid()(torch.tensor([0.0, 100.0]))
    tensor([0.5000, 1.0000])
    """

    def forward(self, input):
        return _C.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent, element by element.

    Shapes: any, which the result has.

    >>> nn.Tanh()(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input):
        return _C.tanh(input)


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x))), element by element, without overflow.

    Shapes: any, which the result has.

    >>> nn.LogSigmoid()(torch.tensor([0.0, 5.0]))
    tensor([-0.6931, -0.0067])
    """

    def forward(self, input):
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|), element by element.

    Shapes: any, which the result has.

    >>> nn.Softsign()(torch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """

    def forward(self, input):
        return _C.softsign(input) if F.softsign is _softsign else F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x), element by element.

    Shapes: any, which the result has.

    >>> nn.Tanhshrink()(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """

    def forward(self, input):
        return _C.tanhshrink(input) if F.tanhshrink is _tanhshrink else F.tanhshrink(input)


class Softmax(Module):
    """exp(x), divided by its sum along `dim`: numbers in [0, 1] that add up to 1.

    dim: the dimension; without it 0 for 0, 1 and 3 dimensions and 1 for others, with a warning. What is no int is a
        TypeError.

    Shapes: any, which the result has.

    >>> nn.Softmax(dim=1)(torch.tensor([[0.0, 0.0], [0.0, 1.0986123]]))
    tensor([[0.5000, 0.5000],
            [0.2500, 0.7500]])
    """

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
    """Softmax of -x.

    dim: as Softmax's

    Shapes: any, which the result has.

    >>> nn.Softmin(dim=0)(torch.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input):
        return F.softmin(input, self.dim, _stacklevel=5)


class LogSoftmax(Softmax):
    """The logarithm of softmax, x - log(sum exp(x)) along `dim`, without overflow.

    dim: as Softmax's

    Shapes: any, which the result has.

    >>> nn.LogSoftmax(dim=0)(torch.tensor([0.0, 0.0]))
    tensor([-0.6931, -0.6931])
    """

    def forward(self, input):
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of images, for each place of them.

    Shapes: input [N, C, H, W] or [C, H, W], which the result has; others are a ValueError.

    >>> nn.Softmax2d()(torch.zeros(1, 4, 2, 2))[0, :, 0, 0]
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class MultiheadAttention(Module):
    """Attention of several heads: concat(head_1, ..., head_h) W_o, where head_i = softmax(q_i k_i' / sqrt(E / h)) v_i of the
    i-th parts of the projected query, key and value (Vaswani et al. 2017, arXiv:1706.03762).

    embed_dim: E, the size of query and output; a multiple of num_heads, else AssertionError
    num_heads: h
    dropout: probability with which weights are zeroed while training; 0 unless given
    bias: whether projections have one; True unless given
    add_bias_kv: whether a learned key and value are added to the sequence; False unless given
    add_zero_attn: whether a key and value of zeros are; False unless given
    kdim, vdim: sizes of key and value; E unless given
    batch_first: whether the batch is the first dimension of sequences, not the second; False unless given

    Shapes: query [L, N, E], key [S, N, kdim] and value [S, N, vdim] give output [L, N, E] and weights [N, L, S]; with
    batch_first N stands first, and without a batch it is missing everywhere.

    >>> attention = nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = torch.randn(3, 5, 8)
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 5, 5]))
    """

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
        `need_weights`, the weights [N, L, S] (averaged over the heads, or [N, heads, L, S]).

        key_padding_mask: [N, S]; True (or -inf) where a key is padding that nobody looks at
        need_weights: True unless given; None in their place otherwise, which is faster
        attn_mask: [L, S] or [N heads, L, S]; True where a query must not look, or numbers that are added to the scores
        average_attn_weights: True unless given
        is_causal: says that attn_mask is causal; without a mask it is a RuntimeError
        """
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
