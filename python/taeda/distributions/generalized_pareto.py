"""The generalized Pareto distribution, of what lies above a threshold."""

import math

from .. import _C
from . import constraints
from .distribution import Distribution, as_tensors

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Numbers from `loc` on whose survival function is (1 + concentration (x - loc) / scale)^(-1 / concentration); for a
    concentration of 0 exp(-(x - loc) / scale).

    loc, scale, concentration: numbers or tensors; scale is positive

    Shapes: parameters broadcast to `batch_shape` [*b]; a sample of shape [*s] is [*s, *b].

    >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.5).sample((3,)).shape
    torch.Size([3])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = as_tensors(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return type(self)(*(p.expand(batch_shape) for p in (self.loc, self.scale, self.concentration)),
                          validate_args=self._validate_args)

    def _exponential(self):
        return _C.isclose(self.concentration, _C.zeros_like(self.concentration))

    def _log_survival(self, value):
        """-log P(X > value) for values in the support."""
        z = (value - self.loc) / self.scale
        flat = self._exponential()
        shape = self.concentration.masked_fill(flat, 1)  # so that no gradient is one of 0 / 0
        return _C.where(flat, z, (shape * z).log1p() / shape)

    def rsample(self, sample_shape=()):
        drawn = _C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.icdf(drawn)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -(1 + self.concentration) * self._log_survival(value) - self.scale.log()

    def log_survival_function(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -self._log_survival(value)

    def log_cdf(self, value):
        return _C.log1p(-self.log_survival_function(value).exp())

    def cdf(self, value):
        return -self.log_survival_function(value).expm1()

    def icdf(self, value):
        flat = self._exponential()
        shape = self.concentration.masked_fill(flat, 1)
        left = (-value).log1p()
        return self.loc + self.scale * _C.where(flat, -left, (-shape * left).expm1() / shape)

    def _where(self, below, value):
        """A moment: NaN, as PyTorch has it, from that concentration on."""
        return value.masked_fill(self.concentration >= below, math.nan)

    @property
    def mean(self):
        return self._where(1, self.loc + self.scale / (1 - self.concentration))

    @property
    def variance(self):
        c = self.concentration
        return self._where(0.5, self.scale ** 2 / ((1 - c) ** 2 * (1 - 2 * c)))

    def entropy(self):
        return self.scale.log() + self.concentration + 1

    @property
    def mode(self):
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        upper = self.loc - self.scale / self.concentration
        if bool((self.concentration < 0).all()):
            return constraints.interval(self.loc, upper)
        if bool((self.concentration >= 0).all()):
            return constraints.greater_than_eq(self.loc)
        return constraints.interval(self.loc, _C.where(self.concentration < 0, upper, _C.full_like(upper, math.inf)))
