"""torch.return_types: the classes of results whose parts have names."""

from . import _C

# A call that gives each of them.
_CALLS = {
    **{name: (lambda x, name=name: getattr(_C, name)(x, 0)) for name in (
        "max", "min", "sort", "median", "nanmedian", "mode", "cummax", "cummin")},
    "aminmax": lambda x: _C.aminmax(x), "frexp": lambda x: _C.frexp(x), "geqrf": lambda x: _C.geqrf(x),
    "topk": lambda x: _C.topk(x, 1), "kthvalue": lambda x: _C.kthvalue(x, 1), "histogram": lambda x: _C.histogram(x, 2),
    "histogramdd": lambda x: _C.histogramdd(x, 2),
    "triangular_solve": lambda x: _C.triangular_solve(x, x), "svd": lambda x: _C.svd(x),
    "lu_unpack": lambda x: _C.lu_unpack(*_C._linalg.lu_factor(x)),
    **{f"linalg_{name}": (lambda x, name=name: getattr(_C._linalg, name)(x)) for name in (
        "cholesky_ex", "eig", "eigh", "inv_ex", "ldl_factor", "ldl_factor_ex", "lu", "lu_factor", "lu_factor_ex", "qr",
        "slogdet", "svd")},
    "linalg_lstsq": lambda x: _C._linalg.lstsq(x, x), "linalg_solve_ex": lambda x: _C._linalg.solve_ex(x, x),
}


def __getattr__(name):
    if name in _CALLS:
        found = globals()[name] = type(_CALLS[name](_C.ones(1, 1)))
        return found
    from ._core.missing import attribute
    return attribute(__name__, name)


def __dir__():
    return sorted(_CALLS)
