"""Invertible functions of random values, and how they stretch them."""

import copy
import math

from .. import _C
from .._core.numbers import finfo
from . import constraints
from ._twins import Library
from .distribution import as_tensors
from .utils import _sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = ["AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
           "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
           "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
           "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform"]

_LIB = Library("transforms.")


class Transform:
    """y = f(x), with `inv`, and the logarithm of its derivative, of the shape of x without the dimensions of an event.

    One of your own has `domain`, `codomain` and `bijective`, defines _call, _inverse and log_abs_det_jacobian, and may keep
    (`cache_size` 1) its last pair, so that the inverse of a result is what it was made of.

    >>> isinstance(torch.distributions.ExpTransform(), torch.distributions.Transform)
    True
    """

    bijective = False
    _twin = None  # in the library

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size, self._last = cache_size, (None, None)

    def __call__(self, x):
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        x = self._inverse(y)
        if self._cache_size:
            self._last = x, y
        return x

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    @property
    def inv(self):
        """The inverse, a transform."""
        return _InverseTransform(self)

    def log_abs_det_jacobian(self, x, y):
        """log |dy/dx|; of functions of vectors the log of the Jacobian's determinant."""
        raise NotImplementedError

    @property
    def sign(self):
        raise NotImplementedError

    @property
    def event_dim(self):
        """How many dimensions make one value, on both sides."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    def forward_shape(self, shape):
        return shape

    def inverse_shape(self, shape):
        return shape

    def with_cache(self, cache_size=1):
        """The same function, that keeps its last pair or not."""
        if cache_size == self._cache_size:
            return self
        made = copy.copy(self)
        Transform.__init__(made, cache_size)
        return made

    def __repr__(self):
        return type(self).__name__ + "()"


class _Library(Transform):
    """A function of the library."""

    def __init__(self, twin, cache_size=0):
        super().__init__(cache_size)
        self._twin = twin

    def _call(self, x):
        return self._twin(x)

    def _inverse(self, y):
        return self._twin.inv(y)

    def log_abs_det_jacobian(self, x, y):
        return self._twin.log_abs_det_jacobian(x, y)

    def __eq__(self, other):
        return type(self) is type(other) and self._is_like(other)

    __hash__ = Transform.__hash__

    def _is_like(self, other):
        """Whether another one of the class has the same parameters."""
        return True

    @property
    def bijective(self):
        return self._twin.bijective

    @property
    def sign(self):
        return self._twin.sign

    def forward_shape(self, shape):
        return _C.Size(self._twin.forward_shape(list(shape)))

    def inverse_shape(self, shape):
        return _C.Size(self._twin.inverse_shape(list(shape)))


class _InverseTransform(Transform):
    def __init__(self, of):
        super().__init__()
        self._inv = of
        if twin_of(of) is not None:
            self._twin = _LIB.inverse(of._twin)

    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    domain = property(lambda self: self._inv.codomain)
    codomain = property(lambda self: self._inv.domain)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)

    def __eq__(self, other):
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = Transform.__hash__
    inv = property(lambda self: self._inv)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def with_cache(self, cache_size=1):
        return self._inv.with_cache(cache_size).inv

    def __repr__(self):
        return f"{type(self).__name__}({self._inv!r})"


def twin_of(transform):
    """What computes a transform in the library: None where Python has a part in it."""
    return None if transform._cache_size else transform._twin


_SHAPES = """

    Shapes: {shapes}.

    >>> torch.distributions.{name}()(torch.zeros(2{more})).shape
    torch.Size([{result}{more}])
    """


def _plain(name, function, domain, codomain, doc, shapes="any, which the result has", more="", result=2):
    said = doc + _SHAPES.format(shapes=shapes, name=name, more=more, result=result)

    def __init__(self, cache_size=0):
        _Library.__init__(self, function(), cache_size)
    return type(name, (_Library,), {"__init__": __init__, "__doc__": said, "__module__": __name__, "domain": domain,
                                    "codomain": codomain})


def _equal(a, b):
    """Whether parameters, numbers or tensors, are the same."""
    if isinstance(a, _C.TensorBase) or isinstance(b, _C.TensorBase):
        return bool((a == b).all())
    return a == b


def _real_of(event_dim):
    return constraints.independent(constraints.real, event_dim) if event_dim else constraints.real


ExpTransform = _plain("ExpTransform", _LIB.exp, constraints.real, constraints.positive, "exp(x).")
SigmoidTransform = _plain("SigmoidTransform", _LIB.sigmoid, constraints.real, constraints.unit_interval, "1 / (1 + exp(-x)).")
TanhTransform = _plain("TanhTransform", _LIB.tanh, constraints.real, constraints.interval(-1.0, 1.0), "tanh(x).")
SoftplusTransform = _plain("SoftplusTransform", _LIB.softplus, constraints.real, constraints.positive, "log(1 + exp(x)).")
AbsTransform = _plain("AbsTransform", _LIB.abs, constraints.real, constraints.positive, "|x|, which is not bijective.")
SoftmaxTransform = _plain("SoftmaxTransform", _LIB.softmax, constraints.real_vector, constraints.simplex,
                          "softmax over the last dimension, which is not bijective.", "[*b, k], which the result has")
StickBreakingTransform = _plain("StickBreakingTransform", _LIB.stick_breaking, constraints.real_vector, constraints.simplex,
                                "k - 1 numbers to k weights that add up to 1, by breaking a stick.",
                                "[*b, k - 1] to [*b, k]", result=3)
LowerCholeskyTransform = _plain("LowerCholeskyTransform", _LIB.lower_cholesky, _real_of(2), constraints.lower_cholesky,
                                "Square matrices to lower triangular ones with positive diagonal.",
                                "[*b, d, d], which the result has", ", 2")
LowerCholeskyTransform.bijective = False  # of all square matrices, not of those that count


class AffineTransform(_Library):
    """loc + scale x.

    loc, scale: numbers or tensors
    event_dim: how many of the last dimensions count as one value; 0 unless given

    Shapes: any that broadcasts with loc and scale.

    >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.tensor([0.0, 1.0]))
    tensor([1., 3.])
    """

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        self.loc, self.scale, self._event_dim = loc, scale, event_dim
        super().__init__(_LIB.affine(*as_tensors(loc, scale), event_dim), cache_size)

    event_dim = property(lambda self: self._event_dim)
    domain = codomain = property(lambda self: _real_of(self._event_dim))

    def _is_like(self, other):
        return _equal(self.loc, other.loc) and _equal(self.scale, other.scale)


class PowerTransform(_Library):
    """x to the power of `exponent`, a number or a tensor, of positive numbers.

    Shapes: any that broadcasts with the exponent.

    >>> torch.distributions.PowerTransform(2.0)(torch.tensor([3.0]))
    tensor([9.])
    """

    domain = codomain = constraints.positive

    def __init__(self, exponent, cache_size=0):
        (self.exponent,) = as_tensors(exponent)
        super().__init__(_LIB.power(self.exponent), cache_size)

    def _is_like(self, other):
        return _equal(self.exponent, other.exponent)


class ReshapeTransform(_Library):
    """Events in another shape.

    in_shape, out_shape: of as many elements, else ValueError

    Shapes: [*b, *in_shape] to [*b, *out_shape].

    >>> torch.distributions.ReshapeTransform((4,), (2, 2))(torch.zeros(3, 4)).shape
    torch.Size([3, 2, 2])
    """

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = _C.Size(in_shape), _C.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(_LIB.reshape(list(in_shape), list(out_shape)), cache_size)

    domain = property(lambda self: _real_of(len(self.in_shape)))
    codomain = property(lambda self: _real_of(len(self.out_shape)))

    def _is_like(self, other):
        return self.in_shape == other.in_shape and self.out_shape == other.out_shape


class IndependentTransform(Transform):
    """A transform whose last dimensions count as one value: log_abs_det_jacobian sums over them.

    base_transform: any
    reinterpreted_batch_ndims: how many dimensions more

    Shapes: the base's.

    >>> f = torch.distributions.IndependentTransform(torch.distributions.ExpTransform(), 1)
    >>> x = torch.zeros(2, 3)
    >>> f.log_abs_det_jacobian(x, f(x)).shape
    torch.Size([2])
    """

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        if twin_of(base_transform) is not None:
            self._twin = _LIB.independent(base_transform._twin, reinterpreted_batch_ndims)

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x, y):
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    domain = property(lambda self: constraints.independent(
        self.base_transform.domain, self.reinterpreted_batch_ndims))
    codomain = property(lambda self: constraints.independent(
        self.base_transform.codomain, self.reinterpreted_batch_ndims))
    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)


class ComposeTransform(Transform):
    """The first transform, then the second, and so on.

    parts: a list of transforms

    Shapes: of the first's input, to the last's result.

    >>> parts = [torch.distributions.AffineTransform(0.0, 2.0), torch.distributions.ExpTransform()]
    >>> torch.distributions.ComposeTransform(parts)(torch.zeros(2))
    tensor([1., 1.])
    """

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)
        if all(twin_of(part) is not None for part in self.parts):
            self._twin = _LIB.compose([part._twin for part in self.parts])

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return _C.zeros_like(x)
        total, dims = 0, self.domain.event_dim
        for part in self.parts:
            y = part(x)
            total = total + _sum_rightmost(part.log_abs_det_jacobian(x, y), dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            x = y
        return total

    @property
    def domain(self):
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims = max(dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        first = self.parts[0].domain
        return constraints.independent(first, dims - first.event_dim) if dims > first.event_dim else first

    @property
    def codomain(self):
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        last = self.parts[-1].codomain
        return constraints.independent(last, dims - last.event_dim) if dims > last.event_dim else last

    bijective = property(lambda self: all(part.bijective for part in self.parts))
    sign = property(lambda self: math.prod(part.sign for part in self.parts))

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    def __repr__(self):
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])


class CorrCholeskyTransform(Transform):
    """Vectors of D (D - 1) / 2 numbers to Cholesky factors of correlation matrices: their tanh, taken row by row, are partial
    correlations.

    Shapes: [*b, D (D - 1) / 2] to [*b, D, D]; another length is a ValueError.

    >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        share = x.tanh()
        eps = finfo(x.dtype).eps
        share = vec_to_tril_matrix(share.clamp(eps - 1, 1 - eps), -1)
        left = (1 - share ** 2).sqrt().cumprod(-1)
        eye = _C.eye(share.size(-1), dtype=share.dtype, device=share.device)
        return (share + eye) * _shifted(left)

    def _inverse(self, y):
        left = _shifted(1 - (y * y).cumsum(-1))
        share = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()
        return (share.log1p() - (-share).log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), -2)
        of_tanh = -2 * (x + _C.softplus(-2 * x) - math.log(2.0))
        return left.log().sum(-1) / 2 + of_tanh.sum(-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        size = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return _C.Size((*shape[:-1], size, size))

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return _C.Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))

    def __eq__(self, other):
        return isinstance(other, CorrCholeskyTransform)

    __hash__ = Transform.__hash__


