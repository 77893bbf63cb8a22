"""The Kullback-Leibler divergence of two distributions."""

from .._core.warnings import warn
from .distribution import _LIB
from .exp_family import ExponentialFamily, bregman_divergence

_registered = {}


def register_kl(type_p, type_q):
    """Decorates a function of (p, q) that kl_divergence calls for these classes, or for ones derived from them. The arguments
    are classes.

    >>> class Mine(torch.distributions.Normal):
    ...     pass
    >>> @torch.distributions.register_kl(Mine, Mine)
    ... def _kl(p, q):
    ...     return torch.zeros(p.batch_shape)
    >>> torch.distributions.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))
    tensor(0.)
    """
    for index, kind in enumerate((type_p, type_q), 1):
        if not isinstance(kind, type):
            raise TypeError(f"register_kl(): argument {index} must be a class, but got {type(kind).__name__}")

    def register(function):
        _registered[type_p, type_q] = function
        return function
    return register


def _own(p, q):
    """The registered function for the closest classes."""
    of_p, of_q = type(p).__mro__, type(q).__mro__
    found = [(of_p.index(a), of_q.index(b), function) for (a, b), function in _registered.items()
             if isinstance(p, a) and isinstance(q, b)]
    if not found:
        return None
    by_p, by_q = min(found, key=lambda each: each[:2]), min(found, key=lambda each: each[1::-1])
    if by_p[2] is not by_q[2]:
        names = f"{type(p).__name__}, {type(q).__name__}"
        warn(f"Ambiguous kl_divergence({names}). Please register_kl({names})", RuntimeWarning)
    return min(found, key=lambda each: each[0] + each[1])[2]


def kl_divergence(p, q):
    """The Kullback-Leibler divergence of q from p: the mean under p of log p(x) - log q(x).

    p, q: distributions; a NotImplementedError for a pair of classes that has no rule

    Shapes: the batch_shape to which both broadcast.

    >>> normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(normal(0.0, 1.0), normal(1.0, 1.0))
    tensor(0.5000)
    """
    own = _own(p, q)
    if own is not None:
        return own(p, q)
    if getattr(p, "_twin", None) is None or getattr(q, "_twin", None) is None:
        if isinstance(p, ExponentialFamily) and isinstance(q, ExponentialFamily):
            return bregman_divergence(p, q)
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return _LIB.kl_divergence(p._current(), q._current())
