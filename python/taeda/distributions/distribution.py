"""The base of all distributions. Those of the package have a twin in the library, which draws and computes."""

import numbers
import operator

from .. import _C
from .._core.warnings import warn
from ..autograd.modes import enable_grad
from ._twins import Library, expanded, with_checks
from .constraints import is_dependent
from .utils import lazy_property

_LIB = Library()


def as_tensors(*values):
    """Tensors of numbers and tensors, broadcast to one shape; numbers take dtype and device of the tensors beside them."""
    if not all(isinstance(v, (numbers.Number, _C.TensorBase)) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                         "__torch_function__.")
    like = next((v for v in values if isinstance(v, _C.TensorBase)), None)
    dtype = _C.get_default_dtype() if like is None else like.dtype
    device = None if like is None else like.device
    tensors = [v if isinstance(v, _C.TensorBase) else _C._tensor_from(v, dtype, device) for v in values]
    broadcast = _C.broadcast_tensors(tensors) if len(tensors) > 1 else tensors
    return [made if made.shape != given.shape else given for given, made in zip(tensors, broadcast)]


class _Lazy:
    """What is computed when it is first asked for."""

    def __init__(self, function):
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with enable_grad():  # it is kept, and may be asked for again where gradients are wanted
            value = instance.__dict__[self.name] = self.function(instance)
        return value


