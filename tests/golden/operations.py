"""Writes tests/ops/operations_golden.inc: drawn counts and slopes, eigenvalues, L D L^T, bins, from PyTorch 2.15.

Run: python3 -P tests/golden/operations.py > tests/ops/operations_golden.inc
"""
import textwrap

import torch

# No number here needs more than a few digits, so that C++ says the same.
MATRIX = torch.tensor([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75], [-0.5, 1.0, 1.75]], dtype=torch.double)
SYMMETRIC = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [2.0, 0.5, 0.0]], dtype=torch.double)
RIGHT = torch.tensor([[1.0, 2.0], [-1.0, 0.5], [3.0, 0.25]], dtype=torch.double)
POINTS = torch.tensor([[0.1, 0.9], [0.4, 0.2], [0.7, 0.7], [1.0, 0.0], [0.35, 1.0]], dtype=torch.double)
WEIGHT = torch.tensor([1.0, 2.0, 0.5, 4.0, 0.25], dtype=torch.double)
SLOPED = torch.tensor([-1.0, 2.0, -3.0, 0.0, -5.0, 0.5, -0.25, -2.0])


def flat(*tensors):
    out = []
    for t in tensors:
        t = torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
        out += t.flatten().tolist()
    return out


def drawn(make):
    torch.manual_seed(3)
    return flat(make())


def rates():
    return torch.tensor([0.0, 0.5, 3.0, 9.5, 15.0, 120.0, 1e4]).repeat(4)


def trials():
    count = torch.tensor([0.0, 5.0, 20.0, 100.0, 1000.0, 40.0]).repeat(4)
    return count, torch.tensor([0.5, 0.25, 0.1, 0.75, 0.375, 1.0]).repeat(4)


def slopes():
    noise = torch.zeros(8)
    out = torch.ops.aten.rrelu_with_noise(SLOPED, noise, 0.125, 0.5, True)
    return torch.cat([out, noise])


def sorted_eigenvalues(a):
    w = torch.linalg.eigvals(a)
    return torch.stack(sorted(w, key=lambda v: (round(v.real.item(), 9), v.imag.item())))


def eig_gradient(a, what):
    a = a.clone().requires_grad_()
    w, v = torch.linalg.eig(a)
    # Sizes and sums do not depend on phases and orders.
    loss = {"values": (w * w * w).sum().real + w.abs().sum(),
            "vectors": (v.abs() ** 3).sum() + ((v.abs() ** 2) * w.abs()).sum()}[what]
    loss.backward()
    return flat(loss, a.grad)


COMPLEX = torch.complex(MATRIX, MATRIX.flip(1) * 0.5)
VALUES = {
    "poisson": lambda: drawn(lambda: torch.poisson(rates())),
    "binomial": lambda: drawn(lambda: torch.binomial(*trials())),
    "slopes": lambda: drawn(slopes),
    "eigenvalues": lambda: flat(sorted_eigenvalues(MATRIX)),
    "complex_eigenvalues": lambda: flat(sorted_eigenvalues(COMPLEX)),
    "values_gradient": lambda: eig_gradient(MATRIX, "values"),
    "vectors_gradient": lambda: eig_gradient(MATRIX, "vectors"),
    "complex_gradient": lambda: eig_gradient(COMPLEX, "vectors"),
    "ldl": lambda: flat(*torch.linalg.ldl_factor(SYMMETRIC)),
    "ldl_solved": lambda: flat(torch.linalg.ldl_solve(*torch.linalg.ldl_factor(SYMMETRIC), RIGHT)),
    "bins": lambda: flat(*[t for h in [torch.histogramdd(POINTS, [2, 3], weight=WEIGHT)] for t in (h[0], *h[1])]),
    "density": lambda: flat(torch.histogramdd(POINTS, [3, 2], range=[0.0, 0.75, 0.25, 1.0], density=True)[0]),
}

print("// Written by tests/golden/operations.py from PyTorch", torch.__version__.split("+")[0] + ".")
print("inline const std::map<std::string, std::vector<double>> golden_operations = {")
for name, make in VALUES.items():
    numbers = ", ".join(f"{float(v):.9g}" for v in make())
    print(f'    {{"{name}",')
    print(textwrap.fill("{" + numbers + "}},", 98, initial_indent=" " * 5, subsequent_indent=" " * 6))
print("};")
