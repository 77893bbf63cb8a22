"""Windows, symmetric or, with `sym=False`, periodic: M numbers that weigh a piece of a signal."""

import math

from .. import _C

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
           "kaiser", "nuttall"]


def _made(name, M, sym, formula, dtype=None, layout=None, device=None, requires_grad=False):
    """formula(places, M) over 0 ... M - 1, where a periodic window is a symmetric one of M + 1 without its end."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    dtype = dtype or _C.get_default_dtype()
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    whole = M if sym or M <= 1 else M + 1
    places = _C.arange(whole, dtype=_C.float64)
    values = _C.ones(M, dtype=_C.float64) if M <= 1 else formula(places, whole)[:M]
    values = values.to(dtype=dtype, device=device)
    return values.requires_grad_() if requires_grad else values


def _positive(name, what, value):
    if value <= 0:
        raise ValueError(f"{what} must be positive, got: {value} instead.")


def exponential(M, *, center=None, tau=1.0, sym=True, **options):
    """exp(-|n - center| / tau); the middle is the center unless one is given, which a symmetric window does not take."""
    _positive("exponential", "Tau", tau)
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _made("exponential", M, sym, lambda n, whole: _C.exp(
        -(n - ((M if not sym and M > 1 else whole - 1) / 2 if center is None else center)).abs() / tau), **options)


def cosine(M, *, sym=True, **options):
    """sin(pi (n + 1/2) / M)."""
    return _made("cosine", M, sym, lambda n, whole: _C.sin(math.pi * (n + 0.5) / whole), **options)


def gaussian(M, *, std=1.0, sym=True, **options):
    """exp(-((n - middle) / std)^2 / 2)."""
    _positive("gaussian", "Standard deviation", std)
    return _made("gaussian", M, sym, lambda n, whole: _C.exp(-((n - (whole - 1) / 2) / std) ** 2 / 2), **options)


def kaiser(M, *, beta=12.0, sym=True, **options):
    """I0(beta sqrt(1 - x^2)) / I0(beta), with x from -1 to 1."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    top = _C._tensor_from(float(beta), _C.float64, None)
    return _made("kaiser", M, sym, lambda n, whole: _C._special.i0(
        beta * (1 - (2 * n / (whole - 1) - 1) ** 2).clamp(min=0).sqrt()) / _C._special.i0(top), **options)


def bartlett(M, *, sym=True, **options):
    """1 - |2 n / (M - 1) - 1|."""
    return _made("bartlett", M, sym, lambda n, whole: 1 - (2 * n / (whole - 1) - 1).abs(), **options)


def general_cosine(M, *, a, sym=True, **options):
    """The sum of (-1)^i a[i] cos(2 pi i n / (M - 1))."""
    a = list(a) if hasattr(a, "__iter__") else a
    if not isinstance(a, list):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _made("general_cosine", M, sym, lambda n, whole: sum(
        (-1) ** i * c * _C.cos(2 * math.pi * i * n / (whole - 1)) for i, c in enumerate(a)), **options)


def general_hamming(M, *, alpha=0.54, sym=True, **options):
    """alpha - (1 - alpha) cos(2 pi n / (M - 1))."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


def hamming(M, *, sym=True, **options):
    """general_hamming with alpha 0.54."""
    return general_hamming(M, sym=sym, **options)


def hann(M, *, sym=True, **options):
    """general_hamming with alpha 0.5."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M, *, sym=True, **options):
    """general_cosine with 0.42, 0.5, 0.08."""
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


def nuttall(M, *, sym=True, **options):
    """general_cosine with Nuttall's four numbers."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)
