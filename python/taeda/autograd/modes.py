"""Switches of recording: context managers that are decorators, too."""

import functools

from .. import _C
from .._core.arguments import expect


class _Mode:
    """A context manager; around a function or a generator it holds while that runs, around a class for its __init__."""

    __slots__ = ()

    def __call__(self, function):
        if isinstance(function, type):
            function.__init__ = self(function.__init__)
            return function
        import inspect  # not needed by who writes no decorator
        if inspect.isgeneratorfunction(function):
            return self._around_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)
        return wrapped

    def _around_generator(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            resume = functools.partial(next, generator)
            while True:
                try:
                    with self._again():
                        given = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    resume = functools.partial(generator.send, (yield given))
                except GeneratorExit:
                    with self._again():
                        generator.close()
                    raise
                except BaseException as error:
                    resume = functools.partial(generator.throw, error)
        return wrapped

    def _again(self):
        """Another one of its kind, for a call."""
        return type(self)()


class no_grad(_Mode, _C.NoGradBlock):
    """Nothing is recorded on this thread: in a `with`, or while a function runs that it decorates.

    Takes no arguments; results in it have any shape and require no gradient.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __slots__ = ()


class enable_grad(_Mode, _C.EnableGradBlock):
    """Operations are recorded on this thread, within no_grad, too: in a `with`, or while a function runs that it decorates.

    Takes no arguments; results in it have any shape.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    __slots__ = ()


class set_grad_enabled(_Mode):
    """Switches recording at once; as a context manager it switches back, and as a decorator it holds for a function's calls.

    mode: a scalar, True or False

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.set_grad_enabled(False):
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self, mode):
        if type(mode) is not bool:
            expect("set_grad_enabled", "enabled", 1, mode, bool)
        self.previous = _C.is_grad_enabled()
        self.mode = mode
        _C._set_grad_enabled(mode)

    def __call__(self, function):
        _C._set_grad_enabled(self.previous)
        return super().__call__(function)

    def _again(self):
        return set_grad_enabled(self.mode)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def __enter__(self):
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *error):
        _C._set_grad_enabled(self.previous)


class inference_mode(_Mode):
    """Nothing is recorded, and tensors made here never take part in a graph: in a `with`, or while a function runs that it
    decorates.

    mode: a scalar, True (unless given) or False, which leaves it. A later operation that would save such a tensor for a
        gradient is a RuntimeError.

    >>> with torch.inference_mode():
    ...     y = torch.ones(2) * 2
    >>> y.is_inference()
    True
    """

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if isinstance(mode, bool):
            self.mode = mode
            return self
        self.mode = True
        return self(mode)

    def _again(self):
        return inference_mode(self.mode)

    def __enter__(self):
        self.guard = _C._enter_inference_mode(self.mode)

    def __exit__(self, *error):
        self.guard = None


def set_anomaly_enabled(mode, check_nan=True):
    """Names the operation behind a backward that fails or, with `check_nan`, gives NaN; until it is set again. The arguments
    are bools.

    >>> torch.set_anomaly_enabled(False)
    """
    _C._set_detect_anomaly(mode, check_nan)
