"""Checks of arguments in functions that are written in Python, with the words of those that are not."""

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
