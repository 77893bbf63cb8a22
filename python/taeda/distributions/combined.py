"""Distributions made of others: joined to vectors, mapped, mixed.

Where all parts have a twin in the library, so has the whole; where a program wrote one of them, Python puts them together.
"""

from .. import _C
from ..autograd.modes import no_grad
from . import constraints
from .distribution import _LIB, Distribution, as_tensors
from .families import Categorical, Normal
from .transforms import ComposeTransform, ExpTransform, Transform, twin_of
from .utils import _sum_rightmost


def _twin_of(distribution):
    """What computes a distribution in the library: None for one that a program wrote, or derived."""
    for name in ("sample", "rsample", "log_prob"):
        module = getattr(getattr(type(distribution), name), "__globals__", {}).get("__name__", "")
        if not module.startswith(__package__):
            return None
    return distribution._current()


class Independent(Distribution):
    """A distribution whose last batch dimensions count as dimensions of one event: log_prob sums over them.

    base_distribution: any
    reinterpreted_batch_ndims: how many dimensions; more than there are is a ValueError

    Shapes: batch_shape [*b, *e] becomes batch_shape [*b] and event_shape [*e, ...].

    >>> normal = torch.distributions.Normal(torch.zeros(2, 3), 1.0)
    >>> torch.distributions.Independent(normal, 1).log_prob(torch.zeros(2, 3)).shape
    torch.Size([2])
    """

    arg_constraints = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        batch, dims = tuple(base_distribution.batch_shape), reinterpreted_batch_ndims
        if dims > len(batch):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                             f"{dims} vs {len(batch)}")
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, dims
        twin = _twin_of(base_distribution)
        if twin is not None:
            self._set_twin(_LIB.Independent(twin, dims, validate_args))
        else:
            kept = len(batch) - dims
            super().__init__(batch[:kept], batch[kept:] + tuple(base_distribution.event_shape), validate_args)
            self.has_rsample = base_distribution.has_rsample

    def _ingredients(self):
        return [_twin_of(self.base_dist)]

    def _remade(self, of):
        return _LIB.Independent(*of, self.reinterpreted_batch_ndims, self._validate_args)

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        if self._twin is not None:
            return super().log_prob(value)
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        if self._twin is not None:
            return super().entropy()
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def expand(self, batch_shape, _instance=None):
        inner = tuple(self._event_shape)[:self.reinterpreted_batch_ndims]
        return Independent(self.base_dist.expand(tuple(batch_shape) + inner), self.reinterpreted_batch_ndims,
                           self._validate_args)

    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @constraints.dependent_property
    def support(self):
        support, dims = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, dims) if dims else support


