"""Warnings of the package's modules: of the program's line, whatever of the package lies between, and once where PyTorch says
something once."""

import functools

from .. import _C

_said = set()


def warn(text, category=UserWarning):
    """Warns of the innermost line that is not the package's own."""
    _C._warn(str(text), category)


def warn_once(text, category=UserWarning):
    """Warns once in a process, or each time where the program has called torch.set_warn_always(True)."""
    if text not in _said or _C._is_warn_always():
        _said.add(text)
        warn(text, category)


def deprecated(text, category=FutureWarning):
    """A decorator: each call of the function, or each new object of the class, warns."""
    def mark(what):
        if isinstance(what, type):
            make = what.__init__

            @functools.wraps(make)
            def start(self, *args, **kwargs):
                if type(self) is what:
                    warn(text, category)
                make(self, *args, **kwargs)
            what.__init__ = start
            return what

        @functools.wraps(what)
        def called(*args, **kwargs):
            warn(text, category)
            return what(*args, **kwargs)
        return called
    return mark
