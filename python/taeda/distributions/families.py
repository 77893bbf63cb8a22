"""The families of the library by PyTorch's names and arguments."""

from .. import _C
from . import constraints
from .constraints import dependent_property
from .distribution import _LIB, Distribution, _Lazy, as_tensors
from .exp_family import ExponentialFamily

__all__ = ["Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Exponential",
           "FisherSnedecor", "Gamma", "Geometric", "Laplace", "LowRankMultivariateNormal", "Multinomial", "MultivariateNormal",
           "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Poisson",
           "StudentT", "Uniform", "VonMises"]


class _OfNumbers(Distribution):
    """Parameters are numbers or tensors, which broadcast."""

    def _make(self, validate_args, **parameters):
        values = as_tensors(*parameters.values())
        for name, value in zip(parameters, values):
            if not isinstance(getattr(type(self), name, None), property):
                self.__dict__[name] = value
        if validate_args is not None:
            self._validate_args = validate_args
        self._set_twin(self._remade(values))

    def _ingredients(self):
        return [getattr(self, name) for name in self._parameter_dims]

    def _remade(self, values):
        return getattr(_LIB, self._family)(*as_tensors(*values), self._validate_args)


_VALUES = {"Uniform": "0.0, 1.0", "LogisticNormal": "torch.zeros(2), torch.ones(2)"}  # of examples, where ones will not do
_LIMITS = {"loc": constraints.real}  # all other parameters are positive


_SHAPES = """

    Shapes: parameters are numbers or tensors, which broadcast to `batch_shape` [*b]; a sample of shape [*s] is [*s, *b], and
    log_prob takes what broadcasts to that. Parameters outside of their limits are a ValueError, unless validate_args is False.

    >>> torch.distributions.{name}({values}).sample((3,)).shape
    torch.Size([3{event}])
    """


def _family(name, parameters, support, defaults=(), doc="", base=_OfNumbers, rsample=True):
    """A class whose parameters are numbers or tensors."""
    arguments = ", ".join(list(parameters[:len(parameters) - len(defaults)])
                          + [f"{p}={d}" for p, d in zip(parameters[len(parameters) - len(defaults):], defaults)])
    scope = {}
    exec(f"def __init__(self, {arguments}, validate_args=None):\n"  # so that the signature is PyTorch's
         f"    self._make(validate_args, {', '.join(f'{p}={p}' for p in parameters)})\n", scope)
    limits = {p: _LIMITS.get(p, constraints.positive) for p in parameters}
    said = doc + _SHAPES.format(name=name, values=_VALUES.get(name) or ", ".join(["1.0"] * len(parameters)),
                                event=", 3" if name == "LogisticNormal" else "")
    return type(name, (base,) if issubclass(base, _OfNumbers) else (_OfNumbers, base), {
        "__init__": scope["__init__"], "__doc__": said, "_family": name, "__module__": __name__, "support": support,
        "_parameter_dims": dict.fromkeys(parameters, 0), "arg_constraints": limits, "has_rsample": rsample})


_REAL, _POSITIVE, _FROM_ZERO = constraints.real, constraints.positive, constraints.nonnegative
_UNIT, _COUNTS = constraints.unit_interval, constraints.nonnegative_integer
Normal = _family("Normal", ("loc", "scale"), _REAL, base=ExponentialFamily,
                 doc="The normal distribution with mean `loc` and standard deviation `scale`.")
Uniform = _family("Uniform", ("low", "high"), dependent_property(lambda self: constraints.interval(self.low, self.high),
                                                                 is_discrete=False, event_dim=0),
                                                                 doc="Numbers from [low, high).")
Uniform.arg_constraints = property(lambda self: {"low": constraints.less_than(self.high),
                                                 "high": constraints.greater_than(self.low)})
Laplace = _family("Laplace", ("loc", "scale"), _REAL, doc="Numbers with density exp(-|x - loc| / scale) / (2 scale).")
Cauchy = _family("Cauchy", ("loc", "scale"), _REAL, doc="The quotient of two normal numbers, moved and scaled.")
Exponential = _family("Exponential", ("rate",), _FROM_ZERO, doc="Times between events that come `rate` times in a unit.",
                      base=ExponentialFamily)
Gamma = _family("Gamma", ("concentration", "rate"), _FROM_ZERO, base=ExponentialFamily,
                doc="Gamma with shape `concentration` and inverse scale `rate`.")
Chi2 = _family("Chi2", ("df",), _FROM_ZERO, doc="Sums of squares of `df` normal numbers.", base=ExponentialFamily)
Gamma._takes_numbers = Chi2._takes_numbers = True
Beta = _family("Beta", ("concentration1", "concentration0"), _UNIT, base=ExponentialFamily,
               doc="Numbers in (0, 1), the first of two weights of a Dirichlet.")
