"""Gradients of single calls by PyTorch, as driver.cpp has them by Taeda."""

import torch

# Gradients go through two formulas, so they are less exact than values.
TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 1e-1, torch.float32: 1e-3, torch.float64: 1e-7, torch.complex64: 1e-3,
             torch.complex128: 1e-7}


def weighed(t):
    """A number that depends on every element of t, and on each in another way."""
    weights = torch.arange(t.numel(), dtype=torch.float64).remainder(7).add(1).reshape(t.shape)
    product = t.to(torch.complex128 if t.is_complex() else torch.float64) * weights
    return (product.real + product.imag * 0.5).sum() if t.is_complex() else product.sum()


def of(f, kwargs, form):
    """The gradients of what f(**kwargs) returns, by each of its tensors that can have one; [] if no result has one."""
    leaves = {}

    def leaf(t):
        if not isinstance(t, torch.Tensor) or not (t.is_floating_point() or t.is_complex()):
            return t
        return leaves.setdefault(id(t), t.detach().requires_grad_())

    used = {name: [leaf(t) for t in v] if isinstance(v, list) else leaf(v) for name, v in kwargs.items()}
    if form == "_":
        copies = {id(t): t.clone() for t in leaves.values()}
        used = {name: copies.get(id(v), v) for name, v in used.items()}
    made = f(**used)
    results = [t for t in (made if isinstance(made, (tuple, list)) else [made]) if isinstance(t, torch.Tensor) and t.requires_grad]
    if not results:
        return []
    made = torch.autograd.grad(sum(map(weighed, results)), list(leaves.values()), allow_unused=True)
    return [t.to_dense() if t is not None and t.is_sparse else t for t in made]


def difference(ours, theirs):
    """What differs between two gradients, or None; one that is undefined is zero."""
    if ours is None and theirs is None:
        return None
    a = torch.zeros_like(theirs) if ours is None else ours
    b = torch.zeros_like(ours) if theirs is None else theirs
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)}, PyTorch {b.dtype}{list(b.shape)}"
    wide = torch.complex128 if a.is_complex() else torch.float64
    x, y = a.to(wide), b.resolve_conj().resolve_neg().to(wide)
    if a.is_complex():
        x, y = torch.view_as_real(x), torch.view_as_real(y)
    finite = y[y.isfinite()]
    scale = max(min(float(finite.abs().max()), 1e6) if finite.numel() else 1.0, 1.0)
    tolerance = TOLERANCE[a.dtype]
    wrong = ~torch.isclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    wrong = wrong.any(-1) if a.is_complex() else wrong
    if not bool(wrong.any()):
        return None
    return f"values {a[wrong][:6].tolist()}, PyTorch {b[wrong][:6].tolist()} at {wrong.nonzero()[0].tolist()}"
