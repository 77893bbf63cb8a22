"""Which transforms lead from all real numbers into a set.

`biject_to(constraint)` is one with an inverse and a Jacobian, as densities need it; `transform_to(constraint)` may be simpler,
as an optimizer over unconstrained numbers wants it.
"""

import numbers

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A function from constraints to transforms, by the constraints' classes."""

    def __init__(self):
        self._registry = {}

    def register(self, constraint, factory=None):
        """Says which factory(constraint) gives a transform for all constraints of a class (or of that of an object). Without a
        factory it decorates one."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError("Expected constraint to be either a Constraint subclass or instance, but got "
                            f"{constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint):
        """A transform into the set. NotImplementedError where none was registered for the constraint's class."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _into(*kinds, only=None):
    """Registers a factory for constraints, with one of the two functions or both."""
    def register(factory):
        for registry in (biject_to, transform_to) if only is None else (only,):
            for kind in kinds:
                registry.register(kind, factory)
        return factory
    return register


@_into(constraints.real)
def _real(constraint):
    return transforms.identity_transform


@_into(constraints.greater_than, constraints.greater_than_eq)
def _greater(constraint):
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)])


@_into(constraints.less_than)
def _less(constraint):
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])


@_into(constraints.interval, constraints.half_open_interval)
def _between(constraint):
    lower, upper = constraint.lower_bound, constraint.upper_bound
    if isinstance(lower, numbers.Number) and isinstance(upper, numbers.Number) and (lower, upper) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(lower, upper - lower)])


@_into(constraints.simplex, only=biject_to)
def _broken_stick(constraint):
    return transforms.StickBreakingTransform()


@_into(constraints.simplex, only=transform_to)
def _weights(constraint):
    return transforms.SoftmaxTransform()


@_into(constraints.lower_cholesky, only=transform_to)
def _factor(constraint):
    return transforms.LowerCholeskyTransform()


@_into(constraints.positive_definite, constraints.positive_semidefinite, only=transform_to)
def _covariance(constraint):
    return transforms.PositiveDefiniteTransform()


@_into(constraints.corr_cholesky)
def _correlation(constraint):
    return transforms.CorrCholeskyTransform()


def _of_parts(registry):
    """Those of constraints that are made of others."""
    registry.register(constraints.independent, lambda c: transforms.IndependentTransform(
        registry(c.base_constraint), c.reinterpreted_batch_ndims))
    registry.register(constraints.cat, lambda c: transforms.CatTransform(
        [registry(part) for part in c.cseq], c.dim, c.lengths))
    registry.register(constraints.stack, lambda c: transforms.StackTransform([registry(part) for part in c.cseq], c.dim))


_of_parts(biject_to)
_of_parts(transform_to)
