"""Families that are maps of others. The library computes them in one step; `base_dist` and `transforms` say what they are."""

import operator

from .. import _C
from .._core.numbers import finfo
from . import constraints
from .combined import Independent, TransformedDistribution
from .distribution import Distribution, _Lazy
from .families import Cauchy, Exponential, Gamma, Normal, Uniform, _family, _OfNumbers
from .transforms import AbsTransform, AffineTransform, ExpTransform, PowerTransform, StickBreakingTransform

__all__ = ["Gumbel", "HalfCauchy", "HalfNormal", "InverseGamma", "Kumaraswamy", "LogisticNormal", "Pareto", "Weibull"]


class _Mapped(_OfNumbers, TransformedDistribution):
    """Has rules of its parameters, `_base` and `_parts`: the base and the transforms."""

    @_Lazy
    def transforms(self):
        return self._parts(*self._ingredients())

    def expand(self, batch_shape, _instance=None):
        made = Distribution.expand(self, batch_shape, _instance)
        made.__dict__.pop("transforms", None)
        made.base_dist = self.base_dist.expand(batch_shape)
        made._made_of = made._ingredients()
        return made


class _OfItsOwn(_Mapped):
    """Its parameters are no one else's."""

    @_Lazy
    def base_dist(self):
        return self._base(*self._ingredients())


class _OfBase(_Mapped):
    """Its parameters are those of the base."""

    def _make(self, validate_args, **parameters):
        self.base_dist = self._base(*parameters.values())
        super()._make(validate_args, **parameters)


def _mapped(name, parameters, support, base, parts, doc, kind=_OfItsOwn):
    made = _family(name, parameters, support, doc=doc, base=kind)
    made.__module__, made._base, made._parts = __name__, staticmethod(base), staticmethod(parts)
    return made


def _of_base(name, parameters, support, base, parts, doc, path="base_dist"):
    made = _mapped(name, parameters, support, base, parts, doc, _OfBase)
    for parameter in parameters:
        setattr(made, parameter, property(operator.attrgetter(f"{path}.{parameter}")))
    return made


def _above_zero_below_one(loc, scale):
    limits = finfo(loc.dtype)
    return Uniform(_C.full_like(loc, limits.tiny), _C.full_like(loc, 1 - limits.eps), False)


HalfNormal = _of_base("HalfNormal", ("scale",), constraints.nonnegative, lambda scale: Normal(0.0, scale, False),
                      lambda scale: [AbsTransform()], "|x| of a normal x with mean 0.")
HalfCauchy = _of_base("HalfCauchy", ("scale",), constraints.nonnegative, lambda scale: Cauchy(0.0, scale, False),
                      lambda scale: [AbsTransform()], "|x| of a Cauchy x around 0.")
InverseGamma = _of_base("InverseGamma", ("concentration", "rate"), constraints.positive,
                        lambda concentration, rate: Gamma(concentration, rate, False),
                        lambda concentration, rate: [PowerTransform(_C.full_like(rate, -1.0))], "One over a gamma number.")
LogisticNormal = _of_base("LogisticNormal", ("loc", "scale"), constraints.simplex,
                          lambda loc, scale: Independent(Normal(loc, scale, False), 1),
                          lambda loc, scale: [StickBreakingTransform()], "Weights that add up to 1, of normal numbers.",
                          "base_dist.base_dist")
LogisticNormal._parameter_dims = {"loc": 1, "scale": 1}
Gumbel = _mapped("Gumbel", ("loc", "scale"), constraints.real, _above_zero_below_one,
                 lambda loc, scale: [ExpTransform().inv, AffineTransform(0, -_C.ones_like(scale)), ExpTransform().inv,
                                     AffineTransform(loc, -scale)], "The largest of many numbers, in the limit.")
Weibull = _mapped("Weibull", ("scale", "concentration"), constraints.positive,
                  lambda scale, concentration: Exponential(_C.ones_like(scale), False),
                  lambda scale, concentration: [PowerTransform(concentration.reciprocal()), AffineTransform(0, scale)],
                  "Times to failure.")
Pareto = _mapped("Pareto", ("scale", "alpha"),
                 constraints.dependent_property(lambda self: constraints.greater_than_eq(self.scale), is_discrete=False,
                                                event_dim=0),
                 lambda scale, alpha: Exponential(alpha, False),
                 lambda scale, alpha: [ExpTransform(), AffineTransform(0, scale)],
                 "Numbers above `scale` whose tail falls as x^-alpha.")
Pareto.arg_constraints = {name: Pareto.arg_constraints[name] for name in ("alpha", "scale")}  # the order that is printed
Kumaraswamy = _mapped("Kumaraswamy", ("concentration1", "concentration0"), constraints.unit_interval,
                      lambda one, zero: Uniform(_C.zeros_like(one), _C.ones_like(one), False),
                      lambda one, zero: [PowerTransform(zero.reciprocal()), AffineTransform(1, -1),
                                         PowerTransform(one.reciprocal())],
                      "Numbers in (0, 1), much like Beta.")
