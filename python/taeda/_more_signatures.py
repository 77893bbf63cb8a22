"""Signatures that PyTorch's operations have and the library's have not.

An operation asks here when no signature of its own fits a call, so they cost other calls nothing. A function gets what the
operation got, a method's tensor first, and gives NotImplemented where the call is wrong in PyTorch, too.
"""

import functools

from . import _C
from ._warnings import warn_once

_NUMBERS = (int, float, complex)


def into(out, made, sequence="", silently=False):
    """A result, written to `out` if there is one, which takes its sizes, silently where `made` was made of sizes alone. It
    keeps its own for as many numbers of a sequence, of which the function is named.
    """
    if out is None:
        return made
    _C._write_out(out, made, sequence, silently)
    return out


def _sorting(operation):
    """Sorting keeps the order of equal elements anyway."""
    def call(input, dim=-1, descending=False, stable=None, **out):
        if not isinstance(stable, bool) or isinstance(dim, bool):
            return NotImplemented
        return operation(input, dim, descending, **out)
    return call


def _over_dims(name):
    """`any` and `all` over several dimensions, or over all of them that are named None."""
    def call(input, dim=None, keepdim=False, *, out=None):
        several = isinstance(input, _C.TensorBase) and (dim is None or isinstance(dim, (tuple, list)))
        if not isinstance(keepdim, bool) or not isinstance(out, (_C.TensorBase, type(None))) or not several:
            return NotImplemented
        dims = range(input.dim()) if dim is None else sorted({_place(d, input) for d in dim})
        if dim is not None and len(dims) != len(dim):
            raise RuntimeError("dim appears multiple times in the list of dims")
        made = input
        for d in reversed(dims):
            made = getattr(_C, name)(made, d, keepdim)
        return into(out, made if len(dims) else getattr(_C, name)(input))
    return call


def _place(dim, input):
    dims = max(input.dim(), 1)
    if not -dims <= dim < dims:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got {dim})")
    return dim % dims


def _squeezing(name):
    """`squeeze` of several dimensions."""
    def call(input, dim=None, *more):
        dim = (dim, *more) if more and all(isinstance(d, int) for d in (dim, *more)) else dim
        if not isinstance(dim, (tuple, list)):
            return NotImplemented
        if not dim:
            return input if name.endswith("_") else input.view_as(input)
        for d in sorted({_place(d, input) for d in dim}, reverse=True):
            input = getattr(input, name)(d)
        return input
    return call


def _spread(name):
    """`std` and `var` with `unbiased` alone, `correction`, or NumPy's names."""
    def call(input, dim=None, unbiased=None, keepdim=False, **options):
        from . import functional
        dim, keepdim = options.pop("axis", dim), options.pop("keepdims", keepdim)
        if not isinstance(dim, bool) and options.keys() != {"correction"} and dim is not None:
            return NotImplemented
        return getattr(functional, name)(input, dim, unbiased, keepdim, **options)
    return call


def _copy(input, src=None, non_blocking=False, *, other=None):
    src = other if src is None else src
    return input.fill_(src) if isinstance(src, _NUMBERS) else NotImplemented


def _set(input, source=None, storage_offset=0, size=None, stride=None):
    """`set_` over a storage: its elements of the tensor's dtype."""
    from .storage import _Storage, tensor_over
    if not isinstance(source, _Storage):
        return NotImplemented
    memory = tensor_over(source, input.dtype)
    if size is None:
        return input.set_(memory)
    return input.set_(memory, storage_offset, tuple(size), () if stride is None else tuple(stride))


def _creating(name):
    """What makes tensors, with `out`."""
    def call(*args, out=None, **options):
        if not isinstance(out, _C.TensorBase):
            return NotImplemented
        options.setdefault("dtype", out.dtype)
        options.setdefault("device", out.device)
        made = getattr(_C, name)(*args, **options)
        from .autograd.modes import no_grad
        with no_grad():
            return into(out, made, name if name in ("arange", "linspace", "logspace", "range") else "", silently=True)
    return call


