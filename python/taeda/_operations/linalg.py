"""Functions of torch on matrices: sums of products, factors, distances, and what torch.linalg has under other names."""

import functools

from .. import _C
from .._core.numbers import finfo
from .._core.warnings import warn_once
from .elementwise import say_deprecated
from .written import NUMBERS, into, is_tensor, listed, named

__all__ = ["cdist", "chain_matmul", "cholesky", "det", "eig", "einsum", "lstsq", "lu", "matrix_exp", "matrix_power",
           "matrix_rank", "pca_lowrank", "qr", "slogdet", "solve", "svd_lowrank", "symeig", "tensordot"]

# What torch.linalg has under the same names.
det, slogdet, matrix_power, matrix_exp = _C._linalg.det, _C._linalg.slogdet, _C._linalg.matrix_power, _C._linalg.matrix_exp


def _letters(subscripts):
    """einsum's text for a list of numbers below 52 and Ellipsis."""
    for n in subscripts:
        if n is not Ellipsis and not 0 <= n < 52:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return "".join("..." if n is Ellipsis else chr((65 if n < 26 else 71) + n) for n in subscripts)


def _equation(args):
    """Equation and operands of einsum(operand, subscripts, operand, subscripts, ..., [subscripts of the result])."""
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, "
                         "or at least one operand and its subscripts list")
    result = "->" + _letters(args[-1]) if len(args) % 2 else ""
    pairs = len(args) // 2 * 2
    return ",".join(_letters(each) for each in args[1:pairs:2]) + result, list(args[0:pairs:2])


def einsum(*args):
    """Products of tensors summed over the indices that the result has not.

    args: an equation, "ij,jk->ik", and the operands; or operands and lists of subscripts (ints) in turn. In an equation "..."
        stands for dimensions that broadcast; without "->" the result has the indices that occur once, in alphabetical order

    Shapes: a letter has one size everywhere, else RuntimeError.

    >>> torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 2))
    tensor([[3., 3.],
            [3., 3.]])
    """
    equation, *operands = args
    if not isinstance(equation, str):
        equation, operands = _equation(args)
    operands = listed(operands)
    if _C._has_torch_function_variadic(*operands):  # it gets the operands one by one, however they were given
        return _C._handle_torch_function(einsum, operands, (equation, *operands), {})
    return _C.einsum(equation, operands)


def tensordot(a, b, dims=2, out=None):
    """Products summed over the last `dims` dimensions of a and the first of b, or over two lists of dimensions.

    dims: an int (2 unless given) or a pair of lists

    Shapes: the other sizes of a, then of b; dimensions that are summed over have one size, else RuntimeError.

    >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5), dims=2).shape
    torch.Size([2, 5])
    """
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims = (list(range(-dims, 0)), list(range(dims)))
    elif is_tensor(dims):
        return tensordot(a, b, dims.tolist(), out)
    first, second = (list(d) if isinstance(d, (list, tuple)) else [d] for d in dims)
    made = _C.tensordot(a, b, first, second)
    return into(out, made)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Distances |a - b|_p of every row of x1 to every row of x2.

    p: of the norm, not negative; 2 unless given
    compute_mode: whether Euclidean distances come from a product of matrices: "use_mm_for_euclid_dist_if_necessary" (above 25
        rows; unless given), "use_mm_for_euclid_dist" or "donot_use_mm_for_euclid_dist"

    Shapes: [*, P, M] and [*, R, M] to [*, P, R]; leading dimensions broadcast.

    >>> torch.cdist(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    if compute_mode not in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                            "donot_use_mm_for_euclid_dist"):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _C.cdist(x1, x2, p)


def lu(A, *, pivot=True, get_infos=False):
    """The factors of A = P L U packed in one matrix, and the pivots.

    pivot: whether rows are exchanged; True unless given
    get_infos: whether LAPACK's info is given as well and not raised as an error; False unless given

    Shapes: A [*, m, n], as the factors; pivots [*, min(m, n)], int32.

    >>> LU, pivots = torch.lu(torch.eye(2))
    >>> pivots
    tensor([1, 2], dtype=torch.int32)
    """
    warn_once("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a "
              "future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
              "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)")
    factors, pivots = _C._linalg.lu_factor(A, pivot)
    if not get_infos:
        return factors, pivots
    return factors, pivots, _C.zeros(A.shape[:-2], dtype=_C.int32)


def chain_matmul(*matrices, out=None):
    """The product of several matrices, in the order that multiplies least. PyTorch gives it up for linalg.multi_dot.

    Shapes: [a, b], [b, c], ... to the first's rows and the last's columns.

    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 4)).shape
    torch.Size([2, 4])
    """
    warn_once("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
              "instead, which accepts a list of two or more tensors rather than multiple parameters.")
    matrices = listed(matrices)
    return into(out, matrices[0] if len(matrices) == 1 else _C._linalg.multi_dot(matrices))


