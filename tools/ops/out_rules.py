"""What the form with `out` of each operation takes, as PyTorch's does: C++'s detail::OutRule.

An operation that no list names takes any `out` that its result can be cast to; `out` may be an input, but no part of one.
PyTorch's kernels fall into these kinds by how they are written, so the lists were asked of it (tools/compare_ops compares them).
"""

# `out` has the result's dtype, and so has each of several results.
SAME_DTYPE = set("""
    abs addbmm addmm addmv amax amin argmax argmin argsort as_strided_scatter baddbmm bincount bitwise_not bmm
    bucketize ceil celu channel_shuffle conj_physical count_nonzero cross cumprod cumsum diag diag_embed
    diagonal_scatter dist dot elu flip float_power floor frac gather gelu hardshrink hardsigmoid hardswish hardtanh
    heaviside histc index_add index_copy index_fill index_reduce index_select inverse isin isinf isnan isneginf
    isposinf isreal leaky_relu linalg.cholesky linalg.cross linalg.det linalg.eigvalsh linalg.inv linalg.matmul
    linalg.matrix_exp linalg.matrix_norm linalg.multi_dot linalg.norm linalg.solve linalg.solve_triangular linalg.svdvals
    linalg.vecdot linalg.vector_norm linear log_sigmoid log_softmax logcumsumexp make_complex masked_fill masked_scatter
    masked_select matmul
    median mish mm msort multinomial mv nan_to_num nanmedian nanquantile nansum neg nonzero norm ormqr polar prod put quantile relu relu6
    renorm repeat repeat_interleave roll rot90 round rsub scatter scatter_add scatter_reduce searchsorted
    select_scatter sgn sign signbit silu slice_scatter softmax softplus softshrink sum take take_along_dim tensordot trace tril
    triu trunc vdot where
""".split())

# The same where an argument is a number.
SAME_DTYPE_WITH_NUMBERS = {"clamp", "clamp_max", "clamp_min"}

# The same where no argument is a number.
SAME_DTYPE_WITH_TENSORS = {"lerp"}

# The same where both operands have dimensions.
SAME_DTYPE_OF_DIMENSIONS = {"inner"}

# The same where a dtype is asked for.
SAME_DTYPE_AS_GIVEN = {"mean"}

# Several results that can be cast all the same.
CAST_SEVERAL = {"geqrf", "linalg.eig"}

# `out` is of bools, or of bytes.
TRUTH = {"all", "any"}

# `out` is of real floating numbers.
FLOATING = {"fft.hfft", "fft.hfft2", "fft.hfftn", "fft.irfft", "fft.irfft2", "fft.irfftn", "nanmean"}

# Those that compute in the dtype of `out` if none is given.
IN_DTYPE_OF_OUT = {"cumprod", "cumsum", "nansum", "prod", "sum"}

# `out` shares no memory with an input.
APART = {"cross", "gather", "index_select", "linalg.cross", "masked_select", "nonzero", "take", "take_along_dim"}

# In place, the changed tensor shares no memory with the other tensors.
CHANGED_APART = {"index_reduce", "put", "scatter_reduce"}

# `out` may share any memory with an input: what is written was made elsewhere.
ANYWHERE = set("""
    addbmm addmm addmv all amax amin any argmax argmin as_strided_scatter baddbmm bincount bmm bucketize
    channel_shuffle cholesky_inverse cholesky_solve corrcoef count_nonzero cov diag diag_embed diagonal_scatter diff
    dist dot fft.fft fft.fft2 fft.fftn fft.hfft fft.hfft2 fft.hfftn fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.ihfft2
    fft.ihfftn fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn flip histc index_fill inner inverse
    linalg.cholesky linalg.cond linalg.det linalg.eigvals linalg.eigvalsh linalg.householder_product linalg.inv
    linalg.ldl_solve linalg.lu_solve linalg.matmul linalg.matrix_exp linalg.matrix_norm linalg.matrix_power
    linalg.matrix_rank linalg.norm linalg.pinv linalg.solve linalg.solve_triangular linalg.svdvals linalg.tensorinv
    linalg.tensorsolve linalg.vecdot linalg.vector_norm linear log_softmax logdet logsumexp lu_solve masked_fill
    masked_scatter matmul mean median mm mv nanmean nanmedian nanquantile nansum norm orgqr prod put quantile repeat
    repeat_interleave roll rot90 rsub searchsorted select_scatter slice_scatter softmax std std_mean sum trace var
    var_mean vdot
""".split())


def unknown(families):
    """Names that no operation with `out` or in place has."""
    listed = (SAME_DTYPE | SAME_DTYPE_WITH_NUMBERS | SAME_DTYPE_WITH_TENSORS | SAME_DTYPE_OF_DIMENSIONS | SAME_DTYPE_AS_GIVEN
              | CAST_SEVERAL | TRUTH | FLOATING | IN_DTYPE_OF_OUT | APART | CHANGED_APART | ANYWHERE)
    return sorted(listed - {o.public_name for f in families for o in f.operations})


def dtype_of(operation):
    """Which dtypes `out` may have, as C++ calls it."""
    name = operation.public_name
    numbers = any("Scalar" in a.type for a in operation.arguments)
    as_written = name in (SAME_DTYPE_WITH_NUMBERS if numbers else SAME_DTYPE_WITH_TENSORS)
    several = operation.outputs > 1 and "out" in operation.tags and name not in CAST_SEVERAL
    if name in SAME_DTYPE | SAME_DTYPE_OF_DIMENSIONS or as_written or several:
        return "Same"
    return "Truth" if name in TRUTH else "Floating" if name in FLOATING else "Castable"


def memory_of(operation):
    """What `out` may share with an input, as C++ calls it."""
    name = operation.public_name
    return "None" if name in APART else "Any" if name in ANYWHERE else "Whole"


def written(operation, dtype=None, made_of_none=False, called=False):
    """The operation's rule as C++ has it; `dtype` is the argument that may ask for one.

    What is made of no tensor says itself which sizes it has. Where the operation is `called`, its arguments are there to ask.
    """
    kind = f"detail::OutRule::Dtype::{dtype_of(operation)}"
    if dtype and operation.public_name in SAME_DTYPE_AS_GIVEN:
        kind = f"{dtype} ? detail::OutRule::Dtype::Same : {kind}"
    if called and operation.public_name in SAME_DTYPE_OF_DIMENSIONS:
        having = " && ".join(f"{a.name}.dim() > 0" for a in operation.arguments)
        kind = f"{having} ? {kind} : detail::OutRule::Dtype::Castable"
    rule = f"{kind}, detail::OutRule::Memory::{memory_of(operation)}{', true' if made_of_none else ''}"
    return f'{{"{operation.name}", {rule}}}'
