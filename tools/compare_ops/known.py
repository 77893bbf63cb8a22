"""What is not compared, or known to differ, each with its reason."""

# Random numbers, uninitialised memory, and results that are free up to a sign, an order or a basis.
NOT_COMPARED = {
    "bernoulli", "binomial", "poisson", "multinomial", "normal", "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout",
    "random", "uniform", "exponential", "cauchy", "geometric", "log_normal", "rrelu", "native_dropout", "rand_like", "randn_like", "randint_like",
    "empty_like", "empty", "new_empty", "resize", "resize_as", "set", "empty_strided", "fractional_max_pool2d", "fractional_max_pool3d",
    "linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr", "svd", "qr", "linalg.eigvals", "geqrf", "ormqr", "linalg.householder_product",
    "lstsq", "linalg.lstsq", "pca_lowrank", "svd_lowrank", "lobpcg", "topk", "kthvalue", "mode", "msort", "argsort", "sort", "median",
    "nanmedian", "numel", "is_same", "retain_grad", "requires_grad", "backward",
}


# What PyTorch refuses and Taeda computes; docs/libtorch.md names both.
MORE_DTYPES = ("not implemented for", "does not support", "is not supported for", "not supported on")
MORE_OUT = ("only supports bool tensor for result", "output tensor's dtype is wrong", "Expected the output tensor", "operation's result requires dtype",
            "floating point output tensor", "convertible without narrowing", "Expected out tensor to have dtype", "Found dtype", "non-boolean outputs", "dtype of out")


# What PyTorch computes and Taeda refuses.
FEWER_DTYPES = ("complex matrices are not supported", "not implemented for")


def is_known(call, what):
    """Whether a difference is one that docs/libtorch.md names."""
    if what.startswith("throws") and any(text in what for text in FEWER_DTYPES):
        return True
    if not what.startswith("returns; PyTorch throws"):
        return False
    return any(text in what for text in MORE_DTYPES) or (call.form == "out" and any(text in what for text in MORE_OUT))