FisherSnedecor = _family("FisherSnedecor", ("df1", "df2"), _POSITIVE, doc="Quotients of chi-squared numbers over their df.")
VonMises = _family("VonMises", ("loc", "concentration"), _REAL, doc="Angles around `loc`.", rsample=False)
StudentT = _family("StudentT", ("df", "loc", "scale"), _REAL, (0.0, 1.0), "Student's t with `df` degrees of freedom.")
Poisson = _family("Poisson", ("rate",), _COUNTS, doc="Counts of events that come `rate` times on average.", rsample=False,
                  base=ExponentialFamily)
Poisson.arg_constraints = {"rate": constraints.nonnegative}


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
        self._parameter_dims = {"probs": own, "logits": own}
        name = "probs" if logits is None else "logits"
        self.__dict__[name] = getattr(self._twin, name)

    def expand(self, batch_shape, _instance=None):
        made = super().expand(batch_shape)
        name = "probs" if "probs" in self.__dict__ else "logits"
        made.__dict__[name] = getattr(made._twin, name)
        return made


_ONE_OF_TWO = {"probs": constraints.unit_interval, "logits": constraints.real}
_ONE_OF_MANY = {"probs": constraints.simplex, "logits": constraints.real_vector}


_OUTCOMES = """

    probs: probabilities, or logits: their logarithms {logits}; exactly one of both, else ValueError
    validate_args: whether parameters outside of their limits are a ValueError; True unless given

    Shapes: {shapes}; a sample of shape [*s] is [*s, *b{k}], and log_prob gives [*s, *b].

    >>> torch.distributions.{name}(probs={probs}).sample((3,)).shape
    torch.Size([3{event}])
    """


def _said(name, doc, several, event):
    """A docstring of outcomes, of one of two or of several (whose events are vectors if `event`)."""
    return doc + _OUTCOMES.format(
        name=name, logits="up to a constant" if several else "less that of what is left to 1", k=", k" if event else "",
        shapes="probs [*b, k], which are divided by their sum" if several else "a number or [*b]",
        probs="torch.tensor([0.5, 0.5])" if several else "0.5", event=", 2" if event else "")


def _outcomes(name, support, doc, several=True, base=Distribution, **more):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self._make(probs, logits, validate_args)
    return type(name, (_OfOutcomes,) if base is Distribution else (_OfOutcomes, base), {
        "__init__": __init__, "__doc__": _said(name, doc, several, name.startswith("OneHot")), "_family": name,
        "_several": several, "__module__": __name__, "support": support,
        "arg_constraints": _ONE_OF_MANY if several else _ONE_OF_TWO, **more})


Bernoulli = _outcomes("Bernoulli", constraints.boolean, "1 with probability `probs`, else 0.", False, ExponentialFamily,
                      has_enumerate_support=True)
Geometric = _outcomes("Geometric", _COUNTS, "How many trials fail before the first that succeeds.", False)
Categorical = _outcomes(
    "Categorical", dependent_property(lambda self: constraints.integer_interval(0, self.param_shape[-1] - 1),
                                      is_discrete=True, event_dim=0),
    "One of the indices 0 ... k - 1, with weights or logits [..., k].", has_enumerate_support=True)
OneHotCategorical = _outcomes("OneHotCategorical", constraints.one_hot, "Vectors [k] with a 1 at one of k places.",
                              has_enumerate_support=True)
OneHotCategoricalStraightThrough = _outcomes(
    "OneHotCategoricalStraightThrough", constraints.one_hot, "OneHotCategorical with the gradient of its mean.",
    has_enumerate_support=True, has_rsample=True)


class _Counted(_OfOutcomes):
    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = probs if logits is None else logits
        self.total_count, given = as_tensors(total_count, given)
        self.total_count = self.total_count.type_as(given)
        self._make(given if logits is None else None, given if logits is not None else None, validate_args, self.total_count)
        self._parameter_dims = {**self._parameter_dims, "total_count": 0}


class Binomial(_Counted):
    """How many of `total_count` trials succeed, each with probability `probs`.

    total_count: a number or counts; 1 unless given
    probs: in [0, 1], or logits: log(probs / (1 - probs)); exactly one of both, else ValueError

    Shapes: parameters broadcast to `batch_shape` [*b]; a sample of shape [*s] is [*s, *b].

    >>> torch.distributions.Binomial(10, probs=torch.tensor([0.0, 1.0])).sample()
    tensor([ 0., 10.])
    """

    _family, _several = "Binomial", False
    arg_constraints = {"total_count": constraints.nonnegative_integer, **_ONE_OF_TWO}
    has_enumerate_support = True

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)


class NegativeBinomial(_Counted):
    """How many trials succeed, each with probability `probs`, before `total_count` have failed.

    total_count: a number or counts
    probs: in [0, 1), or logits: log(probs / (1 - probs)); exactly one of both, else ValueError

    Shapes: parameters broadcast to `batch_shape` [*b]; a sample of shape [*s] is [*s, *b].

    >>> torch.distributions.NegativeBinomial(10, probs=0.5).sample((3,)).shape
    torch.Size([3])
    """

    _family, _several = "NegativeBinomial", False
    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = _COUNTS

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        super().__init__(total_count, probs, logits, validate_args)