class TransformedDistribution(Distribution):
    """f(x) of a random x of the base, for one transform or several in turn.

    base_distribution: any
    transforms: a transform or a list of them, else ValueError

    Shapes: those that the transforms give the base's.

    >>> base = torch.distributions.Normal(0.0, 1.0)
    >>> torch.distributions.TransformedDistribution(base, torch.distributions.ExpTransform()).sample((3,)).shape
    torch.Size([3])
    """

    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = list(transforms) if isinstance(transforms, (list, tuple)) else [transforms]
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        self.base_dist = base_distribution
        twins = [_twin_of(base_distribution), *map(twin_of, self.transforms)]
        if all(twin is not None for twin in twins):
            self._set_twin(_LIB.TransformedDistribution(twins[0], twins[1:], validate_args))
        else:
            self._put_together(validate_args)

    def _ingredients(self):
        return [_twin_of(self.base_dist)]

    def _remade(self, of):
        return _LIB.TransformedDistribution(*of, [twin_of(part) for part in self.transforms], self._validate_args)

    def _put_together(self, validate_args):
        base, whole = self.base_dist, ComposeTransform(self.transforms)
        missing = whole.domain.event_dim - len(base.event_shape)
        if missing > 0:
            base = self.base_dist = Independent(base, missing)
        shape = tuple(whole.forward_shape(tuple(base.batch_shape) + tuple(base.event_shape)))
        event_dim = whole.codomain.event_dim + max(-missing, 0)
        kept = len(shape) - event_dim
        super().__init__(shape[:kept], shape[kept:], validate_args)
        self.has_rsample = base.has_rsample

    def _mapped(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=()):
        if self._twin is not None:
            return super().sample(sample_shape)
        with no_grad():
            return self._mapped(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        if self._twin is not None:
            return super().rsample(sample_shape)
        return self._mapped(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        if self._twin is not None:
            return super().log_prob(value)
        if self._validate_args:
            self._validate_sample(value)
        dims, total = len(self._event_shape), 0.0
        for transform in reversed(self.transforms):
            before = transform._inv_call(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            total = total - _sum_rightmost(transform.log_abs_det_jacobian(before, value), dims - transform.domain.event_dim)
            value = before
        return total + _sum_rightmost(self.base_dist.log_prob(value), dims - len(self.base_dist.event_shape))

    def _quantile(self, value):
        """One of the base's, which decreasing transforms turn round."""
        sign = ComposeTransform(self.transforms).sign
        return sign * (value - 0.5) + 0.5

    def cdf(self, value):
        if self._twin is not None:
            return super().cdf(value)
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._quantile(self.base_dist.cdf(value))

    def icdf(self, value):
        if self._twin is not None:
            return super().icdf(value)
        return self._mapped(self.base_dist.icdf(self._quantile(value)))

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        missing = len(self._event_shape) - found.event_dim
        return constraints.independent(found, missing) if missing > 0 else found

    def expand(self, batch_shape, _instance=None):
        shape = ComposeTransform(self.transforms).inverse_shape(tuple(batch_shape) + tuple(self._event_shape))
        base = tuple(shape)[:len(shape) - len(self.base_dist.event_shape)]
        made = self._get_checked_instance(TransformedDistribution, _instance)
        TransformedDistribution.__init__(made, self.base_dist.expand(base), self.transforms, self._validate_args)
        return made


class LogNormal(TransformedDistribution):
    """exp(x) of a normal x.

    loc, scale: mean and standard deviation (positive) of x

    Shapes: parameters broadcast to `batch_shape` [*b]; a sample of shape [*s] is [*s, *b].

    >>> torch.distributions.LogNormal(0.0, 1.0).sample((3,)).shape
    torch.Size([3])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.positive, True
    loc, scale = property(lambda self: self.base_dist.loc), property(lambda self: self.base_dist.scale)

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    def _set_twin(self, twin):
        super()._set_twin(_LIB.LogNormal(*as_tensors(self.loc, self.scale), self._validate_args))

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(LogNormal, _instance))


class MixtureSameFamily(Distribution):
    """One of k distributions, which a Categorical chooses.

    mixture_distribution: a Categorical of batch_shape [*b] and k outcomes, else ValueError
    component_distribution: any of batch_shape [*b, k]

    Shapes: a sample of shape [*s] is [*s, *b, *event].

    >>> chosen = torch.distributions.Categorical(torch.ones(2))
    >>> parts = torch.distributions.Normal(torch.tensor([-1.0, 1.0]), 0.1)
    >>> torch.distributions.MixtureSameFamily(chosen, parts).sample((3,)).shape
    torch.Size([3])
    """

    arg_constraints = {}

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        twins = _twin_of(mixture_distribution), _twin_of(component_distribution)
        if None not in twins:
            self._set_twin(_LIB.MixtureSameFamily(*twins, validate_args))
        else:
            self._put_together(validate_args)

    def _put_together(self, validate_args):
        batch = tuple(self._component_distribution.batch_shape)
        weights = tuple(self._mixture_distribution.batch_shape)
        if any(a != b and 1 not in (a, b) for a, b in zip(reversed(weights), reversed(batch[:-1]))):
            raise ValueError(f"`mixture_distribution.batch_shape` ({_C.Size(weights)}) is not compatible with "
                             f"`component_distribution.batch_shape`({_C.Size(batch[:-1])})")
        count, components = self._mixture_distribution.probs.size(-1), batch[-1] if batch else None
        if count != components:
            raise ValueError(f"`mixture_distribution component` ({count}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({components})")
        super().__init__(batch[:-1], tuple(self._component_distribution.event_shape), validate_args)

    def _weighted(self, values):
        """The mean over components of values that have their batch and event dimensions."""
        dims = len(self._event_shape)
        weights = self._mixture_distribution.probs
        return (weights.reshape(tuple(weights.shape) + (1,) * dims) * values).sum(-1 - dims)

    @property
    def mean(self):
        if self._twin is not None:
            return super().mean
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self):
        """That of the components on average, and that of their means."""
        if self._twin is not None:
            return super().variance
        means = self._component_distribution.mean
        spread = (means - self.mean.unsqueeze(-1 - len(self._event_shape))).square()
        return self._weighted(self._component_distribution.variance) + self._weighted(spread)

    @constraints.dependent_property
    def support(self):
        """What the components have in common, without their own dimension."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _of_components(self, value):
        return value.unsqueeze(-1 - len(self._event_shape))

    def log_prob(self, value):
        if self._twin is not None:
            return super().log_prob(value)
        weights = self._mixture_distribution.logits.log_softmax(-1)
        return (self._component_distribution.log_prob(self._of_components(value)) + weights).logsumexp(-1)

    def cdf(self, value):
        if self._twin is not None:
            return super().cdf(value)
        return (self._component_distribution.cdf(self._of_components(value)) * self._mixture_distribution.probs).sum(-1)

    def sample(self, sample_shape=()):
        if self._twin is not None:
            return super().sample(sample_shape)
        dims = len(self._event_shape)
        with no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            at = drawn.dim() - dims - 1
            chosen = chosen.reshape(tuple(chosen.shape) + (1,) * (dims + 1))
            shape = list(drawn.shape)
            shape[at] = 1
            return drawn.gather(at, chosen.expand(shape)).squeeze(at)

    def expand(self, batch_shape, _instance=None):
        if self._twin is not None:
            return super().expand(batch_shape)
        count = self._mixture_distribution.probs.size(-1)
        return MixtureSameFamily(self._mixture_distribution.expand(batch_shape),
                                 self._component_distribution.expand(tuple(batch_shape) + (count,)), self._validate_args)

    def __repr__(self):
        if self._twin is not None:
            return super().__repr__()
        return f"MixtureSameFamily(\n  {self._mixture_distribution!r},\n  {self._component_distribution!r})"

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def component_distribution(self):
        return self._component_distribution


__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]
