"""Random matrices: covariances, and correlations by their Cholesky factors."""

import math

from .. import _C, linalg
from .._core.warnings import warn
from ..autograd.modes import no_grad
from ..functional import broadcast_shapes
from .._core.numbers import finfo
from . import constraints
from .distribution import Distribution, _Lazy, as_tensors
from .exp_family import ExponentialFamily
from .families import Beta, Chi2
from .kl import register_kl

__all__ = ["LKJCholesky", "Wishart"]


def _log_determinant(tril):
    """Of a triangular matrix."""
    return tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _multidigamma(x, p):
    """The derivative of mvlgamma."""
    return (x[..., None] - _C.arange(p, dtype=x.dtype, device=x.device) / 2).digamma().sum(-1)


class Wishart(ExponentialFamily):
    """Sums of x x' over `df` normal vectors x of mean 0.

    df: above d - 1, [*b] covariance_matrix, precision_matrix or scale_tril: of x, the covariance, its inverse or its lower
        triangular factor, [*b, d, d]; exactly one of them, else ValueError

    Shapes: a sample of shape [*s] is [*s, *b, d, d].

    >>> torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2)).sample().shape
    torch.Size([2, 2])
    """

    arg_constraints = {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                       "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(0)}
    support = constraints.positive_definite
    has_rsample = True

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {name: value for name, value in (("covariance_matrix", covariance_matrix), ("scale_tril", scale_tril),
                                                 ("precision_matrix", precision_matrix)) if value is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril must be specified.")
        (name, matrix), = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if not isinstance(df, _C.TensorBase):
            df = _C._tensor_from(df, matrix.dtype, matrix.device)
        batch = broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df = df.expand(batch)
        self.__dict__[name] = matrix.expand(*batch, -1, -1)
        size = matrix.size(-1)
        if bool((self.df <= size - 1).any()):
            raise ValueError(f"Value of df={self.df} expected to be greater than ndim - 1 = {size - 1}.")
        if bool((self.df < size).any()):
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        super().__init__(batch, matrix.shape[-2:], validate_args)

    @_Lazy
    def scale_tril(self):
        if "covariance_matrix" in self.__dict__:
            return linalg.cholesky(self.covariance_matrix)
        # With rows and columns in reverse, a lower factor is an upper one.
        upper = linalg.cholesky(self.precision_matrix.flip((-2, -1))).flip((-2, -1))
        eye = _C.eye(upper.size(-1), dtype=upper.dtype, device=upper.device)
        return linalg.solve_triangular(upper.mT, eye.expand_as(upper), upper=False)

    @_Lazy
    def covariance_matrix(self):
        return self.scale_tril @ self.scale_tril.mT

    @_Lazy
    def precision_matrix(self):
        return _C.cholesky_inverse(self.scale_tril)

    def rsample(self, sample_shape=()):
        """By the factors that Bartlett found: chi below, normal numbers beside the diagonal."""
        size = self._event_shape[-1]
        degrees = self.df[..., None] - _C.arange(size, dtype=self.df.dtype, device=self.df.device)
        diagonal = Chi2(degrees, validate_args=False).rsample(sample_shape).sqrt()
        below = _C.randn(*sample_shape, *self._batch_shape, size * (size - 1) // 2, dtype=diagonal.dtype,
                         device=diagonal.device)
        at = _C.tril_indices(size, size, -1, device=diagonal.device)
        factor = diagonal.diag_embed()
        factor[..., at[0], at[1]] = below
        factor = self.scale_tril @ factor
        return factor @ factor.mT

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        size, df = self._event_shape[-1], self.df
        spread = _C.cholesky_solve(value, self.scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        return ((df - size - 1) * linalg.slogdet(value).logabsdet - spread - df * size * math.log(2)) / 2 \
            - df * _log_determinant(self.scale_tril) - _C.mvlgamma(df / 2, size)

    def entropy(self):
        size, df = self._event_shape[-1], self.df
        return ((size + 1) * size * math.log(2) + df * size - (df - size - 1) * _multidigamma(df / 2, size)) / 2 \
            + (size + 1) * _log_determinant(self.scale_tril) + _C.mvlgamma(df / 2, size)

    @property
    def mean(self):
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self._event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self):
        diagonal = self.covariance_matrix.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (self.covariance_matrix ** 2 + diagonal[..., None] * diagonal[..., None, :])

    def expand(self, batch_shape, _instance=None):
        name = next(name for name in ("covariance_matrix", "precision_matrix", "scale_tril") if name in self.__dict__)
        return type(self)(self.df.expand(batch_shape), validate_args=self._validate_args,
                          **{name: self.__dict__[name].expand(*batch_shape, -1, -1)})


@register_kl(Wishart, Wishart)
def _divergence(p, q):
    size = p.event_shape[-1]
    spread = _C.cholesky_solve(p.covariance_matrix, q.scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
    return q.df * (_log_determinant(q.scale_tril) - _log_determinant(p.scale_tril)) + p.df / 2 * (spread - size) \
        + _C.mvlgamma(q.df / 2, size) - _C.mvlgamma(p.df / 2, size) + (p.df - q.df) / 2 * _multidigamma(p.df / 2, size)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices C, with a density that goes as det(C)^(concentration - 1) (Lewandowski,
    Kurowicka and Joe 2009).

    dim: D, at least 2, else ValueError
    concentration: positive, [*b]; 1 unless given, for which all matrices are alike

    Shapes: a sample of shape [*s] is [*s, *b, D, D].

    >>> torch.distributions.LKJCholesky(3).sample().shape
    torch.Size([3, 3])
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = as_tensors(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)
        # The first row is fixed, so that its entry is any that is allowed.
        before = _C.cat([_C.zeros(1), _C.arange(dim - 1.0)]).to(self.concentration)
        rest = (self.concentration + 0.5 * (dim - 2))[..., None] - 0.5 * before
        self._lengths = Beta(0.5 * before + 0.5, rest, validate_args=False)

    def sample(self, sample_shape=()):
        with no_grad():
            squared = self._lengths.sample(sample_shape)[..., None]
            beside = _C.randn(self._extended_shape(sample_shape), dtype=squared.dtype, device=squared.device).tril(-1)
            beside = beside / beside.norm(dim=-1, keepdim=True)
            beside[..., 0, :] = 0
            factor = squared.sqrt() * beside
            left = (1 - (factor ** 2).sum(-1)).clamp(min=finfo(factor.dtype).tiny)
            return factor + left.sqrt().diag_embed()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        dim, concentration = self.dim, self.concentration
        power = 2 * (concentration - 1)[..., None] + dim - _C.arange(2, dim + 1, device=concentration.device)
        alpha = concentration + 0.5 * (dim - 1)
        constant = 0.5 * (dim - 1) * math.log(math.pi) + _C.mvlgamma(alpha - 0.5, dim - 1) - alpha.lgamma() * (dim - 1)
        return (power * value.diagonal(dim1=-2, dim2=-1)[..., 1:].log()).sum(-1) - constant

    def expand(self, batch_shape, _instance=None):
        return type(self)(self.dim, self.concentration.expand(batch_shape), self._validate_args)
