"""Functions of torch whose Python signatures take more than those of C++: any number of tensors, several kinds of a result."""

from . import _C
from ._arguments import expect as _expect, expect_tensor as _expect_tensor
from ._more_signatures import into as _into
from ._vmap import vmap
from ._warnings import warn_once

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod",
           "cdist", "complex", "dsplit", "einsum", "hsplit", "is_complex", "is_floating_point", "is_nonzero", "is_storage",
           "is_tensor", "lu", "meshgrid", "nonzero", "norm", "numel", "result_type", "split", "spmm", "std", "std_mean",
           "stft", "tensordot", "unique", "unique_consecutive", "unravel_index", "var", "var_mean", "vmap", "where"]


def is_tensor(obj):
    """Whether it is a Tensor of any class."""
    return isinstance(obj, _C.TensorBase)


def is_storage(obj):
    from .storage import _Storage
    return isinstance(obj, _Storage)


def is_floating_point(input):
    if not isinstance(input, _C.TensorBase):
        _expect_tensor("is_floating_point", "input", 1, input)
    return input.is_floating_point()


def is_complex(input):
    if not isinstance(input, _C.TensorBase):
        _expect_tensor("is_complex", "input", 1, input)
    return input.is_complex()


def is_nonzero(input):
    """Whether the one element of a tensor is not zero."""
    if not isinstance(input, _C.TensorBase):
        _expect_tensor("is_nonzero", "input", 1, input)
    return input.is_nonzero()


def numel(input):
    if not isinstance(input, _C.TensorBase):
        _expect_tensor("numel", "input", 1, input)
    return input.numel()


def complex(real, imag, *, out=None):
    """The complex tensor real + i * imag."""
    made = _C.make_complex(real, imag)
    return _into(out, made)


def result_type(tensor1, tensor2):
    """The dtype of an operation on two tensors or numbers."""
    return _C._result_type(tensor1, tensor2)


def _listed(tensors):
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


def broadcast_tensors(*tensors):
    """Views of the tensors that all have the shape to which they broadcast."""
    return _C.broadcast_tensors(_listed(tensors))


def broadcast_shapes(*shapes):
    """The shape to which shapes broadcast, without any tensor."""
    size = max((1 if isinstance(s, int) else len(s) for s in shapes), default=0)
    out = [1] * size
    for shape in shapes:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        for i, n in enumerate(reversed(shape)):
            if n < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({n}): ({n})")
            if n != 1 and out[-1 - i] not in (1, n):
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            if n != 1:
                out[-1 - i] = n
    return _C.Size(out)


def meshgrid(*tensors, indexing=None):
    """Coordinates of a grid, one tensor for each axis; `indexing` "ij" (rows first, and meant where it is left out) or "xy"."""
    if indexing is None:
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    return _C.meshgrid(_listed(tensors), indexing)


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
    """einsum(equation, *operands), or operands and lists of subscripts in turn."""
    equation, *operands = args
    if not isinstance(equation, str):
        equation, operands = _equation(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    if _C._has_torch_function_variadic(*operands):  # it gets the operands one by one, however they were given
        return _C._handle_torch_function(einsum, operands, (equation, *operands), {})
    return _C.einsum(equation, _listed(operands))


def block_diag(*tensors):
    return _C.block_diag(list(tensors))


def cartesian_prod(*tensors):
    return _C.cartesian_prod(list(tensors))


def _atleast(function, tensors):
    if len(tensors) == 1 and is_tensor(tensors[0]):
        return function(tensors[0])
    return tuple(function(t) for t in _listed(tensors))


def atleast_1d(*tensors):
    return _atleast(_C.atleast_1d, tensors)


def atleast_2d(*tensors):
    return _atleast(_C.atleast_2d, tensors)


def atleast_3d(*tensors):
    return _atleast(_C.atleast_3d, tensors)


def split(tensor, split_size_or_sections, dim=0):
    """Parts of `split_size` along `dim`, the last one maybe smaller, or parts of the sizes in a list."""
    if isinstance(split_size_or_sections, (list, tuple)):
        return _C.split_with_sizes(tensor, split_size_or_sections, dim)
    return _C.split(tensor, split_size_or_sections, dim)


def _places(name, given, by_name):
    """Where a tensor is split, by whatever name it is given."""
    found = [given] * (given is not None) + [by_name.pop(n) for n in ("indices", "sections") if n in by_name]
    if len(found) != 1 or by_name:
        raise TypeError(f"{name}() takes the number of sections or the indices between them, once")
    return found


def hsplit(input, indices_or_sections=None, **by_name):
    return _C.hsplit(input, *_places("hsplit", indices_or_sections, by_name))


def dsplit(input, indices_or_sections=None, **by_name):
    return _C.dsplit(input, *_places("dsplit", indices_or_sections, by_name))


def nonzero(input, *, out=None, as_tuple=False):
    """Coordinates of the elements that are not zero: rows of a matrix, or a tuple of vectors to index with."""
    if as_tuple is not False and _expect("nonzero", "as_tuple", None, as_tuple, bool):
        return tuple(_C.nonzero_numpy(input))
    return _C.nonzero(input) if out is None else _C.nonzero(input, out=out)


def where(condition, input=None, other=None, *, out=None):
    """`input` where the condition holds, `other` elsewhere; of a condition alone, nonzero(as_tuple=True)."""
    if input is None and other is None:
        return tuple(_C.nonzero_numpy(condition))
    return _C.where(condition, input, other) if out is None else _C.where(condition, input, other, out=out)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements, or slices along `dim`; with where each went and how many there are if asked for."""
    made = (_C._unique2(input, sorted, return_inverse, return_counts) if dim is None else
            _C.unique_dim(input, dim, sorted, return_inverse, return_counts))
    return _asked_for(made, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """As unique, of neighbours only."""
    return _asked_for(_C.unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts)


def _asked_for(made, inverse, counts):
    values, where_to, how_many = made
    out = (values,) + ((where_to,) if inverse else ()) + ((how_many,) if counts else ())
    return out[0] if len(out) == 1 else out


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm of all elements or along dimensions; "fro" and "nuc" are norms of matrices."""
    kwargs = {} if out is None else {"out": out}
    if isinstance(dim, int):
        dim = [dim]
    if p == "nuc":
        return _C._linalg.matrix_norm(input, "nuc", dim if dim is not None else [-2, -1], keepdim, dtype=dtype, **kwargs)
    if p == "fro" and (dim is None or len(dim) <= 2):
        p = 2
    return _C._linalg.vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype, **kwargs)


