"""Checks of arguments in functions that are written in Python, with the words of those that are not."""

import re
import sys

from .. import _C


def expect(function, argument, position, value, kind, shown=None):
    """The value, if it is of that class or classes; `shown` is what the error calls them. bool is no int."""
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    where = "" if position is None else f" (position {position})"
    raise TypeError(f"{function}(): argument '{argument}'{where} must be {shown or kind.__name__}, not {type(value).__name__}")


def expect_tensor(function, argument, position, value):
    """The value, if it is a tensor, or an object that answers for one."""
    if hasattr(type(value), "__torch_function__"):
        return value
    return expect(function, argument, position, value, _C.TensorBase, "Tensor")


_KINDS = {"torch.Tensor": ("Tensor", _C.TensorBase), "int": ("int", int), "float": ("float", (int, float)),
          "bool": ("bool", bool), "str": ("str", str)}


def _expect_signature(signature, values, frame):
    """A TypeError for the first value that is not what the signature says, by its name in the function that runs in `frame`."""
    for kind, value in zip(re.findall(r"arg\d+: ([\w.]+)", signature), values):
        shown, classes = _KINDS.get(kind, ("", object))
        if isinstance(value, classes):
            continue
        names = frame.f_code.co_varnames[:frame.f_code.co_argcount]
        for position, name in enumerate(names, 1):
            if frame.f_locals.get(name) is value:
                expect(frame.f_code.co_name, name, position, value, classes, shown)


class Bound:
    """The functions of a module that is bound without a table of signatures. Where such a one is given something of another
    kind, the error names the function of the package that called it, and its argument."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        function = getattr(self._module, name)

        def call(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                failed = error
            signature = re.search(r"incompatible function arguments.*?1\. \((.*?)\) ->", str(failed), re.S)
            if signature:
                _expect_signature(signature[1], args, sys._getframe(1))
            raise failed
        setattr(self, name, call)
        return call
