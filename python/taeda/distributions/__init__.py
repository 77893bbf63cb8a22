"""Random values with densities, gradients and divergences."""

from . import constraints, transforms
from .combined import Independent, MixtureSameFamily, TransformedDistribution
from .distribution import Distribution
from .families import *  # noqa: F403
from .families import __all__ as _families
from .kl import kl_divergence, register_kl
from .transforms import *  # noqa: F403
from .transforms import __all__ as _transforms

__all__ = ["Distribution", "Independent", "MixtureSameFamily", "TransformedDistribution", "constraints", "kl_divergence",
           "register_kl", "transforms"] + list(_families) + list(_transforms)
