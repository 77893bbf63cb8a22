"""Context managers that are decorators, too, as those of torch are."""

from ..autograd.modes import _Mode


class _DecoratorContextManager(_Mode):
    """A context manager of a class of one's own; around a function or a generator each call enters a clone of it."""

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError

    def clone(self):
        """Another one of its kind. Override it where the class takes arguments."""
        return type(self)()

    def _again(self):
        return self.clone()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that takes no arguments, so that it may be put before a function without parentheses."""

    def __new__(cls, orig_func=None):
        made = super().__new__(cls)
        return made if orig_func is None else made(orig_func)