def _random_like(name):
    """`rand_like` and its kin from a generator."""
    def call(input, *bounds, generator=None, **options):
        if not isinstance(generator, (_C.Generator, type(None))) or not isinstance(input, _C.TensorBase):
            return NotImplemented
        bounds += tuple(options.pop(bound) for bound in ("low", "high") if bound in options)
        options.pop("memory_format", None)
        options.setdefault("dtype", input.dtype)
        options.setdefault("device", input.device)
        return getattr(_C, name)(*bounds, input.shape, generator=generator, **options)
    return call


def _of_numbers(name):
    """Arithmetic of a number first, with a tensor or with another number, of which PyTorch gives a tensor."""
    def call(input, other=None, **options):
        if not isinstance(input, _NUMBERS) or not isinstance(other, (*_NUMBERS, _C.TensorBase)):
            return NotImplemented
        if not isinstance(options.get("out"), (_C.TensorBase, type(None))):
            return NotImplemented
        like = isinstance(other, _C.TensorBase)
        dtype, device = (_C._result_type(other, input), other.device) if like else (None, None)
        return getattr(_C, name)(_C._tensor_from(input, dtype, device), other, **options)
    return call


def _to_sparse(input, *, layout=None, blocksize=None, dense_dim=None):
    """`to_sparse` into a layout that is named, or with a number of dense dimensions."""
    if not isinstance(layout, (_C.layout, type(None))) or not isinstance(dense_dim, (int, type(None))):
        return NotImplemented
    wanted = "SparseCsr" if layout is _C.sparse_csr else "Sparse"
    if blocksize is not None:
        raise RuntimeError(f"dense_to_sparse: conversion from Strided to {wanted} with blocksize argument given is not "
                           "supported")
    if layout is _C.strided:
        return input.to_dense()
    if layout is _C.sparse_csr:
        return input.to_sparse_csr(dense_dim)
    return input.to_sparse() if dense_dim is None else input.to_sparse(input.dim() - dense_dim)


def _where(input, condition=None, other=None):
    """The method with a number."""
    if not isinstance(condition, _C.TensorBase) or not isinstance(other, _NUMBERS):
        return NotImplemented
    return _C.where(condition, input, other)


def _bernoulli(input, p=None, *, generator=None, out=None):
    if not isinstance(out, _C.TensorBase):
        return NotImplemented
    return into(out, _C.bernoulli(input, *(() if p is None else (p,)), generator=generator), silently=True)


def _small_singular_values(name):
    """`pinv` and `matrix_rank` with tensors that say for each matrix what counts as zero."""
    def call(A, atol=None, rtol=None, hermitian=False, *, out=None):
        if not any(isinstance(given, _C.TensorBase) for given in (atol, rtol)):
            return NotImplemented
        from .numbers import finfo
        if rtol is None:
            some = (atol if isinstance(atol, _C.TensorBase) else _C._tensor_from(atol, A.dtype, A.device)) > 0
            rtol = _C.where(some, 0.0, max(A.shape[-2:]) * finfo(A.dtype).eps)
        U, S, Vh = _C._linalg.svd(A, False)
        floor = _C.maximum(*_C.broadcast_tensors([
            (_C._tensor_from(part, S.dtype, S.device) if isinstance(part, _NUMBERS) else part)[..., None].to(S.dtype)
            for part in (0.0 if atol is None else atol, rtol * S[..., :1].sum(-1))]))
        kept = S > floor
        if name == "matrix_rank":
            return into(out, kept.sum(-1))
        return into(out, (Vh.mH * _C.where(kept, 1 / S, 0.0)[..., None, :]) @ U.mH)
    return call


