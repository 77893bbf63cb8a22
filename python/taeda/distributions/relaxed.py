"""Relaxed outcomes: the sigmoid and the exp of what is computed with logarithms (Maddison, Mnih and Teh 2017,
arXiv:1611.00712; Jang, Gu and Poole 2017, arXiv:1611.01144)."""

import math
import operator

from .. import _C
from . import constraints
from .combined import TransformedDistribution
from .distribution import Distribution
from .families import Categorical
from .transforms import ExpTransform, SigmoidTransform
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["RelaxedBernoulli", "RelaxedOneHotCategorical"]


class LogitRelaxedBernoulli(Distribution):
    """Numbers whose sigmoid is RelaxedBernoulli: logistic ones, moved by the logits and divided by `temperature`."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is None:
            (self.logits,) = broadcast_all(logits)
        else:
            (self.probs,) = broadcast_all(probs)
        self._param = self.logits if probs is None else self.probs
        super().__init__(self._param.shape, validate_args=validate_args)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        return self._param.size()

    def expand(self, batch_shape, _instance=None):
        given = {name: self.__dict__[name].expand(batch_shape) for name in ("probs", "logits")
                 if self.__dict__.get(name) is self._param}
        return type(self)(self.temperature, **given, validate_args=self._validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        drawn = clamp_probs(_C.rand(shape, dtype=probs.dtype, device=probs.device))
        return (drawn.log() - (-drawn).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        away = logits - value * self.temperature
        scale = self.temperature.log() if isinstance(self.temperature, _C.TensorBase) else math.log(self.temperature)
        return scale + away - 2 * away.exp().log1p()


class ExpRelaxedCategorical(Distribution):
    """Vectors [k] whose exp is RelaxedOneHotCategorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    logits = property(lambda self: self._categorical.logits)
    probs = property(lambda self: self._categorical.probs)
    param_shape = property(lambda self: self._categorical.param_shape)

    def expand(self, batch_shape, _instance=None):
        return type(self)(self.temperature, logits=self.logits.expand(tuple(batch_shape) + tuple(self._event_shape)),
                          validate_args=self._validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        drawn = clamp_probs(_C.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        return ((self.logits - (-drawn.log()).log()) / self.temperature).log_softmax(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        count = self._categorical.param_shape[-1]
        logits, value = broadcast_all(self.logits, value)
        scale = self.temperature.log() if isinstance(self.temperature, _C.TensorBase) else math.log(self.temperature)
        scores = (logits - value * self.temperature).log_softmax(-1).sum(-1)
        return scores + math.lgamma(count) + (count - 1) * scale


class _Relaxed(TransformedDistribution):
    """The transform `_map` of its base, whose parameters are its own."""

    has_rsample = True
    temperature = property(operator.attrgetter("base_dist.temperature"))
    probs, logits = property(operator.attrgetter("base_dist.probs")), property(operator.attrgetter("base_dist.logits"))

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(self._base(temperature, probs, logits), self._map(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(type(self), _instance))


class RelaxedBernoulli(_Relaxed):
    """Numbers in (0, 1) that tend to 0 and 1 as `temperature` goes to 0, with gradients to the parameters.

    temperature: positive
    probs: in [0, 1], or logits: log(probs / (1 - probs)); exactly one of both, else ValueError

    Shapes: parameters broadcast to `batch_shape` [*b]; a sample of shape [*s] is [*s, *b].

    >>> torch.distributions.RelaxedBernoulli(torch.tensor(0.5), probs=0.3).rsample((3,)).shape
    torch.Size([3])
    """

    _base, _map = LogitRelaxedBernoulli, SigmoidTransform
    arg_constraints, support = LogitRelaxedBernoulli.arg_constraints, constraints.unit_interval


class RelaxedOneHotCategorical(_Relaxed):
    """Weights [k] that tend to a one-hot vector as `temperature` goes to 0, with gradients to the parameters.

    temperature: positive
    probs: weights [*b, k], or logits: their logarithms up to a constant; exactly one of both, else ValueError

    Shapes: a sample of shape [*s] is [*s, *b, k].

    >>> torch.distributions.RelaxedOneHotCategorical(torch.tensor(0.5), probs=torch.tensor([0.2, 0.8])).rsample((3,)).shape
    torch.Size([3, 2])
    """

    _base, _map = ExpRelaxedCategorical, ExpTransform
    arg_constraints, support = ExpRelaxedCategorical.arg_constraints, constraints.simplex
