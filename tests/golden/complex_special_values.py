"""Prints tests/ops/complex_special_values_golden.inc, complex functions of zeros, infinities, NaN and numbers whose parts leave the
range of numbers on the way, by NumPy, whose C library follows Annex G of C99. Squares are by their formula, whose real part NumPy
takes from two products that may both overflow:

python3 tests/golden/complex_special_values.py > tests/ops/complex_special_values_golden.inc
"""
import textwrap

import numpy as np

INF, NAN = np.inf, np.nan
PARTS = [0.0, -0.0, 1.0, -2.5, INF, -INF, NAN]
LARGE = [710 + 1j, 710 + 0j, 1000 + 1e-300j, -1000 + 1j, 1e300 + 1e300j, 1e-300 + 1e-300j, 3 + 1e-320j, 1e200 - 1e200j]


def square(z):
    """((a - b)(a + b), 2ab)."""
    a, b = z.real, z.imag
    made = np.empty_like(z)
    made.real = np.where(np.isfinite(a) & (np.abs(a) == np.abs(b)), 0, (a - b) * (a + b))
    made.imag = 2 * (a * b)
    return made


FUNCTIONS = {"exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin,
             "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos,
             "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "exp2": np.exp2, "square": square}


def text(x):
    return "nan" if np.isnan(x) else "inf" if x == INF else "-inf" if x == -INF else repr(float(x))


print("// Made by tests/golden/complex_special_values.py with NumPy " + np.__version__ + ".")
points = [complex(a, b) for a in PARTS for b in PARTS] + LARGE
with np.errstate(all="ignore"):
    for name, function in FUNCTIONS.items():
        values = function(np.array(points, np.complex128))
        rows = ", ".join("{" + ", ".join(map(text, (z.real, z.imag, y.real, y.imag))) + "}" for z, y in zip(points, values))
        print("\n".join(textwrap.wrap(f'{{"{name}", {{{rows}}}}},', 100, subsequent_indent="    ", break_on_hyphens=False)))
