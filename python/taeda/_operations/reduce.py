"""Functions of torch that make one number of many: norms, deviations, runs of a tensor."""

import math

from .. import _C
from .._core.arguments import expect_tensor
from .written import dimension, into, named

__all__ = ["frobenius_norm", "native_norm", "norm", "nuclear_norm", "segment_reduce", "std", "std_mean", "var", "var_mean"]


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm of all elements or along dimensions; "fro" and "nuc" are norms of matrices. PyTorch gives it up for
    linalg.vector_norm and linalg.matrix_norm.

    p: a number, inf, -inf, "fro" (unless given) or "nuc"
    dim: a dimension or several; all unless given
    keepdim: whether they stay with size 1; False unless given
    dtype: to which the tensor is converted first

    Shapes: any; without the dimensions, a scalar for all.

    >>> torch.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    kwargs = {} if out is None else {"out": out}
    if isinstance(dim, int):
        dim = [dim]
    if p == "nuc":
        return _C._linalg.matrix_norm(input, "nuc", dim if dim is not None else [-2, -1], keepdim, dtype=dtype, **kwargs)
    if p == "fro" and (dim is None or len(dim) <= 2):
        p = 2
    return _C._linalg.vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype, **kwargs)


def _deviation(name, corrected):
    def call(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None, keepdims=None, out=None):
        if not isinstance(input, _C.TensorBase):
            expect_tensor(name, "input", 1, input)
        dim, keepdim = dim if axis is None else axis, keepdim if keepdims is None else keepdims
        if isinstance(dim, bool):  # torch.var(x, False)
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        return into(out, corrected(input, [] if dim is None else dim, correction, keepdim))
    return named(name, call)


def _with_mean(name, deviation):
    def call(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None, keepdims=None):
        if not isinstance(input, _C.TensorBase):
            expect_tensor(name, "input", 1, input)
        dim, keepdim = dim if axis is None else axis, keepdim if keepdims is None else keepdims
        return deviation(input, dim, unbiased, keepdim, correction=correction), input.mean(
            [] if dim is None or isinstance(dim, bool) else dim, keepdim)
    return named(name, call)


var, std = _deviation("var", _C.var_correction), _deviation("std", _C.std_correction)
var_mean, std_mean = _with_mean("var_mean", var), _with_mean("std_mean", std)


def frobenius_norm(input, dim=None, keepdim=False):
    """The root of the sum of squares, over all elements or along `dim`.

    Shapes: any; without the dimensions, which `keepdim` leaves with size 1.

    >>> torch.frobenius_norm(torch.tensor([[3.0, 4.0]]))
    tensor(5.)
    """
    return _C._linalg.vector_norm(input, 2, dim, keepdim)


def nuclear_norm(input, dim=(-2, -1), keepdim=False):
    """The sum of the singular values of matrices in the dimensions `dim`, the last two unless given.

    Shapes: [*, m, n] to [*]; `keepdim` leaves size 1.

    >>> torch.nuclear_norm(torch.eye(2))
    tensor(2.)
    """
    return _C._linalg.matrix_norm(input, "nuc", list(dim), keepdim)


def native_norm(input, p=2, dim=None, keepdim=False, dtype=None):
    """The p-norm, of all elements or over dimensions, whose shapes torch.norm has; of a sparse tensor, of its values.

    >>> torch.native_norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if input.is_sparse:
        input = input.coalesce().values()
    return _C._linalg.vector_norm(input, p, dim, keepdim, dtype=dtype)


_EMPTY = {"sum": 0, "mean": math.nan, "max": -math.inf, "min": math.inf, "prod": 1}
_REDUCTIONS = {"max": "amax", "min": "amin", "prod": "prod"}


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """"sum", "mean", "max", "min" or "prod" of runs of data along `axis`.

    lengths: of the runs, [k], or offsets: where they begin and the last ends, [k + 1]
    initial: what a run starts from, and what an empty one gives
    unsafe: whether lengths are taken for right; False unless given

    Shapes: data [n, *] to [k, *]; lengths that do not sum to n are a RuntimeError.

    >>> torch.segment_reduce(torch.tensor([1.0, 2.0, 3.0]), "sum", lengths=torch.tensor([2, 1]))
    tensor([3., 3.])
    """
    if reduce not in _EMPTY:
        raise RuntimeError(f"segment_reduce: expected sum, mean, max, min or prod, but got {reduce!r}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    axis = axis % data.dim()
    lengths = offsets.diff(dim=-1) if lengths is None else lengths
    if lengths.dim() != axis + 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of lengths, which has {lengths.dim()} "
                           f"dimensions, but got {axis}.")
    if not unsafe:
        if bool((lengths < 0).any()):
            raise RuntimeError("segment_reduce(): lengths contains negative value!")
        if not bool((lengths.sum(-1) == data.size(axis)).all()):
            raise RuntimeError(f"segment_reduce(): Expected all rows of lengths along axis to sum to data.size({axis})")
    count, rest = lengths.size(-1), tuple(data.shape)[axis + 1:]
    runs = lengths.reshape(-1).to(_C.int64)
    rows = data.reshape((-1,) + rest)
    runs_of = _C.repeat_interleave(_C.arange(runs.numel(), device=data.device), runs)
    start = _EMPTY[reduce] if initial is None else initial
    made = _C.full((runs.numel(),) + rest, 0 if reduce == "mean" and initial is None else start, dtype=data.dtype,
                   device=data.device)
    if reduce in ("sum", "mean"):
        made = made.index_add(0, runs_of, rows)
    else:
        made = made.index_reduce(0, runs_of, rows, _REDUCTIONS[reduce])
    if reduce == "mean":
        size = runs.reshape((-1,) + (1,) * len(rest)).to(data.dtype)
        made = made / size if initial is None else _C.where(size > 0, made / size, made)
    return made.reshape(tuple(data.shape)[:axis] + (count,) + rest)


def _with_options(function):
    """`std` and `var` with `unbiased` alone, `correction`, or NumPy's names."""
    def call(input, dim=None, unbiased=None, keepdim=False, **options):
        dim, keepdim = options.pop("axis", dim), options.pop("keepdims", keepdim)
        if not isinstance(dim, bool) and options.keys() != {"correction"} and dim is not None:
            return NotImplemented
        return function(input, dim, unbiased, keepdim, **options)
    return call


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
        return norm(self, p, dim, keepdim, dtype=dtype)


SIGNATURES = {"std": _with_options(std), "var": _with_options(var)}