def _spread(function, corrected):
    def call(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None, keepdims=None, out=None):
        dim, keepdim = dim if axis is None else axis, keepdim if keepdims is None else keepdims
        if isinstance(dim, bool):  # torch.var(x, False)
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        dims = [] if dim is None else dim
        return _into(out, corrected(input, dims, correction, keepdim))
    call.__name__ = function
    return call


var = _spread("var", lambda x, dim, correction, keepdim: _C.var_correction(x, dim, correction, keepdim))
std = _spread("std", lambda x, dim, correction, keepdim: _C.std_correction(x, dim, correction, keepdim))


def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None, keepdims=None):
    dim, keepdim = dim if axis is None else axis, keepdim if keepdims is None else keepdims
    return var(input, dim, unbiased, keepdim, correction=correction), input.mean(
        [] if dim is None or isinstance(dim, bool) else dim, keepdim)


def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None, keepdims=None):
    dim, keepdim = dim if axis is None else axis, keepdim if keepdims is None else keepdims
    return std(input, dim, unbiased, keepdim, correction=correction), input.mean(
        [] if dim is None or isinstance(dim, bool) else dim, keepdim)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """Distances of every row of x1 to every row of x2."""
    if compute_mode not in ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                            "donot_use_mm_for_euclid_dist"):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _C.cdist(x1, x2, p)


def tensordot(a, b, dims=2, out=None):
    """Products summed over the last `dims` dimensions of a and the first of b, or over two lists of dimensions."""
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims = (list(range(-dims, 0)), list(range(dims)))
    elif is_tensor(dims):
        return tensordot(a, b, dims.tolist(), out)
    first, second = (list(d) if isinstance(d, (list, tuple)) else [d] for d in dims)
    made = _C.tensordot(a, b, first, second)
    return _into(out, made)


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
         onesided=None, return_complex=None, align_to_window=None):
    """The short-time Fourier transform of a signal, or of a batch of them."""
    if align_to_window is not None and center:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if return_complex is None and not input.is_complex() and not (window is not None and window.is_complex()):
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require "
                           "that return_complex=True in a future PyTorch release.")
    if align_to_window and win_length is not None:  # the first frame's window begins where the signal does
        left = (n_fft - win_length) // 2
        input = _C._functional.pad(input, [left, n_fft - win_length - left], "constant", 0)
    return _C.stft(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex)


def unravel_index(indices, shape):
    """Coordinates in a tensor of that shape of elements counted from its first."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    out = []
    for n in reversed(shape):
        out.append(indices % n)
        indices = indices // n
    return tuple(reversed(out))


def spmm(input, mat2):
    """The product of a sparse matrix and a dense one."""
    return _C.mm(input, mat2)


def lu(A, *, pivot=True, get_infos=False):
    """The factors of A = P L U packed in one matrix, and the pivots."""
    warn_once("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a "
              "future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
              "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)")
    factors, pivots = _C._linalg.lu_factor(A, pivot)
    if not get_infos:
        return factors, pivots
    return factors, pivots, _C.zeros(A.shape[:-2], dtype=_C.int32)


def _assert(condition, message):
    """`assert` as a function, which torch.fx can note."""
    assert condition, message