class Multinomial(_OfOutcomes):
    """How often each of k outcomes comes in `total_count` draws: vectors [k].

    total_count: an int, else NotImplementedError; 1 unless given
    probs: weights [*b, k], or logits: their logarithms up to a constant; exactly one of both, else ValueError

    Shapes: a sample of shape [*s] is [*s, *b, k].

    >>> torch.distributions.Multinomial(5, probs=torch.tensor([0.0, 1.0])).sample()
    tensor([0., 5.])
    """

    _family = "Multinomial"
    arg_constraints = _ONE_OF_MANY

    @dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._make(probs, logits, validate_args, total_count)


class ContinuousBernoulli(_OfOutcomes, ExponentialFamily):
    """Numbers in [0, 1] with density proportional to probs^x (1 - probs)^(1 - x).

    probs: in (0, 1), or logits: log(probs / (1 - probs)); exactly one of both, else ValueError
    lims: between which probs count as 1/2; (0.499, 0.501) unless given

    Shapes: the parameter is a number or [*b]; a sample of shape [*s] is [*s, *b].

    >>> torch.distributions.ContinuousBernoulli(probs=0.3).sample((3,)).shape
    torch.Size([3])
    """

    _family, _several = "ContinuousBernoulli", False
    arg_constraints, support, has_rsample = _ONE_OF_TWO, _UNIT, True

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._make(probs, logits, validate_args, last=(tuple(lims),))


class Dirichlet(ExponentialFamily):
    """Vectors of weights that add up to 1, with density proportional to the product of x_i^(concentration_i - 1).

    concentration: positive, [*b, k]; without a dimension a ValueError

    Shapes: a sample of shape [*s] is [*s, *b, k].

    >>> torch.distributions.Dirichlet(torch.ones(3)).sample().shape
    torch.Size([3])
    """

    _parameter_dims = {"concentration": 1}
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support, has_rsample = constraints.simplex, True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self._validate_args = self._validate_args if validate_args is None else validate_args
        self.concentration = concentration
        self._set_twin(_LIB.Dirichlet(concentration, self._validate_args))


class MultivariateNormal(Distribution):
    """Normal vectors.

    loc: the mean, [*b, d] covariance_matrix, precision_matrix or scale_tril: the covariance, its inverse or its lower
        triangular factor, [*b, d, d]; exactly one of them, else ValueError

    Shapes: a sample of shape [*s] is [*s, *b, d], and log_prob gives [*s, *b].

    >>> torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).sample((3,)).shape
    torch.Size([3, 2])
    """

    _parameter_dims = {"loc": 1, "_matrix": 2}
    _lazy = ("covariance_matrix", "precision_matrix", "scale_tril")
    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support, has_rsample = constraints.real_vector, True

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
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else _C._linalg.cholesky(
            matrix if name == "covariance_matrix" else _C._linalg.inv(matrix))
        self._made_of = self._ingredients()

    _given = "scale_tril"  # of a class that has `loc` and `_unbroadcasted_scale_tril` of its own
    mean = mode = property(lambda self: self.loc)

    def _shown(self):
        return {**super()._shown(), **({self._given: self._matrix} if "_matrix" in self.__dict__ else {})}

    def _asked(self, name):
        return getattr(self._remade(self._ingredients()) if self._twin is None else self._current(), name)

    def _ingredients(self):
        return [getattr(self, name, None) for name in ("loc", "_unbroadcasted_scale_tril")]

    def _remade(self, values):
        self.__dict__.pop("scale_tril", None)
        return _LIB.MultivariateNormal(*values, "scale_tril", False)

    @_Lazy
    def scale_tril(self):
        """The lower triangular factor."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape + self._event_shape)

    @_Lazy
    def covariance_matrix(self):
        if self._given == "precision_matrix":
            return _C._linalg.inv(self._matrix)
        return self._matrix if self._given == "covariance_matrix" else self._matrix @ self._matrix.mT

    @_Lazy
    def precision_matrix(self):
        return self._matrix if self._given == "precision_matrix" else _C._linalg.inv(self.covariance_matrix)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors whose covariance is W W' + diag(d).

    loc: the mean, [*b, n]
    cov_factor: W, [*b, n, r]
    cov_diag: d, positive, [*b, n]

    Shapes: a sample of shape [*s] is [*s, *b, n]; parameters that do not fit are a ValueError.

    >>> torch.distributions.LowRankMultivariateNormal(torch.zeros(3), torch.ones(3, 1), torch.ones(3)).sample().shape
    torch.Size([3])
    """

    _parameter_dims = {"loc": 1, "cov_factor": 2, "cov_diag": 1}
    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support, has_rsample = constraints.real_vector, True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        self._validate_args = self._validate_args if validate_args is None else validate_args
        self.loc, self.cov_factor, self.cov_diag = loc, cov_factor, cov_diag
        self._set_twin(_LIB.LowRankMultivariateNormal(loc, cov_factor, cov_diag, self._validate_args))