class Distribution:
    """A family of random values: parameters broadcast to `batch_shape`, one draw of one of them has `event_shape`. A class of
    your own defines `sample` or `rsample` (with gradients), `log_prob`, and whatever else it knows.

    batch_shape, event_shape: sizes; empty unless given
    validate_args: whether parameters and values are checked, which raises ValueError; the class's default unless given

    Shapes: sample(s) gives [*s, *batch_shape, *event_shape], log_prob of that [*s, *batch_shape].

    >>> normal = torch.distributions.Normal(torch.zeros(2), 1.0)
    >>> normal.batch_shape, normal.sample((3,)).shape
    (torch.Size([2]), torch.Size([3, 2]))
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints = {}
    _twin = None
    _validate_args = True

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = _C.Size(batch_shape), _C.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args and type(self).arg_constraints is Distribution.arg_constraints:
            warn(f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the "
                 "distribution with `validate_args=False` to turn off validation.")
        if self._validate_args and self.arg_constraints:
            self._check_parameters()

    def _check_parameters(self):
        for name, constraint in self.arg_constraints.items():
            if is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), (_Lazy, lazy_property)):
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                                 f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                                 f"values:\n{value}")

    @staticmethod
    def set_default_validate_args(value):
        """What distributions without a `validate_args` of their own do from now on."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value
        _LIB.set_default_validate_args(value)

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    def _extended_shape(self, sample_shape=()):
        return _C.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _asked(self, name):
        if self._twin is None:
            raise NotImplementedError(f"{type(self).__name__} does not define {name}")
        return getattr(self._current(), name)

    def _current(self):
        """The twin as the parameters are now, which programs may put others in the place of; None without a twin."""
        if self._twin is None:
            return None
        now = self._ingredients()
        if not all(map(operator.is_, now, self._made_of)):
            shape = self._batch_shape
            self._set_twin(self._remade(now))
            if self._batch_shape != shape and _C.broadcast_shapes(self._batch_shape, shape) == shape:
                self._set_twin(expanded(self._twin, list(shape)))
            self._batch_shape = shape
        if self._twin_checks is not self._validate_args:  # the default has changed since
            self._twin, self._twin_checks = with_checks(self._twin, self._validate_args), self._validate_args
        return self._twin

    def _ingredients(self):
        """What the twin is made of, by which `_remade` makes another."""
        return ()

    def sample(self, sample_shape=()):
        """Draws without gradient, of shape sample_shape + batch_shape + event_shape."""
        if self._twin is None:
            from ..autograd.modes import no_grad
            with no_grad():
                return self.rsample(sample_shape)
        return self._asked("draw")(list(sample_shape), False)

    def rsample(self, sample_shape=()):
        """Draws that are differentiable in the parameters. NotImplementedError without `has_rsample`."""
        return self._asked("draw")(list(sample_shape), True)

    def sample_n(self, n):
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density (of discrete values: of the probability) at `value`."""
        return self._asked("log_prob")(self._as_value(value))

    def cdf(self, value):
        return self._asked("cdf")(self._as_value(value))

    def icdf(self, value):
        return self._asked("icdf")(self._as_value(value))

    _takes_numbers = False  # as values, also where they are checked

    def _as_value(self, value):
        if isinstance(value, (numbers.Number, str)) and self._validate_args and not self._takes_numbers:
            raise ValueError("The value argument to log_prob must be a Tensor")
        if isinstance(value, _C.TensorBase):
            return value
        like = next((p for name in self._parameter_dims if isinstance(p := getattr(self, name), _C.TensorBase)), None)
        return _C._tensor_from(value, None if like is None else like.dtype, None if like is None else like.device)

    def entropy(self):
        return self._asked("entropy")()

    def perplexity(self):
        return self.entropy().exp()

    def enumerate_support(self, expand=True):
        return self._asked("enumerate_support")(expand)

    @property
    def mean(self):
        return self._asked("mean")

    @property
    def mode(self):
        return self._asked("mode")

    @property
    def variance(self):
        return self._asked("variance")

    @property
    def stddev(self):
        return self.variance.sqrt()

    @property
    def support(self):
        """The set of values, a constraint."""
        raise NotImplementedError

    def expand(self, batch_shape, _instance=None):
        """The same distributions in a batch of that shape, as Tensor.expand does it."""
        if self._twin is None:
            self._asked("expand")
        return self._with_twin(expanded(self._twin, list(batch_shape)), batch_shape, _instance)

    def _get_checked_instance(self, cls, _instance=None):
        """What expand of `cls` fills in: the object given or, where a subclass has the same `__init__`, another of its."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                                      "must also define a custom .expand() method.")
        return object.__new__(type(self)) if _instance is None else _instance

    def _with_twin(self, twin, batch_shape, instance=None):
        made = object.__new__(type(self)) if instance is None else instance
        made.__dict__.update(self.__dict__)
        for name in type(self)._lazy:
            made.__dict__.pop(name, None)
        for name, own in self._parameter_dims.items():
            value = self.__dict__.get(name)
            if isinstance(value, _C.TensorBase):
                made.__dict__[name] = value.expand(tuple(batch_shape) + tuple(value.shape)[value.dim() - own:])
        made._set_twin(twin)
        return made

    _lazy = ()
    _parameter_dims = {}

    def _set_twin(self, twin):
        self._twin, self._twin_checks, self._made_of = twin, self._validate_args, self._ingredients()
        self._batch_shape, self._event_shape = _C.Size(twin.batch_shape), _C.Size(twin.event_shape)
        self.has_rsample, self.has_enumerate_support = twin.has_rsample, twin.has_enumerate_support

    def _validate_sample(self, value):
        if not isinstance(value, _C.TensorBase):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, event, whole = value.shape, self._event_shape, self._batch_shape + self._event_shape
        if shape[max(len(shape) - len(event), 0):] != event:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {event}.")
        if any(1 not in (a, b) and a != b for a, b in zip(reversed(shape), reversed(whole))):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {whole}.")
        try:
            support = self.support
        except NotImplementedError:
            warn(f"{type(self)} does not define `support` to enable sample validation. Please initialize the distribution with "
                 "`validate_args=False` to turn off validation.")
            return
        if not support.check(value).all():
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within "
                             f"the support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def _shown(self):
        return {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}

    def __repr__(self):
        shown = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in self._shown().items()]
        if not shown and self._twin is not None:
            return repr(self._twin)
        return f"{type(self).__name__}({', '.join(shown)})"
