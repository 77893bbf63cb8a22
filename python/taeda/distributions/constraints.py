"""Sets that parameters and values of distributions lie in.

One of your own derives from Constraint and defines `check(value)`, which tells of each value whether it belongs; `event_dim`
is how many of the last dimensions make one value, `is_discrete` whether its values can be counted.
"""

import itertools

from .. import _C

__all__ = ["Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
           "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent", "less_than",
           "lower_cholesky", "lower_triangular", "MixtureSameFamilyConstraint", "multinomial", "nonnegative",
           "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer", "positive_semidefinite",
           "real",
           "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval"]

_sets = _C._distributions.constraints


class Constraint:
    """A set of numbers, or of vectors or matrices that the last `event_dim` dimensions hold."""

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """Which values belong: bool, without the last event_dim dimensions."""
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    """A set that depends on other parameters, so that nothing can be checked."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__()
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self):
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """The same with what is known of it."""
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, x):
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):
    """A support or a constraint that depends on other parameters: a property, or a decorator that makes one."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)

    def __repr__(self):
        return "DependentProperty()"


def is_dependent(constraint):
    """Whether a set depends on parameters."""
    return isinstance(constraint, _Dependent)


class _IndependentConstraint(Constraint):
    """The same with more dimensions before it that count as one value."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"Expected base_constraint to be a Constraint, but got {type(base_constraint).__name__}")
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError("Expected reinterpreted_batch_ndims to be an int, but got "
                                 f"{type(reinterpreted_batch_ndims).__name__}")
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"Expected reinterpreted_batch_ndims >= 0, but got {reinterpreted_batch_ndims}")
        super().__init__()
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim + self.reinterpreted_batch_ndims)

    def check(self, value):
        result, dims = self.base_constraint.check(value), self.reinterpreted_batch_ndims
        if result.dim() < dims:
            raise ValueError(f"Expected value.dim() >= {self.base_constraint.event_dim + dims} but got {value.dim()}")
        return result.reshape(tuple(result.shape)[:result.dim() - dims] + (-1,)).all(-1)

    def __repr__(self):
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class _Known(Constraint):
    """One that the library knows."""

    def check(self, value):
        return self._set.check(value)


class _Of(Constraint):
    """One whose parameters are shown."""

    def __repr__(self):
        return f"{type(self).__name__[1:]}({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


class _Above(_Of):
    def __init__(self, lower_bound):
        super().__init__()
        self.lower_bound = lower_bound


class _Below(_Of):
    def __init__(self, upper_bound):
        super().__init__()
        self.upper_bound = upper_bound


class _Between(_Of):
    def __init__(self, lower_bound, upper_bound):
        super().__init__()
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _GreaterThan(_Above):
    """Numbers above a bound."""

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    """Numbers from a bound on."""

    def check(self, value):
        return self.lower_bound <= value


class _LessThan(_Below):
    """Numbers below a bound."""

    def check(self, value):
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers between two bounds, which belong."""

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers between two bounds, of which the lower belongs."""

    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


def _is_integer(value):
    return value % 1 == 0


class _IntegerInterval(_Between):
    """Integers between two bounds, which belong."""

    is_discrete = True

    def check(self, value):
        return _is_integer(value) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Integers from a bound on."""

    is_discrete = True

    def check(self, value):
        return _is_integer(value) & (value >= self.lower_bound)


class _IntegerLessThan(_Below):
    """Integers up to a bound."""

    is_discrete = True

    def check(self, value):
        return _is_integer(value) & (value <= self.upper_bound)


class _Real(_Known):
    """All numbers but NaN."""

    _set = _sets.real


class _Boolean(_Known):
    """0 and 1."""

    is_discrete = True
    _set = _sets.boolean


class _Simplex(_Known):
    """Vectors of weights that add up to 1."""

    event_dim = 1
    _set = _sets.simplex


class _OneHot(_Known):
    """Vectors of one 1 and else 0."""

    is_discrete = True
    event_dim = 1
    _set = _sets.one_hot


class _Multinomial(_Below):
    """Vectors of counts that add up to at most a bound."""

    is_discrete = True
    event_dim = 1
    __repr__ = Constraint.__repr__

    def check(self, x):
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_Known):
    """Lower triangular matrices with positive diagonal."""

    event_dim = 2
    _set = _sets.lower_cholesky


class _CorrCholesky(_Known):
    """Lower triangular matrices with positive diagonal, whose rows have length 1 but for rounding."""

    event_dim = 2
    _set = _sets.corr_cholesky


class _Square(Constraint):
    event_dim = 2

    def check(self, value):
        return _C.full(tuple(value.shape)[:-2], value.size(-2) == value.size(-1), dtype=_C.bool, device=value.device)


class _Symmetric(_Square):
    """Square matrices that are their own transposes, but for rounding."""

    def check(self, value):
        square = super().check(value)
        if not bool(square.all()):
            return square
        return _C.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value):
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        return (_C._linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value):
        symmetric = super().check(value)
        if not bool(symmetric.all()):
            return symmetric
        return _C._linalg.cholesky_ex(value)[1] == 0


class _Parts(Constraint):
    """What several sets have in common."""

    is_discrete = property(lambda self: any(c.is_discrete for c in self.cseq))

    def _take(self, cseq):
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)


class _Cat(_Parts):
    """Parts along a dimension, of a length each, that have a constraint each."""

    def __init__(self, cseq, dim=0, lengths=None):
        self._take(cseq)
        self.lengths, self.dim = [1] * len(self.cseq) if lengths is None else list(lengths), dim
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"Expected lengths to have length {len(self.cseq)}, but got {len(self.lengths)}")

    event_dim = property(lambda self: max(c.event_dim for c in self.cseq))

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"Expected -{value.dim()} <= dim < {value.dim()}, but got dim={self.dim}")
        starts = itertools.accumulate(self.lengths, initial=0)
        return _C.cat([c.check(value.narrow(self.dim, start, length))
                       for c, start, length in zip(self.cseq, starts, self.lengths)], self.dim)


class _Stack(_Parts):
    """Slices along a dimension that have a constraint each."""

    def __init__(self, cseq, dim=0):
        self._take(cseq)
        self.dim = dim

    @property
    def event_dim(self):
        dims = max(c.event_dim for c in self.cseq)
        return dims + 1 if self.dim + dims < 0 else dims

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"Expected -{value.dim()} <= dim < {value.dim()}, but got dim={self.dim}")
        return _C.stack([c.check(value.select(self.dim, i)) for i, c in enumerate(self.cseq)], self.dim)


class MixtureSameFamilyConstraint(Constraint):
    """What lies in the support of each component: one that has all of the components' dimension behind those of the batch."""

    def __init__(self, base_constraint):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"Expected base_constraint to be a Constraint, but got {type(base_constraint).__name__}")
        super().__init__()
        self.base_constraint = base_constraint

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim)

    def check(self, value):
        dims = self.event_dim
        inside = self.base_constraint.check(value.unsqueeze(-1 - dims))
        if value.dim() < dims:
            raise ValueError(f"Expected value.dim() >= {dims} but got {value.dim()}")
        kept = value.dim() - dims
        return inside.reshape(tuple(inside.shape)[:kept] + (-1,)).all(-1)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_constraint!r})"


dependent = _Dependent()
independent, cat, stack = _IndependentConstraint, _Cat, _Stack
real, boolean, one_hot, simplex = _Real(), _Boolean(), _OneHot(), _Simplex()
real_vector = independent(real, 1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
multinomial = _Multinomial
positive, nonnegative, unit_interval = _GreaterThan(0.0), _GreaterThanEq(0.0), _Interval(0.0, 1.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
