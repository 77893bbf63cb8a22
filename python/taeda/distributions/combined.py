"""Distributions made of others: joined to vectors, mapped, mixed."""

from .distribution import _LIB, Distribution


def _twin_of(distribution, what):
    if getattr(distribution, "_twin", None) is None:
        raise NotImplementedError(f"{what} of a distribution that is not the package's own: {type(distribution).__name__}")
    return distribution._twin


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` batch dimensions as dimensions of one event."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                             f"{reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}")
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        self._set_twin(_LIB.Independent(_twin_of(base_distribution, "Independent"), reinterpreted_batch_ndims, validate_args))


class TransformedDistribution(Distribution):
    """f(x) of a random x of the base, for one transform or several in turn."""

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = list(transforms) if isinstance(transforms, (list, tuple)) else [transforms]
        self._set_twin(_LIB.TransformedDistribution(_twin_of(base_distribution, "TransformedDistribution"),
                                                    [t._twin for t in self.transforms], validate_args))


class MixtureSameFamily(Distribution):
    """One of k distributions - the last batch dimension of the components - chosen by a Categorical."""

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._set_twin(_LIB.MixtureSameFamily(_twin_of(mixture_distribution, "MixtureSameFamily"),
                                              _twin_of(component_distribution, "MixtureSameFamily"), validate_args))

    @property
    def mixture_distribution(self):
        return self._mixture_distribution

    @property
    def component_distribution(self):
        return self._component_distribution


__all__ = ["Independent", "MixtureSameFamily", "TransformedDistribution"]
