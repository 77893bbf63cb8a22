"""The families of the library by PyTorch's names and arguments."""

from .. import _C
from .distribution import _LIB, Distribution, _Lazy, as_tensors

__all__ = ["Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Exponential",
           "FisherSnedecor", "Gamma", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "InverseGamma", "Kumaraswamy",
           "Laplace", "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "Multinomial", "MultivariateNormal",
           "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson",
           "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "Uniform", "VonMises", "Weibull"]


class _OfNumbers(Distribution):
    """Parameters are numbers or tensors, which broadcast."""

    def _make(self, validate_args, **parameters):
        values = as_tensors(*parameters.values())
        for name, value in zip(parameters, values):
            self.__dict__[name] = value
        if validate_args is not None:
            self._validate_args = validate_args
        self._set_twin(getattr(_LIB, type(self)._family)(*values, self._validate_args))


def _family(name, parameters, defaults=(), doc=""):
    """A class whose parameters are numbers or tensors."""
    arguments = ", ".join(list(parameters[:len(parameters) - len(defaults)])
                          + [f"{p}={d}" for p, d in zip(parameters[len(parameters) - len(defaults):], defaults)])
    scope = {}
    exec(f"def __init__(self, {arguments}, validate_args=None):\n"  # so that the signature is PyTorch's
         f"    self._make(validate_args, {', '.join(f'{p}={p}' for p in parameters)})\n", scope)
    return type(name, (_OfNumbers,), {"__init__": scope["__init__"], "__doc__": doc, "_family": name, "__module__": __name__,
                                      "_parameters": dict.fromkeys(parameters, 0)})


Normal = _family("Normal", ("loc", "scale"), doc="The normal distribution with mean `loc` and standard deviation `scale`.")
LogNormal = _family("LogNormal", ("loc", "scale"), doc="exp(x) of a normal x.")
HalfNormal = _family("HalfNormal", ("scale",), doc="|x| of a normal x with mean 0.")
Uniform = _family("Uniform", ("low", "high"), doc="Numbers from [low, high).")
Laplace = _family("Laplace", ("loc", "scale"), doc="Numbers with density exp(-|x - loc| / scale) / (2 scale).")
Cauchy = _family("Cauchy", ("loc", "scale"), doc="The quotient of two normal numbers, moved and scaled.")
HalfCauchy = _family("HalfCauchy", ("scale",), doc="|x| of a Cauchy x around 0.")
Gumbel = _family("Gumbel", ("loc", "scale"), doc="The largest of many numbers, in the limit.")
Exponential = _family("Exponential", ("rate",), doc="Times between events that come `rate` times in a unit.")
Weibull = _family("Weibull", ("scale", "concentration"), doc="Times to failure.")
Pareto = _family("Pareto", ("scale", "alpha"), doc="Numbers above `scale` whose tail falls as x^-alpha.")
Kumaraswamy = _family("Kumaraswamy", ("concentration1", "concentration0"), doc="Numbers in (0, 1), much like Beta.")
Gamma = _family("Gamma", ("concentration", "rate"), doc="Gamma with shape `concentration` and inverse scale `rate`.")
Chi2 = _family("Chi2", ("df",), doc="Sums of squares of `df` normal numbers.")
InverseGamma = _family("InverseGamma", ("concentration", "rate"), doc="One over a gamma number.")
Beta = _family("Beta", ("concentration1", "concentration0"), doc="Numbers in (0, 1), the first of two weights of a Dirichlet.")
FisherSnedecor = _family("FisherSnedecor", ("df1", "df2"), doc="Quotients of chi-squared numbers over their df.")
VonMises = _family("VonMises", ("loc", "concentration"), doc="Angles around `loc`.")
StudentT = _family("StudentT", ("df", "loc", "scale"), (0.0, 1.0), "Student's t with `df` degrees of freedom.")
Poisson = _family("Poisson", ("rate",), doc="Counts of events that come `rate` times on average.")
LogisticNormal = _family("LogisticNormal", ("loc", "scale"), doc="Weights that add up to 1, of normal numbers.")
LogisticNormal._parameters = {"loc": 1, "scale": 1}


class _OfOutcomes(Distribution):
    """Given by probabilities or by logits; the other is computed when it is asked for."""

    _lazy = ("probs", "logits")
    _several = True

    @_Lazy
    def probs(self):
        return self._twin.probs

    @_Lazy
    def logits(self):
        return self._twin.logits

    @property
    def _param(self):
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"]

    @property
    def param_shape(self):
        return self._param.size()

    def _make(self, probs, logits, validate_args, *first, last=()):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = probs if logits is None else logits
        (given,) = as_tensors(given)
        if self._several and given.dim() < 1:
            raise ValueError(f"`{'probs' if logits is None else 'logits'}` parameter must be at least one-dimensional.")
        if validate_args is not None:
            self._validate_args = validate_args
        self._set_twin(getattr(_LIB, type(self)._family)(*first, given, logits is not None, *last, self._validate_args))
        own = 1 if self._several else 0
        self._parameters = {"probs": own, "logits": own}
        name = "probs" if logits is None else "logits"
        self.__dict__[name] = getattr(self._twin, name)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape)
        name = "probs" if "probs" in self.__dict__ else "logits"
        made.__dict__[name] = getattr(made._twin, name)
        return made


