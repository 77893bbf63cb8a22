"""Distributions whose log densities are products of parameters and statistics of the value, but for two terms."""

from .. import _C
from ..autograd.modes import enable_grad
from ..autograd.passes import grad
from .distribution import Distribution
from .utils import _sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Distributions with densities exp(<t(x), theta> - F(theta) + k(x)) and natural parameters theta, of which entropies and
    Kullback-Leibler divergences follow. A class of your own defines `_natural_params`, `_log_normalizer` (F) and
    `_mean_carrier_measure` (the mean of k).

    Shapes: as Distribution's.

    >>> issubclass(torch.distributions.Gamma, torch.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """F(theta) - <theta, dF/dtheta> - E[k(x)]: statistics have the gradient of F as their mean."""
        if self._twin is not None:
            return super().entropy()
        with enable_grad():
            theta = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*theta)
            means = grad(normalizer.sum(), theta, create_graph=True)
        batch = tuple(self._batch_shape)
        for p, mean in zip(theta, means):
            normalizer = normalizer - (p * mean).reshape(batch + (-1,)).sum(-1)
        return normalizer - self._mean_carrier_measure


def bregman_divergence(p, q):
    """F(theta_q) - F(theta_p) - <theta_q - theta_p, dF/dtheta_p>."""
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot be computed using "
                                  "Bregman divergences")
    with enable_grad():
        at_p = [x.detach().requires_grad_() for x in p._natural_params]
        normalizer = p._log_normalizer(*at_p)
        means = grad(normalizer.sum(), at_p, create_graph=True)
    at_q = q._natural_params
    result = q._log_normalizer(*at_q) - normalizer
    for a, b, mean in zip(at_p, at_q, means):
        result = result - _sum_rightmost((b - a) * mean, len(q.event_shape))
    return result
