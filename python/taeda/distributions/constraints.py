"""Sets that parameters and values of distributions lie in."""

from .. import _C

_LIB = _C._distributions.constraints
Constraint = _C._distributions.Constraint

real, real_vector, positive, nonnegative = _LIB.real, _LIB.real_vector, _LIB.positive, _LIB.nonnegative
unit_interval, boolean, simplex, one_hot = _LIB.unit_interval, _LIB.boolean, _LIB.simplex, _LIB.one_hot
nonnegative_integer, positive_integer = _LIB.nonnegative_integer, _LIB.positive_integer
lower_cholesky, corr_cholesky, positive_definite = _LIB.lower_cholesky, _LIB.corr_cholesky, _LIB.positive_definite


def _tensor(value):
    return value if isinstance(value, _C.TensorBase) else _C._tensor_from(value, None, None)


def greater_than(lower_bound):
    return _LIB.greater_than(_tensor(lower_bound))


def greater_than_eq(lower_bound):
    return _LIB.greater_than_eq(_tensor(lower_bound))


def less_than(upper_bound):
    return _LIB.less_than(_tensor(upper_bound))


def interval(lower_bound, upper_bound):
    """Both ends belong."""
    return _LIB.interval(_tensor(lower_bound), _tensor(upper_bound))


def half_open_interval(lower_bound, upper_bound):
    """The lower end belongs."""
    return _LIB.half_open_interval(_tensor(lower_bound), _tensor(upper_bound))


def integer_interval(lower_bound, upper_bound):
    """Both ends belong."""
    return _LIB.integer_interval(_tensor(lower_bound), _tensor(upper_bound))


def multinomial(upper_bound):
    """Vectors of counts that add up to at most the bound."""
    return _LIB.multinomial(_tensor(upper_bound))


def independent(base_constraint, reinterpreted_batch_ndims):
    """The same with more dimensions before it that count as one value."""
    return base_constraint.independent(reinterpreted_batch_ndims)


class dependent_property(property):
    """A support or a constraint that depends on other parameters: a property, or a decorator that makes one."""

    def __init__(self, fn=None, *, is_discrete=False, event_dim=0):
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn):
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)
