"""Writes tests/ops/special_functions_golden.inc: values and gradients of torch.special, from PyTorch 2.15.

Run: python3 -P tests/golden/special_functions.py | clang-format --assume-filename=x.h > tests/ops/special_functions_golden.inc
"""
import torch

inf, nan = float("inf"), float("nan")
REAL = [0.0, -0.0, 0.3, -0.7, 1.0, -1.5, 4.2, -7.9, 12.5, -19.5, 26.0, -48.0, 700.0, inf, -inf, nan]
POSITIVE = [0.0, 1e-6, 0.1, 0.9, 1.7, 3.5, 11.0, 19.0, 24.5, 60.0, 500.0, -1.0, inf, nan]
UNIT = [0.0, 1e-30, 1e-4, 0.02, 0.3, 0.5, 0.75, 0.999, 1.0, -0.1, 1.5, nan]
OF_ONE = {"i0": REAL, "i0e": REAL, "i1": REAL, "i1e": REAL, "bessel_j0": REAL, "bessel_j1": REAL,
          "bessel_y0": POSITIVE, "bessel_y1": POSITIVE, "modified_bessel_i0": REAL, "modified_bessel_i1": REAL,
          "modified_bessel_k0": POSITIVE, "modified_bessel_k1": POSITIVE, "scaled_modified_bessel_k0": POSITIVE,
          "scaled_modified_bessel_k1": POSITIVE, "spherical_bessel_j0": REAL, "airy_ai": REAL, "erfcx": REAL,
          "ndtr": REAL, "log_ndtr": REAL, "ndtri": UNIT, "entr": REAL}
A = [0.0, 0.0, 0.5, 1.5, 3.0, 20.0, 150.0, 150.0, 1.0, -1.0, inf, 3.0, nan]
X = [0.0, 1.0, 0.2, 4.5, 3.0, 12.0, 140.0, 170.0, 0.0, 1.0, 1.0, inf, 1.0]
S = [1.0, 0.5, 2.0, 2.0, 2.0, 2.5, 3.0, 3.5, 12.0, 1.1, 2.0]
Q = [2.0, 2.0, -1.0, 0.0, -1.5, -1.5, -2.5, 0.1, 7.0, 30.0, 1e6]
U = [0.0, 0.0, 0.0, 1.5, -2.0, 3.0, 0.0]
V = [-1.0, nan, -2.0, 0.5, 1e-10, -1.0, inf]
OF_TWO = {"gammainc": (A, X), "gammaincc": (A, X), "zeta": (S, Q), "xlog1py": (U, V)}
PLACES = [-1.0, -0.6, 0.0, 0.25, 0.8, 1.0, 1.3] * 3
DEGREES = [0.0] * 3 + [1.0] * 3 + [-1.0] + [2.0] * 3 + [3.7] * 3 + [4.0] + [5.0] * 4 + [9.0] * 3
for kind in "tuvw":
    OF_TWO[f"chebyshev_polynomial_{kind}"] = OF_TWO[f"shifted_chebyshev_polynomial_{kind}"] = (PLACES, DEGREES)
for name in ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]:
    OF_TWO[name] = (PLACES, DEGREES)


def number(x):
    return {"inf": "kInf", "-inf": "-kInf", "nan": "kNan"}.get(str(x), repr(x))


def numbers(values):
    return "{" + ", ".join(number(v) for v in values) + "}"


def answers_at(f, place):
    """Whether PyTorch gives the limit at an infinity, of the function and of its gradient; it gives NaN for some."""
    if abs(place) != inf:
        return True
    x = torch.tensor([place], dtype=torch.double)
    return not any(v != v for v in f(x).tolist() + slopes(f, x))


def slopes(f, *inputs):
    """The gradient by the last input; nothing where PyTorch has none."""
    last = inputs[-1].clone().requires_grad_()
    try:
        (g,) = torch.autograd.grad(f(*inputs[:-1], last).sum(), last)
    except RuntimeError:
        return []
    return g.tolist()


print("// Written by tests/golden/special_functions.py: PyTorch 2.15.")
print("const GoldenOfOne kGoldenOfOne[] = {")
for name, places in OF_ONE.items():
    f = getattr(torch.special, name)
    places = [p for p in places if answers_at(f, p)]
    x = torch.tensor(places, dtype=torch.double)
    print(f'    {{"{name}", &special::{name},\n     {numbers(places)},\n     {numbers(f(x).tolist())},\n'
          f"     {numbers(slopes(f, x))}}},")
print("};\nconst GoldenOfTwo kGoldenOfTwo[] = {")
for name, (a, b) in OF_TWO.items():
    x, y = (torch.tensor(v, dtype=torch.double) for v in (a, b))
    f = getattr(torch.special, name)
    print(f'    {{"{name}", &special::{name},\n     {numbers(a)},\n     {numbers(b)},\n     {numbers(f(x, y).tolist())},\n'
          f"     {numbers(slopes(f, x, y))}}},")
print("};")
