"""torch.linalg."""

from . import _C

globals().update({name: getattr(_C._linalg, name) for name in dir(_C._linalg) if not name.startswith("_")})


def pinv(A=None, rcond=None, hermitian=False, *, input=None, atol=None, rtol=None, out=None):
    """The pseudoinverse of matrices; singular values below max(atol, rtol largest) count as zero, and `rcond` is `rtol`."""
    return _C._linalg.pinv(input if A is None else A, atol, rtol if rcond is None else rcond, hermitian, out=out)


# What a factorization that fails raises.
LinAlgError = _C._LinAlgError