def _shifted(left):
    """What is left before each entry of a row, of what is left behind it."""
    return _C.cat([_C.ones_like(left[..., :1]), left[..., :-1]], -1)


class PositiveDefiniteTransform(Transform):
    """Square matrices to L L' of their LowerCholeskyTransform L.

    Shapes: [*b, d, d], which the result has.

    >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain, codomain = _real_of(2), constraints.positive_definite

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(_C._linalg.cholesky(y))

    def __eq__(self, other):
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__


class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of a distribution of numbers.

    distribution: of which `cdf`, `icdf` and `log_prob` are taken

    Shapes: any that broadcasts with its batch_shape.

    >>> torch.distributions.CumulativeDistributionTransform(torch.distributions.Uniform(0.0, 2.0))(torch.tensor([1.0]))
    tensor([0.5000])
    """

    bijective, codomain, sign = True, constraints.unit_interval, 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)


class _Joined(Transform):
    """Several transforms side by side along a dimension."""

    def __init__(self, tseq, dim, cache_size):
        tseq = list(tseq)
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else tseq
        self.dim = dim

    def _parts(self, value):
        """The part of each transform."""
        raise NotImplementedError

    def _join(self, parts):
        raise NotImplementedError

    def _call(self, x):
        return self._join([t(part) for t, part in zip(self.transforms, self._parts(x))])

    def _inverse(self, y):
        return self._join([t.inv(part) for t, part in zip(self.transforms, self._parts(y))])

    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    def _check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"Expected -{value.dim()} <= dim < {value.dim()}, but got dim={self.dim}")


