"""A few eigenvalues of a large symmetric matrix, of which only products are asked (LOBPCG: A. Knyazev, SIAM J. Sci. Comput. 23,
2001, p. 517; its search directions are made orthonormal in each step)."""

from .. import _C
from ..autograd.modes import no_grad
from .._core.numbers import finfo


def _orthonormal(V, B):
    """Columns that span what those of V do, orthonormal in the product of B; what is dependent is left out."""
    for _ in range(2):  # the second time for rounding
        gram = V.mT @ (V if B is None else B @ V)
        scale = _C.diagonal(gram).clamp(min=0).sqrt()
        kept = scale > 0
        V, gram, scale = V[:, kept], gram[kept][:, kept], scale[kept]
        values, vectors = _C._linalg.eigh(gram / scale[:, None] / scale)
        good = values > values.max() * 10 * V.size(0) * finfo(V.dtype).eps
        V = (V / scale) @ (vectors[:, good] / values[good].sqrt())
    return V


def _one(A, k, B, X, iK, steps, tol, largest):
    """Eigenvalues (k) and vectors (n, k) of one matrix."""
    n, sign = A.size(-1), -1.0 if largest else 1.0
    X = _orthonormal(_C.randn(n, k, dtype=A.dtype, device=A.device) if X is None else X.clone(), B)
    P, values = X[:, :0], None
    size = _C._linalg.vector_norm(A.to_dense() if A.is_sparse else A)
    for step in range(steps + 1):
        values, turn = _C._linalg.eigh(X.mT @ (A @ X) * sign)
        X = X @ turn
        BX = X if B is None else B @ X
        R = A @ X - BX * (values * sign)
        left, length = _C._linalg.vector_norm(R, dim=0), _C._linalg.vector_norm(X, dim=0)
        if step == steps or (left <= tol * (size + values.abs()) * length).all():
            break
        W = R if iK is None else iK @ R
        W = W - X @ (BX.mT @ W)
        space = _C.cat([X, _orthonormal(_C.cat([W, P], 1), B)], 1)
        space = _orthonormal(space, B)
        _, turn = _C._linalg.eigh(space.mT @ (A @ space) * sign)
        new = space @ turn[:, :k]
        P = new - X @ (BX.mT @ new)
        X = _orthonormal(new, B)
    return values * sign, X


def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None,
           ortho_iparams=None, ortho_fparams=None, ortho_bparams=None):
    """The k (default 1) largest eigenvalues of A x = value B x, or the smallest, and their vectors; A [..., m, m] is symmetric,
    dense or sparse, B positive definite; X are first guesses, iK approximates A's inverse. Not differentiable."""
    if tracker is not None:
        raise NotImplementedError("lobpcg: Taeda has no tracker of its steps")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"lobpcg: method is \"basic\" or \"ortho\", but got {method!r}")
    if any(t is not None and t.requires_grad for t in (A, B)) and _C.is_grad_enabled():
        raise NotImplementedError("lobpcg: Taeda has no derivative of it; torch.linalg.eigh has one")
    if A.dim() < 2 or A.size(-1) != A.size(-2):
        raise RuntimeError(f"lobpcg: A must be square matrices, but got sizes {list(A.shape)}")
    m = A.size(-1)
    k = (1 if X is None else X.size(-1)) if k is None else k
    n = (k if X is None else X.size(-1)) if n is None else n
    if m < 3 * n:
        raise ValueError(f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number "
                         f"of requested eigenpairs (={n})")
    tol = {_C.float32: 1.2e-7, _C.float64: 2.23e-16}.get(A.dtype, 1e-7) ** 0.5 if tol is None else tol
    steps = 1000 if niter is None or niter < 0 else niter
    with no_grad():
        if A.dim() == 2:
            values, vectors = _one(A, n, B, X, iK, steps, tol, largest is None or largest)
            return values[:k], vectors[:, :k]
        parts = [None if t is None else t.reshape(-1, *t.shape[-2:]) for t in (A, B, X, iK)]
        found = [_one(parts[0][i], n, *(None if t is None else t[i] for t in parts[1:]), steps, tol, largest is None or largest)
                 for i in range(parts[0].size(0))]
        values, vectors = (_C.stack(list(part)) for part in zip(*found))
        return values[:, :k].reshape(*A.shape[:-2], k), vectors[:, :, :k].reshape(*A.shape[:-2], m, k)
