"""Docstrings of functions that are an operation's by another signature."""

import types


def said_of(operation):
    """An operation's docstring, without the signatures with which one of the extension begins; None where there is none."""
    said = getattr(operation, "__doc__", None)
    return said if type(operation) is types.FunctionType else said and said.partition("\n\n")[2]


def borrow(functions, operations):
    """Gives functions of a module that have no docstring that of the operation of their name."""
    for name, function in list(functions.items()):
        if type(function) is types.FunctionType and function.__doc__ is None and name[0] != "_":
            function.__doc__ = said_of(getattr(operations, name, None))


def with_text_of(function):
    """Gives a class whose docstring is an example alone the text of a function's before it."""
    def lend(made):
        if made.__doc__:  # which -OO takes away
            made.__doc__ = function.__doc__.partition(">>>")[0] + made.__doc__
        return made
    return lend
