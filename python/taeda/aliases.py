"""Second names that torch gives to methods and to functions of torch.linalg."""

import math

from . import _C, methods
from ._more_signatures import into as _into
from ._warnings import warn_once

# torch.exp_(x) and the like are the methods of tensors of the same name.
_METHODS = """abs acos acosh addmv arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil clamp clamp_max
    clamp_min clip cos cosh deg2rad erf erfc exp exp2 expm1 fill fix floor frac gcd i0 lcm ldexp log log10 log1p log2 logit
    nan_to_num neg negative rad2deg reciprocal round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc xlogy
    zero""".split()
_PLAIN = ["detach", "detach_", "is_signed", "is_inference", "is_conj", "is_neg", "get_device", "narrow_copy", "index_put",
          "index_put_", "fill", "det", "slogdet", "matrix_power", "matrix_exp", "i0", "unsafe_chunk", "unsafe_split",
          "resize_as_", "nan_to_num", "lu"]


def _method(name):
    def function(input, *args, **kwargs):
        return getattr(input, name)(*args, **kwargs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"input.{name}(...)"
    return function


def _complete():
    for name in [f"{m}_" for m in _METHODS] + _PLAIN:
        if not hasattr(_C, name) and (hasattr(_C.TensorBase, name) or name in methods.ALL):
            yield name, _method(name)
    for name in ("det", "slogdet", "matrix_power", "matrix_exp"):
        if not hasattr(_C, name) and hasattr(_C._linalg, name):
            yield name, getattr(_C._linalg, name)
    if hasattr(_C._special, "i0"):
        yield "i0", _C._special.i0


def chain_matmul(*matrices, out=None):
    """The product of several matrices, in the order that multiplies least."""
    warn_once("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
              "instead, which accepts a list of two or more tensors rather than multiple parameters.")
    matrices = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    made = _C._linalg.multi_dot(list(matrices))
    return _into(out, made)


def frobenius_norm(input, dim=None, keepdim=False):
    return _C._linalg.vector_norm(input, 2, dim, keepdim)


def nuclear_norm(input, dim=(-2, -1), keepdim=False):
    return _C._linalg.matrix_norm(input, "nuc", list(dim), keepdim)


def pixel_shuffle(input, upscale_factor):
    """Channels become pixels: (*, C r^2, H, W) to (*, C, H r, W r)."""
    return _C._functional.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input, downscale_factor):
    """The inverse of pixel_shuffle."""
    return _C._functional.pixel_unshuffle(input, downscale_factor)


# torch.t_copy(x) and the like are the views of those names, in memory of their own.
_VIEWS = """as_strided detach diagonal expand permute select split split_with_sizes squeeze t transpose unbind unfold unsqueeze
    view_as_complex view_as_real view""".split()


def _copied(view):
    def function(input, *args, **kwargs):
        made = getattr(_C if hasattr(_C, view) else _C.TensorBase, view)(input, *args, **kwargs)
        return made.clone() if isinstance(made, _C.TensorBase) else tuple(part.clone() for part in made)
    function.__name__ = function.__qualname__ = f"{view}_copy"
    function.__doc__ = f"A copy of input.{view}(...)"
    return function


globals().update({f"{view}_copy": _copied(view) for view in _VIEWS})


def alias_copy(input):
    return input.clone()


def fill(input, value):
    """A tensor like `input`, full of `value`."""
    return input.clone().fill_(value)


def bilinear(input1, input2, weight, bias=None):
    """input1' weight input2 + bias, for each of the matrices in `weight` [out, in1, in2]."""
    return _C._functional.bilinear(input1, input2, weight, bias)


def unsafe_split_with_sizes(input, split_sizes, dim=0):
    return input.split_with_sizes(split_sizes, dim)


def empty_permuted(size, physical_layout, **options):
    """Without values: `physical_layout` names the dimensions from the one that lies furthest apart to the closest."""
    order = [int(d) for d in physical_layout]
    if sorted(order) != list(range(len(size))):
        raise RuntimeError(f"physical_layout is no permutation of the {len(size)} dimensions: {order}")
    return _C.empty([size[d] for d in order], **options).permute([order.index(d) for d in range(len(order))])


def nonzero_static(input, *, size, fill_value=-1, out=None):
    """The first `size` rows of nonzero(), and rows of `fill_value` behind them."""
    found = _C.nonzero(input)[:size]
    rest = _C.full((size - len(found), input.dim()), fill_value, dtype=_C.int64, device=input.device)
    return _into(out, _C.cat([found, rest]))


# Numbers that a compiler might not know yet are known here.


def sym_int(a):
    return int(a)


def sym_float(a):
    return float(a)


def sym_not(a):
    return not a


def sym_max(a, b):
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a, b):
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_ite(b, t, f):
    return t if b else f


