"""Random values with densities, gradients and divergences."""

import sys as _sys

from .._core.missing import modules_of_classes as _modules_of_classes
from . import constraints, transforms
from .constraint_registry import biject_to, transform_to
from .combined import Independent, LogNormal, MixtureSameFamily, TransformedDistribution
from .distribution import Distribution
from .families import *  # noqa: F403
from .families import __all__ as _families
from .mapped import *  # noqa: F403
from .mapped import __all__ as _mapped
from .exp_family import ExponentialFamily
from .generalized_pareto import GeneralizedPareto
from .kl import kl_divergence, register_kl
from .matrices import LKJCholesky, Wishart
from .relaxed import *  # noqa: F403
from .relaxed import ExpRelaxedCategorical as _ExpRelaxedCategorical, LogitRelaxedBernoulli as _LogitRelaxedBernoulli
from .relaxed import __all__ as _relaxed
from .transforms import *  # noqa: F403
from .transforms import __all__ as _transforms

__all__ = ["Distribution", "ExponentialFamily", "GeneralizedPareto", "Independent", "LKJCholesky", "LogNormal",
           "MixtureSameFamily", "TransformedDistribution", "Wishart", "biject_to", "constraints", "kl_divergence",
           "register_kl", "transform_to", "transforms"] + list(_families) + list(_mapped) + list(_relaxed) + list(_transforms)

_modules_of_classes(_sys.modules[__name__], {
    "chi2": "Chi2", "fishersnedecor": "FisherSnedecor", "half_cauchy": "HalfCauchy", "half_normal": "HalfNormal",
    "log_normal": "LogNormal", "logistic_normal": "LogisticNormal", "lowrank_multivariate_normal": "LowRankMultivariateNormal",
    "multivariate_normal": "Distribution MultivariateNormal", "negative_binomial": "NegativeBinomial", "von_mises": "VonMises",
    "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough", "relaxed_bernoulli": "RelaxedBernoulli",
    "studentT": "StudentT",
    "relaxed_categorical": "RelaxedOneHotCategorical", "continuous_bernoulli": "ContinuousBernoulli",
    "inverse_gamma": "InverseGamma", "lkj_cholesky": "LKJCholesky", "mixture_same_family": "MixtureSameFamily",
    "transformed_distribution": "TransformedDistribution", **{name.lower(): name for name in (
        "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Dirichlet", "Exponential", "Gamma", "Geometric", "Gumbel",
        "Independent", "Kumaraswamy", "Laplace", "Multinomial", "Normal", "Pareto", "Poisson", "Uniform", "Weibull",
        "Wishart")}})
_sys.modules[f"{__name__}.relaxed_bernoulli"].LogitRelaxedBernoulli = _LogitRelaxedBernoulli
_sys.modules[f"{__name__}.relaxed_categorical"].ExpRelaxedCategorical = _ExpRelaxedCategorical