def _fitting(function):
    """The function for calls with arguments that it has."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        import inspect  # which takes longer to import than most programs need it for
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except TypeError:
            return NotImplemented
        return function(*args, **kwargs)
    return call


def _is_tensor(value):
    return isinstance(value, _C.TensorBase)


def _scaled_first(name, scale):
    """`add_(alpha, other)` and `addcmul_(value, tensor1, tensor2)`: the number, which is named today, before the tensors."""
    count = 1 if scale == "alpha" else 2

    def call(input, number, *tensors, **out):
        if not _is_tensor(input) or not isinstance(number, _NUMBERS) or len(tensors) != count:
            return NotImplemented
        _say_deprecated(name, [scale], ["other"] if count == 1 else ["tensor1", "tensor2"])
        function = getattr(input, name) if name.endswith("_") else functools.partial(getattr(_C, name), input)
        return function(*tensors, **{scale: number}, **out)
    return call


_FACTORS = {"addmm": ("mat1", "mat2"), "addmv": ("mat", "vec"), "addr": ("vec1", "vec2"), "addbmm": ("batch1", "batch2"),
            "baddbmm": ("batch1", "batch2")}


def _products_first(name):
    """`addmm(beta, input, alpha, mat1, mat2)`, alpha being 1 where it is left out, and the method with `beta, alpha`."""
    def call(*args, **out):
        tensors, numbers = [a for a in args if _is_tensor(a)], [a for a in args if isinstance(a, _NUMBERS)]
        if len(tensors) != 3 or not numbers or len(tensors) + len(numbers) != len(args) or not _is_tensor(args[-2]):
            return NotImplemented
        if len(args) > 5 or not all(map(_is_tensor, args[-2:])):
            return NotImplemented
        _say_deprecated(name, ["beta", "alpha"][:len(numbers)], _FACTORS[name.rstrip("_")], lead=1)
        input, first, second = tensors
        beta, alpha = (*numbers, 1)[:2]
        function = getattr(input, name) if name.endswith("_") else functools.partial(getattr(_C, name), input)
        return function(first, second, beta=beta, alpha=alpha, **out)
    return call


def _say_deprecated(name, numbers, tensors, lead=0):
    """Says once that numbers are to be named behind the tensors; `lead`: how many of them stand before `input`."""
    in_place = name.endswith("_")
    out = [] if in_place else ["*", "Tensor out = None"]
    given, rest = [f"Number {n}" for n in numbers], [f"Tensor {t}" for t in tensors]
    former = given[:lead] + ([] if in_place else ["Tensor input"]) + given[lead:] + rest + out
    now = ([] if in_place else ["Tensor input"]) + rest + ["*"] + [f"Number {n} = 1" for n in numbers] + out[1:]
    warn_once(f"This overload of {name} is deprecated:\n\t{name}({', '.join(former)})\nConsider using one of the following "
              f"signatures instead:\n\t{name}({', '.join(now)})")


def _either(first, second):
    """What the first answers, else the second."""
    def call(*args, **kwargs):
        made = _fitting(first)(*args, **kwargs)
        return _fitting(second)(*args, **kwargs) if made is NotImplemented else made
    return call


def _multinomial(input, num_samples, replacement=False, *, generator=None, **out):
    if set(out) != {"out"}:
        return NotImplemented
    return into(out["out"], _C.multinomial(input, num_samples, replacement, generator=generator), silently=True)


def install():
    """Tells the extension."""
    found = {"sort": _sorting(_C.sort), "argsort": _sorting(_C.argsort), "copy_": _copy, "set_": _set}
    found.update((name, _over_dims(name)) for name in ("any", "all"))
    found.update((name, _squeezing(name)) for name in ("squeeze", "squeeze_"))
    found.update((name, _spread(name)) for name in ("std", "var"))
    found.update((name, _creating(name)) for name in ("arange", "empty", "eye", "full", "linspace", "logspace", "ones", "rand",
                                                      "randint", "randn", "randperm", "range", "zeros"))
    found.update((f"{name}_like", _random_like(name)) for name in ("rand", "randn", "randint"))
    found.update((name, _of_numbers(name)) for name in ("add", "sub", "mul", "div", "subtract", "multiply", "divide",
                                                        "true_divide", "floor_divide"))
    for name in ("add", "sub", "add_", "sub_"):
        scaled = _scaled_first(name, "alpha")
        found[name] = _either(scaled, found[name]) if name in found else scaled
    found.update((name, _scaled_first(name, "value")) for name in ("addcmul", "addcdiv", "addcmul_", "addcdiv_"))
    for name in ("addmm", "addmv", "addr", "baddbmm", "addbmm"):
        found.update({name: _products_first(name), f"{name}_": _products_first(f"{name}_")})
    found.update((f"linalg_{name}", _small_singular_values(name)) for name in ("pinv", "matrix_rank"))
    found.update({"to_sparse": _to_sparse, "where": _where, "bernoulli": _bernoulli, "multinomial": _multinomial})
    _C._set_more_signatures({name: _fitting(function) for name, function in found.items()})
