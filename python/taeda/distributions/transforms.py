"""Invertible functions of random values, and how they stretch them."""

import copy
import math

from .. import _C
from . import constraints
from .distribution import as_tensors

__all__ = ["AbsTransform", "AffineTransform", "ComposeTransform", "ExpTransform", "IndependentTransform",
           "LowerCholeskyTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
           "SoftplusTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform"]

_LIB = _C._distributions.transforms


def sum_of_last(value, dims):
    """Summed over the last dimensions, as many as are named."""
    return value.sum(tuple(range(-dims, 0))) if dims > 0 else value


class Transform:
    """y = f(x), with `inv`, and the logarithm of its derivative.

    One of your own has `domain`, `codomain` and `bijective`, defines _call, _inverse and log_abs_det_jacobian, and may keep
    (`cache_size` 1) its last pair, so that the inverse of a result is what it was made of.
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
        return _Inverse(self)

    def log_abs_det_jacobian(self, x, y):
        """log |dy/dx|; of functions of vectors the log of the Jacobian's determinant."""
        raise NotImplementedError

    @property
    def sign(self):
        raise NotImplementedError

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

    @property
    def domain(self):
        return self._twin.domain

    @property
    def codomain(self):
        return self._twin.codomain

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


class _Inverse(Transform):
    def __init__(self, of):
        super().__init__()
        self._of = of
        if twin_of(of) is not None:
            self._twin = _LIB.inverse(of._twin)

    def __call__(self, x):
        return self._of._inv_call(x)

    def _inv_call(self, y):
        return self._of(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)

    domain = property(lambda self: self._of.codomain)
    codomain = property(lambda self: self._of.domain)
    bijective = property(lambda self: self._of.bijective)
    sign = property(lambda self: self._of.sign)
    inv = property(lambda self: self._of)

    def forward_shape(self, shape):
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._of.forward_shape(shape)

    def with_cache(self, cache_size=1):
        return self._of.with_cache(cache_size).inv

    def __repr__(self):
        return f"{type(self).__name__}({self._of!r})"


def twin_of(transform):
    """What computes a transform in the library: None where Python has a part in it."""
    return None if transform._cache_size else transform._twin


def _plain(name, function, doc):
    def __init__(self, cache_size=0):
        _Library.__init__(self, function(), cache_size)
    return type(name, (_Library,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


ExpTransform = _plain("ExpTransform", _LIB.exp, "exp(x).")
SigmoidTransform = _plain("SigmoidTransform", _LIB.sigmoid, "1 / (1 + exp(-x)).")
TanhTransform = _plain("TanhTransform", _LIB.tanh, "tanh(x).")
SoftplusTransform = _plain("SoftplusTransform", _LIB.softplus, "log(1 + exp(x)).")
AbsTransform = _plain("AbsTransform", _LIB.abs, "|x|, which is not bijective.")
SoftmaxTransform = _plain("SoftmaxTransform", _LIB.softmax, "softmax over the last dimension, which is not bijective.")
StickBreakingTransform = _plain("StickBreakingTransform", _LIB.stick_breaking,
                                "k - 1 numbers to k weights that add up to 1, by breaking a stick.")
LowerCholeskyTransform = _plain("LowerCholeskyTransform", _LIB.lower_cholesky,
                                "Square matrices to lower triangular ones with positive diagonal.")


class AffineTransform(_Library):
    """loc + scale x; the last `event_dim` dimensions count as one value."""

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        self.loc, self.scale = loc, scale
        super().__init__(_LIB.affine(*as_tensors(loc, scale), event_dim), cache_size)


class PowerTransform(_Library):
    """x to the power of `exponent`, of positive numbers."""

    def __init__(self, exponent, cache_size=0):
        (self.exponent,) = as_tensors(exponent)
        super().__init__(_LIB.power(self.exponent), cache_size)


class ReshapeTransform(_Library):
    """Shapes of events, with as many elements."""

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = _C.Size(in_shape), _C.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(_LIB.reshape(list(in_shape), list(out_shape)), cache_size)


class IndependentTransform(Transform):
    """f with more dimensions before its own that count as one value."""

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
        return sum_of_last(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    domain = property(lambda self: self.base_transform.domain.independent(self.reinterpreted_batch_ndims))
    codomain = property(lambda self: self.base_transform.codomain.independent(self.reinterpreted_batch_ndims))
    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)


class ComposeTransform(Transform):
    """The first, then the second, ..."""

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
            total = total + sum_of_last(part.log_abs_det_jacobian(x, y), dims - part.domain.event_dim)
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
        return first.independent(dims - first.event_dim) if dims > first.event_dim else first

    @property
    def codomain(self):
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        last = self.parts[-1].codomain
        return last.independent(dims - last.event_dim) if dims > last.event_dim else last

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

    def __repr__(self):
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])