def _two(name, doc):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self._make(probs, logits, validate_args)
    return type(name, (_OfOutcomes,), {"__init__": __init__, "__doc__": doc, "_family": name, "_several": False,
                                       "__module__": __name__})


def _several(name, doc):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self._make(probs, logits, validate_args)
    return type(name, (_OfOutcomes,), {"__init__": __init__, "__doc__": doc, "_family": name, "__module__": __name__})


Bernoulli = _two("Bernoulli", "1 with probability `probs`, else 0.")
Geometric = _two("Geometric", "How many trials fail before the first that succeeds.")
Categorical = _several("Categorical", "One of the indices 0 ... k - 1, with weights or logits [..., k].")
OneHotCategorical = _several("OneHotCategorical", "Vectors [k] with a 1 at one of k places.")
OneHotCategoricalStraightThrough = _several("OneHotCategoricalStraightThrough",
                                            "OneHotCategorical with the gradient of its mean.")


class _Counted(_OfOutcomes):
    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = probs if logits is None else logits
        self.total_count, given = as_tensors(total_count, given)
        self.total_count = self.total_count.type_as(given)
        self._make(given if logits is None else None, given if logits is not None else None, validate_args, self.total_count)
        self._parameters = {**self._parameters, "total_count": 0}


class Binomial(_Counted):
    """How many of `total_count` trials succeed."""

    _family, _several = "Binomial", False


class NegativeBinomial(_Counted):
    """How many trials succeed before `total_count` have failed."""

    _family, _several = "NegativeBinomial", False

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        super().__init__(total_count, probs, logits, validate_args)


class Multinomial(_OfOutcomes):
    """How often each of k outcomes comes in `total_count` draws: vectors [k]."""

    _family = "Multinomial"

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._make(probs, logits, validate_args, total_count)


class ContinuousBernoulli(_OfOutcomes):
    """Numbers in [0, 1] with density proportional to probs^x (1 - probs)^(1 - x)."""

    _family, _several = "ContinuousBernoulli", False

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._make(probs, logits, validate_args, last=(tuple(lims),))


class RelaxedBernoulli(_OfOutcomes):
    """Numbers in (0, 1) that tend to 0 and 1 as `temperature` goes to 0."""

    _family, _several = "RelaxedBernoulli", False

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        (self.temperature,) = as_tensors(temperature)
        self._make(probs, logits, validate_args, self.temperature)


class RelaxedOneHotCategorical(_OfOutcomes):
    """Weights [k] that tend to a one-hot vector as `temperature` goes to 0."""

    _family = "RelaxedOneHotCategorical"

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        (self.temperature,) = as_tensors(temperature)
        self._make(probs, logits, validate_args, self.temperature)


class Dirichlet(Distribution):
    """Vectors of weights that add up to 1, with concentrations [..., k]."""

    _parameters = {"concentration": 1}

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self._validate_args = self._validate_args if validate_args is None else validate_args
        self.concentration = concentration
        self._set_twin(_LIB.Dirichlet(concentration, self._validate_args))


class MultivariateNormal(Distribution):
    """Normal vectors, by their covariance, its inverse or its lower triangular factor."""

    _parameters = {"loc": 1, "_matrix": 2}
    _lazy = ("covariance_matrix", "precision_matrix", "scale_tril")

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        (name, matrix), = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        self._validate_args = self._validate_args if validate_args is None else validate_args
        self._given, self.loc, self._matrix = name, loc, matrix
        self._set_twin(_LIB.MultivariateNormal(loc, matrix, name, self._validate_args))
        self.loc = loc.expand(self._batch_shape + self._event_shape)
        self._matrix = matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @_Lazy
    def scale_tril(self):
        """The lower triangular factor."""
        if self._given == "scale_tril":
            return self._matrix
        return _C._linalg.cholesky(self.covariance_matrix)

    @_Lazy
    def covariance_matrix(self):
        if self._given == "precision_matrix":
            return _C._linalg.inv(self._matrix)
        return self._matrix if self._given == "covariance_matrix" else self._matrix @ self._matrix.mT

    @_Lazy
    def precision_matrix(self):
        return self._matrix if self._given == "precision_matrix" else _C._linalg.inv(self.covariance_matrix)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with covariance cov_factor cov_factor^T + diag(cov_diag)."""

    _parameters = {"loc": 1, "cov_factor": 2, "cov_diag": 1}

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        self._validate_args = self._validate_args if validate_args is None else validate_args
        self.loc, self.cov_factor, self.cov_diag = loc, cov_factor, cov_diag
        self._set_twin(_LIB.LowRankMultivariateNormal(loc, cov_factor, cov_diag, self._validate_args))
