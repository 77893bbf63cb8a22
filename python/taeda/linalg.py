"""torch.linalg."""

from . import _C

globals().update({name: getattr(_C._linalg, name) for name in dir(_C._linalg) if not name.startswith("_")})


def pinv(A=None, rcond=None, hermitian=False, *, input=None, atol=None, rtol=None, out=None):
    """The pseudoinverse of matrices.

    atol, rtol: singular values below max(atol, rtol * the largest) count as zero; numbers, or tensors with one for each
        matrix
    rcond: another name of rtol
    hermitian: whether A is taken for Hermitian, of which the lower triangle is read; False unless given

    Shapes: [*, m, n] to [*, n, m].

    >>> torch.linalg.pinv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return _C._linalg.pinv(input if A is None else A, atol, rtol if rcond is None else rcond, hermitian, out=out)


# What a factorization that fails raises.
LinAlgError = _C._LinAlgError
