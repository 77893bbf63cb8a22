"""torch._foreach_add and the like: one operation on each tensor of a list, as optimizers of the program's own call them."""

from .. import _C

_UNARY = ("abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round "
          "rsqrt sigmoid sign sin sinh sqrt tan tanh trunc").split()
_BINARY = "add sub mul div clamp_min clamp_max maximum minimum pow".split()
_TERNARY = ["addcmul", "addcdiv", "lerp"]
_EXTREMES = {"clamp_min": "maximum", "clamp_max": "minimum"}


def _each(values, count):
    """A value for each tensor: the same one, or those of a list."""
    if not isinstance(values, (list, tuple)):
        return [values] * count
    if len(values) != count:
        raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and {len(values)}")
    return values


def _result(name, tensor, *args, **kwargs):
    if name in ("maximum", "minimum", "clamp_min", "clamp_max") and not isinstance(args[0], _C.TensorBase):
        return tensor.clamp(min=args[0]) if name in ("maximum", "clamp_min") else tensor.clamp(max=args[0])
    return getattr(tensor, _EXTREMES.get(name, name))(*args, **kwargs)


def _functions(name):
    def outside(self, *lists, **kwargs):
        alpha = {key: kwargs.pop(key) for key in ("alpha", "value") if key in kwargs}
        if name in ("addcmul", "addcdiv") and len(lists) == 3:
            *lists, values = lists
        else:
            values = kwargs.pop("scalars", None)
        lists = [_each(values_of, len(self)) for values_of in (*lists, *kwargs.values())]
        rows = zip(self, *lists) if lists else ((tensor,) for tensor in self)
        if values is None:
            return [_result(name, *row, **alpha) for row in rows]
        return [_result(name, *row, value=value) for row, value in zip(rows, _each(values, len(self)))]

    def inside(self, *lists, **kwargs):
        for tensor, made in zip(self, outside(self, *lists, **kwargs)):
            tensor.copy_(made)
    for function, ending in ((outside, ""), (inside, "_")):
        function.__name__ = function.__qualname__ = f"_foreach_{name}{ending}"
        function.__doc__ = f"tensor.{name}{ending}(...) of each tensor of a list; others are lists, too, or one for all."
        yield function.__name__, function


for _name in _UNARY + _BINARY + _TERNARY:
    globals().update(_functions(_name))


def _foreach_norm(self, ord=2, dtype=None):
    """The norm of each tensor of a list."""
    return [_C._linalg.vector_norm(tensor, ord, dtype=dtype) for tensor in self]


def _foreach_zero_(self):
    """Zeros in each tensor of a list."""
    for tensor in self:
        tensor.zero_()


def _foreach_copy_(self, src, non_blocking=False):
    """Copies each tensor of one list to that of another."""
    for tensor, other in zip(self, _each(src, len(self))):
        tensor.copy_(other, non_blocking)


__all__ = [_name for _name in globals() if _name.startswith("_foreach_")]


def _flatten_dense_tensors(tensors):
    """The numbers of several tensors in one, one tensor after the other."""
    return _C.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Views of what _flatten_dense_tensors made, with the sizes of some tensors."""
    return tuple(part.view(like.shape) for part, like in zip(flat.split([t.numel() for t in tensors]), tensors))


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one type each, of at most `size_limit` bytes unless one is larger."""
    waiting = {}
    for tensor in tensors:
        held = waiting.setdefault(tensor.type(), [])
        if held and sum(t.numel() * t.element_size() for t in held) + tensor.numel() * tensor.element_size() > size_limit:
            yield held
            held = waiting[tensor.type()] = []
        held.append(tensor)
    yield from (held for held in waiting.values() if held)
