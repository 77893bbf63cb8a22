"""Invertible functions of random values, and how they stretch them."""

from .. import _C
from .distribution import as_tensors

__all__ = ["AbsTransform", "AffineTransform", "ComposeTransform", "ExpTransform", "IndependentTransform",
           "LowerCholeskyTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
           "SoftplusTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform"]

_LIB = _C._distributions.transforms


class Transform:
    """y = f(x), with `inv`, and the logarithm of its derivative."""

    def __init__(self, twin, cache_size=0):
        self._twin, self._cache_size = twin, cache_size

    def __call__(self, x):
        return self._twin(x)

    def _inverse(self, y):
        return self._twin.inv(y)

    @property
    def inv(self):
        """The inverse, a transform."""
        return _Inverse(self)

    def log_abs_det_jacobian(self, x, y):
        """log |dy/dx|; of functions of vectors the log of the Jacobian's determinant."""
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

    def with_cache(self, cache_size=1):
        return self

    def __repr__(self):
        return type(self).__name__ + "()"


class _Inverse(Transform):
    def __init__(self, of):
        super().__init__(_LIB.inverse(of._twin))
        self._of = of

    @property
    def inv(self):
        return self._of


def _plain(name, function, doc):
    def __init__(self, cache_size=0):
        Transform.__init__(self, function(), cache_size)
    return type(name, (Transform,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


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


class AffineTransform(Transform):
    """loc + scale x; the last `event_dim` dimensions count as one value."""

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        self.loc, self.scale = loc, scale
        super().__init__(_LIB.affine(*as_tensors(loc, scale), event_dim), cache_size)


class PowerTransform(Transform):
    """x to the power of `exponent`, of positive numbers."""

    def __init__(self, exponent, cache_size=0):
        (self.exponent,) = as_tensors(exponent)
        super().__init__(_LIB.power(self.exponent), cache_size)


class ReshapeTransform(Transform):
    """Shapes of events, with as many elements."""

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = _C.Size(in_shape), _C.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(_LIB.reshape(list(in_shape), list(out_shape)), cache_size)


class IndependentTransform(Transform):
    """f with more dimensions before its own that count as one value."""

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        super().__init__(_LIB.independent(base_transform._twin, reinterpreted_batch_ndims), cache_size)


class ComposeTransform(Transform):
    """The first, then the second, ..."""

    def __init__(self, parts, cache_size=0):
        self.parts = list(parts)
        super().__init__(_LIB.compose([part._twin for part in self.parts]), cache_size)


identity_transform = ComposeTransform([])