class CatTransform(_Joined):
    """Transforms of parts along `dim`, which are concatenated again.

    tseq: the transforms
    dim: 0 unless given
    lengths: of the parts; 1 each unless given

    Shapes: any whose size along `dim` is the sum of the lengths.

    >>> parts = [torch.distributions.ExpTransform(), torch.distributions.AffineTransform(0.0, 2.0)]
    >>> f = torch.distributions.CatTransform(parts)
    >>> f(torch.tensor([0.0, 3.0]))
    tensor([1., 6.])
    """

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths must have length {len(self.transforms)}, but got {len(self.lengths)}")

    length = property(lambda self: sum(self.lengths))
    event_dim = property(lambda self: max(t.event_dim for t in self.transforms))

    def with_cache(self, cache_size=1):
        if cache_size == self._cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value):
        self._check(value)
        if value.size(self.dim) != self.length:
            raise AssertionError(f"Expected size {self.length} at dim {self.dim}, but got {value.size(self.dim)}")
        return _C.split_with_sizes(value, self.lengths, self.dim)

    def _join(self, parts):
        return _C.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        dims = self.event_dim
        parts = [_sum_rightmost(t.log_abs_det_jacobian(a, b), dims - t.event_dim)
                 for t, a, b in zip(self.transforms, self._parts(x), self._parts(y))]
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        return _C.cat(parts, dim + dims) if dim + dims < 0 else sum(parts)

    domain = property(lambda self: constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths))
    codomain = property(lambda self: constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths))


class StackTransform(_Joined):
    """Transforms of slices along `dim`, which are stacked again.

    tseq: the transforms
    dim: 0 unless given

    Shapes: any whose size along `dim` is their number.

    >>> parts = [torch.distributions.ExpTransform(), torch.distributions.AffineTransform(0.0, 2.0)]
    >>> f = torch.distributions.StackTransform(parts)
    >>> f(torch.tensor([0.0, 3.0]))
    tensor([1., 6.])
    """

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size=1):
        return self if cache_size == self._cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, value):
        self._check(value)
        if value.size(self.dim) != len(self.transforms):
            raise AssertionError(f"Expected size {len(self.transforms)} at dim {self.dim}, but got {value.size(self.dim)}")
        return value.unbind(self.dim)

    def _join(self, parts):
        return _C.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        return self._join([t.log_abs_det_jacobian(a, b) for t, a, b in zip(self.transforms, self._parts(x), self._parts(y))])

    domain = property(lambda self: constraints.stack([t.domain for t in self.transforms], self.dim))
    codomain = property(lambda self: constraints.stack([t.codomain for t in self.transforms], self.dim))