def svd_lowrank(A, q=6, niter=2, M=None):
    """U, S, V of the matrix of rank q that is nearest to A (or A - M), exactly.

    q: 6 unless given
    niter: is taken

    Shapes: A [*, m, n]; U [*, m, q], S [*, q], V [*, n, q].

    >>> U, S, V = torch.svd_lowrank(torch.eye(3), q=2)
    >>> U.shape, S.shape, V.shape
    (torch.Size([3, 2]), torch.Size([2]), torch.Size([3, 2]))
    """
    U, S, Vh = _C._linalg.svd(A if M is None else A - M, False)
    return U[..., :q], S[..., :q], Vh.mH[..., :q]


def pca_lowrank(A, q=None, center=True, niter=2):
    """The principal components of the rows of A: U, S, V of A, whose columns' means are taken off if `center`.

    q: how many; at most min(6, m, n) unless given

    Shapes: A [*, m, n]; U [*, m, q], S [*, q], V [*, n, q].

    >>> U, S, V = torch.pca_lowrank(torch.randn(5, 3), q=2)
    >>> V.shape
    torch.Size([3, 2])
    """
    q = min(6, *A.shape[-2:]) if q is None else q
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


# What PyTorch has taken away, and torch.linalg's name of it.
_REMOVED = {"cholesky": "cholesky", "qr": "qr", "symeig": "eigh", "eig": "eig", "lstsq": "lstsq", "solve": "solve",
            "matrix_rank": "matrix_rank"}


def _removed(name):
    error = ("This function was deprecated since version 1.9 and is now removed. "
             f"`torch.{name}` is deprecated in favor of `torch.linalg.{_REMOVED[name]}`.")

    def function(*args, **kwargs):
        raise RuntimeError(error)
    return named(name, function, f"Removed: torch.linalg.{_REMOVED[name]}. Whatever the arguments are, a RuntimeError.\n\n"
                                 f">>> torch.{name}()\nTraceback (most recent call last):\n    ...\nRuntimeError: {error}")


cholesky, qr, symeig, eig, lstsq, solve, matrix_rank = map(_removed, _REMOVED)

_FACTORS = {"addmm": ("mat1", "mat2"), "addmv": ("mat", "vec"), "addr": ("vec1", "vec2"), "addbmm": ("batch1", "batch2"),
            "baddbmm": ("batch1", "batch2")}


def _products_first(name):
    """`addmm(beta, input, alpha, mat1, mat2)`, alpha being 1 where it is left out, and the method with `beta, alpha`."""
    def call(*args, **out):
        tensors, numbers = [a for a in args if is_tensor(a)], [a for a in args if isinstance(a, NUMBERS)]
        if len(tensors) != 3 or not numbers or len(tensors) + len(numbers) != len(args) or not is_tensor(args[-2]):
            return NotImplemented
        if len(args) > 5 or not all(map(is_tensor, args[-2:])):
            return NotImplemented
        say_deprecated(name, ["beta", "alpha"][:len(numbers)], _FACTORS[name.rstrip("_")], lead=1)
        input, first, second = tensors
        beta, alpha = (*numbers, 1)[:2]
        function = getattr(input, name) if name.endswith("_") else functools.partial(getattr(_C, name), input)
        return function(first, second, beta=beta, alpha=alpha, **out)
    return call


def _small_singular_values(name):
    """`pinv` and `matrix_rank` with tensors that say for each matrix what counts as zero."""
    def call(A, atol=None, rtol=None, hermitian=False, *, out=None):
        if not any(isinstance(given, _C.TensorBase) for given in (atol, rtol)):
            return NotImplemented
        if rtol is None:
            some = (atol if isinstance(atol, _C.TensorBase) else _C._tensor_from(atol, A.dtype, A.device)) > 0
            rtol = _C.where(some, 0.0, max(A.shape[-2:]) * finfo(A.dtype).eps)
        U, S, Vh = _C._linalg.svd(A, False)
        floor = _C.maximum(*_C.broadcast_tensors([
            (_C._tensor_from(part, S.dtype, S.device) if isinstance(part, NUMBERS) else part)[..., None].to(S.dtype)
            for part in (0.0 if atol is None else atol, rtol * S[..., :1].sum(-1))]))
        kept = S > floor
        if name == "matrix_rank":
            return into(out, kept.sum(-1))
        return into(out, (Vh.mH * _C.where(kept, 1 / S, 0.0)[..., None, :]) @ U.mH)
    return call


class Methods:
    """Methods of tensors whose Python signatures take more than those of C++."""

    def lu(self, pivot=True, get_infos=False):
        return lu(self, pivot=pivot, get_infos=get_infos)

    cholesky, qr, symeig, eig, lstsq, solve = (_removed(name) for name in _REMOVED if name != "matrix_rank")


SIGNATURES = {f"linalg_{name}": _small_singular_values(name) for name in ("pinv", "matrix_rank")}
for _name in _FACTORS:
    SIGNATURES.update({_name: _products_first(_name), f"{_name}_": _products_first(f"{_name}_")})
