"""The library's distributions and transforms, which remember what they were made of: so they are copied and pickled."""

import copyreg
import weakref

from .. import _C

_made_of = weakref.WeakKeyDictionary()  # twin: the path of what made it, and the arguments


def _remake(path, *args):
    return _made(path, args)


def _made(path, args):
    found = _C._distributions
    for name in path.split("."):
        found = getattr(found, name)
    twin = found(*args)
    if type(twin) in _kinds:
        _made_of[twin] = path, args
    return twin


def expanded(twin, batch_shape):
    """The twin in a batch of another shape."""
    made = twin.expand(batch_shape)
    _made_of[made] = None, (twin, batch_shape)
    return made


def with_checks(twin, checks):
    """The twin, and those that it is made of, with or without checks of values: the last argument of all."""
    path, args = _made_of[twin]
    if path is None:
        return expanded(with_checks(args[0], checks), args[1])

    def changed(arg):
        if isinstance(arg, list):
            return [changed(each) for each in arg]
        return with_checks(arg, checks) if isinstance(arg, _C._distributions.Distribution) else arg
    return _made(path, (*map(changed, args[:-1]), checks))


def _reduce(twin):
    path, args = _made_of[twin]
    return (expanded, args) if path is None else (_remake, (path, *args))


class Library:
    """A module of the library whose functions note what they make."""

    def __init__(self, prefix=""):
        self._prefix = prefix

    def __getattr__(self, name):
        path = self._prefix + name
        self.__dict__[name] = lambda *args: _made(path, args)
        return self.__dict__[name]


_kinds = {_C._distributions.Distribution, _C._distributions.transforms.Transform}
for _kind in _kinds:
    copyreg.pickle(_kind, _reduce)
