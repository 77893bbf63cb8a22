"""Prints tests/distributions/beta_gradients_golden.inc, (dx/da) / (1 - x) of beta numbers x at a fixed probability, by mpmath:

python3 tests/golden/beta_gradients.py > tests/distributions/beta_gradients_golden.inc
"""
from mpmath import mp, mpf

mp.dps = 60


def slope(a, b, x):
    a, b, x = mpf(a), mpf(b), mpf(x)
    density = x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)
    if x < a / (a + b):
        change = mp.diff(lambda p: mp.betainc(p, b, 0, x, regularized=True), a)
    else:
        change = -mp.diff(lambda p: mp.betainc(b, p, 0, 1 - x, regularized=True), a)
    return -change / density / (1 - x)


print("// Made by tests/golden/beta_gradients.py with mpmath: a, b, x, (dx/da) / (1 - x).")
for a, b in ((0.01, 0.01), (0.01, 3.0), (3.0, 0.01), (0.5, 0.5), (1.0, 2.0), (7.0, 4.0), (150.0, 80.0), (2000.0, 0.3)):
    for x in (1e-100, 1e-8, 0.001, 0.25, 0.5, 0.6875, 0.999):
        print(f"{{{a}, {b}, {x}, {mp.nstr(slope(a, b, x), 17)}}},")
