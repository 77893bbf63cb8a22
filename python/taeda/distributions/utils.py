"""What distributions that programs write are made with."""

import math
import numbers

from .. import _C
from .._core.numbers import finfo

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
           "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """Tensors of numbers and tensors, of one shape; numbers take dtype and device of the first tensor."""
    if not all(isinstance(v, (numbers.Number, _C.TensorBase)) or hasattr(v, "__torch_function__") for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                         "__torch_function__.")
    like = next((v for v in values if isinstance(v, _C.TensorBase)), None)
    dtype = _C.get_default_dtype() if like is None else like.dtype
    device = None if like is None else like.device
    return _C.broadcast_tensors([_C._tensor_from(v, dtype, device) if isinstance(v, numbers.Number) else v for v in values])


def _standard_normal(shape, dtype, device):
    """Draws from the normal distribution of mean 0 and variance 1."""
    return _C.empty(shape, dtype=dtype, device=device).normal_()


def _sum_rightmost(value, dim):
    """Summed over the last `dim` dimensions."""
    return value.sum(tuple(range(-dim, 0))) if dim > 0 else value


def clamp_probs(probs):
    """Away from 0 and 1 by what the dtype can tell from 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def logits_to_probs(logits, is_binary=False):
    """sigmoid of each, or softmax over the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs, is_binary=False):
    """log(p / (1 - p)) of each, or log(p); 0 and 1 are taken for the next numbers between them."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


class lazy_property:
    """Decorates a method of an object: its value is computed when first asked for, and kept."""

    def __init__(self, wrapped):
        self.wrapped, self.__doc__ = wrapped, wrapped.__doc__

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return self
        from ..autograd.modes import enable_grad
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat, diag=0):
    """The entries of matrices [..., n, n] on and below a diagonal, row after row: [..., k]."""
    n = mat.size(-1)
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = _C.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec, diag=0):
    """Matrices [..., n, n] with these entries on and below a diagonal, and zeros above. The inverse of tril_matrix_to_vec."""
    # On and below diagonal -d there are m (m + 1) / 2 entries of m = n - d rows; above the main one each row but the last has
    # more. Either is a square that has an integer root.
    square = 8 * vec.size(-1) + 1 + 8 * max(diag, 0) * (diag + 1)
    root = math.isqrt(square)
    if root * root != square:
        raise ValueError(f"The size of last dimension is {vec.size(-1)} which cannot be expressed as the lower triangular "
                         "part of a square D x D matrix.")
    n = (root - 1) // 2 - diag
    made = vec.new_zeros(tuple(vec.shape)[:-1] + (n, n))
    rows, columns = _C.tril_indices(n, n, diag, device=vec.device)
    made[..., rows, columns] = vec
    return made