def sym_sum(args):
    return sum(args)


def sym_sqrt(a):
    return math.sqrt(a)


def sym_constrain_range(size, *, min=None, max=None):
    """Sizes are known here: one that is out of the range is an error."""
    if min is not None and size < min or max is not None and size > max:
        raise RuntimeError(f"Invalid value range for {size} between [{min}, {max}].")


def sym_constrain_range_for_size(size, *, min=None, max=None):
    sym_constrain_range(size, min=min, max=max)


class SymInt:
    """A size that a compiler does not know. There is none: programs ask whether a number is one."""

    def __init__(self, *args):
        raise RuntimeError("Taeda has no symbolic sizes: it knows each when an operation runs")


class SymFloat(SymInt):
    pass


class SymBool(SymInt):
    pass


def _removed(name, instead):
    def function(*args, **kwargs):
        raise RuntimeError(f"torch.{name} was removed from PyTorch; use {instead}.")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Removed: {instead}."
    return function


eig, lstsq, solve = (_removed(name, f"torch.linalg.{name}") for name in ("eig", "lstsq", "solve"))
matrix_rank = _removed("matrix_rank", "torch.linalg.matrix_rank")


def dsmm(input, mat2):
    """The product of a dense matrix and another."""
    return _C.mm(input, mat2)


def to_dlpack(tensor):
    """A capsule by DLPack over a tensor's memory."""
    return tensor._capsule(False)


def set_anomaly_enabled(mode, check_nan=True):
    _C._set_detect_anomaly(mode, check_nan)


def svd_lowrank(A, q=6, niter=2, M=None):
    """U, S, V of the matrix of rank q that is nearest to A (or A - M), exactly."""
    U, S, Vh = _C._linalg.svd(A if M is None else A - M, False)
    return U[..., :q], S[..., :q], Vh.mH[..., :q]


def pca_lowrank(A, q=None, center=True, niter=2):
    """The principal components of the rows of A."""
    q = min(6, *A.shape[-2:]) if q is None else q
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def sparse_coo_tensor(indices=None, values=None, size=None, *, dtype=None, device=None, requires_grad=False, is_coalesced=None,
                      check_invariants=None, pin_memory=False, layout=None):
    """A sparse tensor of coordinates (one column for each value) and values; tensors or lists."""
    if values is None:
        return _C.sparse_coo_tensor(indices if size is None else size, dtype=dtype, device=device, requires_grad=requires_grad)
    if not isinstance(values, _C.TensorBase):
        values = _C._tensor_from(values, dtype, device)
    if not isinstance(indices, _C.TensorBase):
        indices = _C._tensor_from(indices, _C.int64, values.device)
    options = {"dtype": dtype, "device": device, "is_coalesced": is_coalesced}
    given = {name: value for name, value in options.items() if value is not None}
    shape = () if size is None else (tuple(size),)
    return _C.sparse_coo_tensor(indices, values, *shape, requires_grad=requires_grad, **given)


def _parts_of_rows(crow_indices, col_indices, values, dtype, device):
    """The parts of a matrix in compressed rows as tensors; each may be a list."""
    if not isinstance(values, _C.TensorBase):
        values = _C._tensor_from(values, dtype, device)
    return (*(part if isinstance(part, _C.TensorBase) else _C._tensor_from(part, _C.int64, values.device)
              for part in (crow_indices, col_indices)), values)


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False,
                      requires_grad=False, check_invariants=None):
    """A matrix in compressed rows: where each row begins among the elements, their columns and values; tensors or lists."""
    from .sparse import check_sparse_tensor_invariants
    if layout not in (None, _C.sparse_csr):
        raise RuntimeError("sparse_csr_tensor: layout must be SparseCsr but got "
                           f"{'Strided' if layout is _C.strided else 'Sparse'}")
    parts = _parts_of_rows(crow_indices, col_indices, values, dtype, device)
    given = {name: value for name, value in (("dtype", dtype), ("device", device)) if value is not None}
    if check_invariants is None:
        check_invariants = check_sparse_tensor_invariants.is_enabled()
    shape = () if size is None else (tuple(size),)
    return _C.sparse_csr_tensor(*parts, *shape, requires_grad=requires_grad, check_invariants=check_invariants, **given)


def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, layout=None, **options):
    """A sparse matrix in a compressed layout, of which there is one: torch.sparse_csr."""
    if layout is not _C.sparse_csr:
        found = {None: "none", _C.strided: "Strided", _C.sparse_coo: "Sparse"}[layout]
        raise RuntimeError(f"sparse_compressed_tensor expected sparse compressed tensor layout but got {found}")
    return sparse_csr_tensor(compressed_indices, plain_indices, values, size, **options)


globals().update(_complete())
__all__ = [n for n, v in list(globals().items()) if callable(v) and not n.startswith("_")]
