"""torch.special."""

from . import _C

globals().update({name: getattr(_C._special, name) for name in dir(_C._special) if not name.startswith("_")})


# Those that torch itself has, by the names that they have here.
globals().update({name: getattr(_C, other) for name, other in {
    "digamma": "digamma", "psi": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2", "expm1": "expm1",
    "expit": "sigmoid", "gammaln": "lgamma", "log1p": "log1p", "logit": "logit", "logsumexp": "logsumexp",
    "polygamma": "polygamma", "round": "round", "sinc": "sinc", "xlogy": "xlogy", "softmax": "softmax",
    "log_softmax": "log_softmax", "i0": "i0"}.items() if hasattr(_C, other)})
