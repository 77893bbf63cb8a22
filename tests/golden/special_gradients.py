"""Prints tests/ops/special_gradients_golden.inc, derivatives at the ends of the range of numbers and where formulas cancel, by
mpmath with so many digits that even the smallest number counts:

python3 tests/golden/special_gradients.py > tests/ops/special_gradients_golden.inc
"""
import textwrap

from mpmath import mp, mpf

mp.dps = 700
LARGEST = mpf(2) ** 1024 - mpf(2) ** 971
POINTS = [mpf(x) for x in (2.2250738585072014e-308, 1e-300, 1e-100, 1e-20, 1e-9, 1e-5, 1e-3, 0.125, 0.5, 1.0, 2.0, 7.5, 30.0, 100.0,
                           1e4, 1e9, 1e100, 1e300)] + [LARGEST]
ROOT_PI = mp.sqrt(mp.pi)


def sinc(x):
    a = mp.pi * x
    return (mp.cos(a) - mp.sin(a) / a) / x


def sigmoid(x):
    return 1 / (1 + mp.exp(-x)) if x > -10000 else mpf(0)


def normal_density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi) if abs(x) < 1000 else mpf(0)


def normal_cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2 if abs(x) < 1000 else mpf(x > 0)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def gelu_tanh(x):
    if abs(x) > 1000:
        return mpf(x > 0)
    k, c = mp.sqrt(2 / mp.pi), mpf(0.044715)
    t = mp.tanh(k * (x + c * x ** 3))
    return (1 + t) / 2 + x / 2 * (1 - t * t) * k * (1 + 3 * c * x * x)


SLOPES = {
    "sinc": (lambda x: sinc(x) if abs(x) < 1e5 else None, True),
    "tanh": (lambda x: 1 / mp.cosh(x) ** 2 if abs(x) < 10000 else mpf(0), True),
    "sigmoid": (lambda x: sigmoid(x) * sigmoid(-x), True),
    "log_sigmoid": (lambda x: sigmoid(-x), True),
    "softplus": (sigmoid, True),
    "silu": (lambda x: sigmoid(x) * (1 + x * sigmoid(-x)), True),
    "gelu": (lambda x: normal_cdf(x) + x * normal_density(x), True),
    "gelu_tanh": (gelu_tanh, True),
    "erf": (lambda x: 2 / ROOT_PI * mp.exp(-x * x) if abs(x) < 1000 else mpf(0), True),
    "erfcx": (lambda x: 2 * x * erfcx(x) - 2 / ROOT_PI if x <= 30 else None, False),
    "log1p": (lambda x: 1 / (1 + x), False),
    "expm1": (lambda x: mp.exp(x) if x < 700 else None, False),
    "sqrt": (lambda x: 1 / (2 * mp.sqrt(x)), False),
    "asinh": (lambda x: 1 / mp.sqrt(1 + x * x), True),
    "atan": (lambda x: 1 / (1 + x * x), True),
    "logaddexp_with_1": (lambda x: sigmoid(x - 1), True),
    "hypot_with_1": (lambda x: x / mp.sqrt(1 + x * x), True),
    "hypot_with_itself": (lambda x: 1 / mp.sqrt(mpf(2)) if x <= 1e300 else None, False),
    "atan2_of_itself": (lambda x: 1 / (2 * x) if x > 1e-300 else None, False),
    "xlogy_by_2": (lambda x: 2 / x if 2 / x < LARGEST else None, False),
    "norm_3_of_twins": (lambda x: mpf(2) ** (mpf(1) / 3 - 1) if 1e-100 < x < 1e100 else None, False),
}


def number(x):
    return float.hex(float(mp.nstr(x, 30))) if abs(x) >= mpf("5e-324") or x == 0 else "0x0p+0"


print("// Made by tests/golden/special_gradients.py with mpmath.")
for name, (slope, both_signs) in SLOPES.items():
    rows = [(sign * x, slope(sign * x)) for x in POINTS for sign in ((1, -1) if both_signs else (1,))]
    rows = [f"{{{number(x)}, {number(y)}}}" for x, y in rows if y is not None]
    print("\n".join(textwrap.wrap(f'{{"{name}", {{{", ".join(rows)}}}}},', 100, subsequent_indent="    ",
                                  break_on_hyphens=False)))
