"""What is not compared, or known to differ: each difference names its operations and has its reason.

docs/libtorch.md says the same to users. A difference that no entry here covers is reported; none may be added without a
reason why Taeda should not do what PyTorch does.
"""

import re

import torch

# Random numbers, uninitialised memory, and results that are free up to a sign, an order or a basis.
NOT_COMPARED = {
    "bernoulli", "binomial", "poisson", "multinomial", "normal", "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout",
    "random", "uniform", "exponential", "cauchy", "geometric", "log_normal", "rrelu", "native_dropout", "rand_like", "randn_like", "randint_like",
    "empty_like", "empty", "new_empty", "new_empty_strided", "resize", "resize_as", "set", "empty_strided", "fractional_max_pool2d",
    "fractional_max_pool3d", "linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr", "svd", "qr", "linalg.eigvals", "geqrf", "ormqr",
    "linalg.householder_product", "lstsq", "linalg.lstsq", "pca_lowrank", "svd_lowrank", "lobpcg", "topk", "kthvalue", "mode", "msort",
    "argsort", "sort", "median", "nanmedian", "numel", "is_same", "retain_grad", "requires_grad", "backward", "resize_as_",
}

POLYNOMIALS = {f"special.{name}" for name in (
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "hermite_polynomial_h",
    "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w")}
BESSEL = {f"special.{name}" for name in (
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
    "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0")}

# PyTorch's formulas for these are less exact: Taeda computes them in double. Their tolerance is LESS_EXACT_TOLERANCE.
LESS_EXACT = POLYNOMIALS | BESSEL | {
    "special.i0", "special.i0e", "special.i1", "special.i1e", "i0", "special.zeta", "polygamma", "digamma", "special.polygamma",
    "special.digamma", "special.psi", "special.log_ndtr", "special.ndtr", "special.multigammaln", "mvlgamma", "special.gammainc",
    "special.gammaincc", "igamma", "igammac", "triplet_margin_loss", "cosine_similarity", "special.erfcx", "special.erfcx",
}
LESS_EXACT_TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 6e-2, torch.float32: 5e-4, torch.float64: 1e-5, torch.complex32: 1e-2,
                        torch.complex64: 5e-4, torch.complex128: 1e-5}


class Known:
    """A difference of these operations (all, if none is named) whose description matches `text`."""

    def __init__(self, reason, text, names=None, form=None, when=None):
        self.reason, self.text, self.names, self.form, self.when = reason, re.compile(text), names, form, when

    def covers(self, call, what, values):
        return ((self.names is None or call.name in self.names) and (self.form is None or self.form == call.form)
                and (self.when is None or self.when(values)) and self.text.search(what) is not None)


def tensors_in(values):
    for v in values:
        yield from (t for t in (v if isinstance(v, list) else [v]) if isinstance(t, torch.Tensor))


def some_empty(values):
    return any(t.numel() == 0 for t in tensors_in(values))


def some_16_bits(values):
    return any(t.dtype in (torch.float16, torch.bfloat16) for t in tensors_in(values))


def some_complex(values):
    return any(t.is_complex() for t in tensors_in(values)) or any(isinstance(v, complex) for v in values)


def not_finite(values):
    """Whether there are infinities or NaN, or numbers whose squares leave the range, which become them on the way."""
    return any((t.is_floating_point() or t.is_complex()) and t.numel() and bool((t.detach().abs() > torch.finfo(t.dtype).max ** 0.49).any())
               for t in tensors_in(values)) or any((t.is_floating_point() or t.is_complex()) and not bool(t.detach().isfinite().all()) for t in tensors_in(values)) \
        or any(isinstance(v, (float, complex)) and (abs(v) == float("inf") or v != v) for v in values)


def shares_memory(values):
    """Whether tensors overlap, or one with itself: in place, what is read when is nobody's promise."""
    seen = [t.untyped_storage().data_ptr() for t in tensors_in(values) if t.numel()]
    return len(set(seen)) < len(seen) or any(0 in [s for n, s in zip(t.shape, t.stride()) if n > 1] for t in tensors_in(values))


def some_extreme(values):
    return any(not t.dtype.is_floating_point and not t.is_complex() and t.dtype != torch.bool and t.numel()
               and (int(t.min()) == torch.iinfo(t.dtype).min or int(t.max()) == torch.iinfo(t.dtype).max) for t in tensors_in(values))


def channels_last_of_one(values):
    """Whether there is a picture in three dimensions without a batch whose channels come last in memory."""
    return any(t.ndim == 4 and t.shape[0] * t.shape[1] > 1 and t.is_contiguous(memory_format=torch.channels_last) for t in tensors_in(values))


def some_bool(values):
    return any(t.dtype == torch.bool for t in tensors_in(values)) or any(v is torch.bool for v in values)


RETURNS = "returns; PyTorch throws "

# What Taeda computes and PyTorch refuses.
ACCEPTED = [
    Known("without elements no kernel is asked, so none refuses a dtype or looks at a shape",
          f"{RETURNS}.*(not implemented for|not supported|does not support|dtype|Expected|scalar type|Convert|Subtraction|must be|"
          "could not infer|inputs|ambiguous|start|view size|Dimension|shape|match|size|out of range|bins|representable|without overflow)", when=some_empty),
    Known("PyTorch's complex numbers of bfloat16", "BComplex32|bcomplex32"),
    Known("16-bit numbers are computed in float", f"{RETURNS}.*(for 'B?F?l?o?a?t?1?6?H?a?l?f?'|Low precision|but got Half|but got BFloat16)",
          names=POLYNOMIALS | BESSEL | {"cdist", "pdist", "histogram", "special.erfcx", "special.log_ndtr", "special.ndtri", "special.zeta",
                                        "linalg.vander", "linalg.norm", "linalg.cond", "linalg.matrix_norm"}),
    Known("bools are numbers", f"{RETURNS}.*(Bool|bool)", names={
        "abs", "absolute", "addcmul", "binary_cross_entropy_with_logits", "argmax", "argmin", "cross", "linalg.cross", "cumprod", "cumsum", "glu", "gradient", "igamma", "igammac",
        "special.gammainc", "special.gammaincc", "l1_loss", "lerp", "mvlgamma", "special.multigammaln", "prelu", "soft_margin_loss", "trace",
        "trapezoid", "trapz", "cumulative_trapezoid", "special.zeta", "ldexp", "relu", "square", "nansum", "clamp", "linalg.vander"}),
    Known("integers become the default floating dtype", f"{RETURNS}.*(Byte|Char|Short|Int|Long|[Ii]ntegral|could not infer|uint8)", names={
        "glu", "igamma", "igammac", "special.gammainc", "special.gammaincc", "prelu", "hinge_embedding_loss", "binary_cross_entropy_with_logits",
        "soft_margin_loss", "gradient", "lerp", "nanmean", "silu_backward", "elu", "gelu_backward"}),
    Known("complex numbers, where the formula has a meaning for them", f"{RETURNS}.*(Complex|complex)", names={
        "erfinv", "special.erfinv", "glu", "logit", "special.logit", "nansum", "nanmean", "polygamma", "special.polygamma", "special.zeta",
        "xlogy", "special.xlogy", "special.xlog1py", "unique_consecutive", "unique_dim", "unique_dim_consecutive", "bucketize", "trunc", "fix",
        "ceil", "floor", "round", "sign", "clamp", "clip", "renorm"}),
    Known("operands of two dtypes are promoted", f"{RETURNS}.*([Tt]ype|scalar_type|dtype|without narrowing|should be (complex|real))", names={
        "addcdiv", "addcmul", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cdist", "cross", "linalg.cross", "group_norm", "histc",
        "huber_loss", "layer_norm", "native_layer_norm", "batch_norm", "linalg.matrix_norm", "linalg.norm", "linalg.vector_norm", "norm", "prelu",
        "soft_margin_loss", "sparse_coo_tensor", "xlogy", "special.xlogy", "polar", "nll_loss", "cross_entropy", "smooth_l1_loss", "renorm"}),
    Known("a change in place keeps its dtype, as of booleans that are squared", f"{RETURNS}.*can't be cast", names={"square", "xlogy", "special.xlogy", "pow"},
          form="_"),
    Known("indices have 8 to 64 bits", f"{RETURNS}.*(dtype int64 for index|long tensor for index|should be Long|Expected dtype int32/int64|Expected Long)",
          names={"index_copy", "index_fill", "index_add", "take", "take_along_dim", "index_reduce", "put", "scatter_reduce"}),
    Known("no derivative in PyTorch", "^gradient: " + RETURNS + ".*(is not implemented|not differentiable|automatic differentiation|Autograd not support|"
          "isDifferentiableType|has been modified by an inplace|isFloatingType|invalid gradient|to\\(options\\) doesn't|undefined Tensor|Expected a proper"
          "|supports automatic|a view of a leaf Variable|In-place elu|addmv input tensors|In-place leakyReLu|inconsistent tensor size|non-zero size|cannot be recorded)"),
    Known("overlapping operands that PyTorch's kernels read one by one", f"{RETURNS}.*(more than one element|some elements of the input)", form="_"),
    Known("an `out` in the memory of an input that is read before anything is written", f"{RETURNS}.*some elements of the input", form="out", names={
        "addmm", "addmv", "baddbmm", "addbmm", "linalg.solve", "linalg.solve_triangular", "inner", "linalg.matrix_power"}),
    Known("numbers outside of a dtype wrap, as conversions in C++ do", f"{RETURNS}.*(without overflow|representable range)", names={
        "threshold_backward", "masked_fill", "baddbmm", "addmm", "addmv", "addbmm", "max", "relu6", "scalar_tensor"}),
    Known("-1.0 is -1, which bytes take modulo 256", f"{RETURNS}.*uint8_t without overflow", names={"threshold"}),
    Known("a dim list that is empty means all dimensions", f"{RETURNS}.*(must be of length 1 or 2|doesn't match the broadcast shape)",
          names={"linalg.norm", "logsumexp"}),
    Known("the norm of a stack of matrices is one number", f"{RETURNS}.*input must be 1D or 2D", names={"linalg.norm"}),
    Known("a norm of complex order is the norm of its real part", f"{RETURNS}.*(non-complex scalar|p must be real-valued)", names={
        "dist", "norm", "linalg.norm", "linalg.vector_norm", "renorm"}),
    Known("a list of one length stands for all dimensions", f"{RETURNS}.*output_size", names={
        "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool2d", "adaptive_max_pool3d"}),
    Known("LU without pivoting exists on every device", f"{RETURNS}.*LU without pivoting", names={"linalg.lu", "linalg.lu_factor", "linalg.lu_factor_ex"}),
    Known("views of tensors that cannot be one are copies", f"{RETURNS}.*view size is not compatible", names={
        "isin", "kron", "linalg.matrix_exp", "matrix_exp", "take_along_dim", "repeat_interleave"}),
    Known("an infinite inverse is a result", f"{RETURNS}.*inversion could not be completed", names={"cholesky_inverse"}),
    Known("the source of one number is added to a number", f"{RETURNS}.*source tensor shape must match", names={"index_add", "index_copy", "index_reduce"}),
    Known("dimension 0 of a number is the number", f"{RETURNS}.*(Dimension out of range|start out of range)", names={
        "quantile", "nanquantile", "repeat_interleave", "diff"}),
    Known("a number is a list of one", f"{RETURNS}.*tensor has no dimensions", names={"take_along_dim"}),
    Known("spacings of all kinds", f"{RETURNS}.*(only support dx as a real|must match the size of tensor)", names={"trapezoid", "cumulative_trapezoid", "trapz"}),
    Known("tau of any batch", f"{RETURNS}.*Expected tau", names={"orgqr"}),
    Known("steps that are not finite make one number", f"{RETURNS}.*step must be finite", names={"arange", "range"}),
    Known("losses broadcast", f"{RETURNS}.*broadcast shape", names={"soft_margin_loss", "binary_cross_entropy_with_logits"}),
    Known("results are copied where `out` has no fitting memory", f"{RETURNS}.*must match the size", names={"matmul", "linalg.matmul"}, form="out"),
    Known("a histogram without bins", f"{RETURNS}.*bins must be > 0", names={"histogram"}),
    Known("averages of 16-bit numbers in three dimensions", f"{RETURNS}.*avg_pool3d_out_frame", names={"avg_pool3d"}),
    Known("reductions by index of all dtypes", f"{RETURNS}.*(index_func_|index_reduce_func|INTERNAL ASSERT)", names={"index_reduce"}),
    Known("what PyTorch's library of kernels does not take", f"{RETURNS}.*(primitive descriptor|itensor_view)", names={"gelu_backward"}),
    Known("three dimensions without a batch, channels last", f"{RETURNS}.*Unsupported memory format", names={"max_pool3d", "max_pool3d_with_indices"}),
    Known("PyTorch's gradient of a complex matrix is not Hermitian; along Hermitian ones both are the same", "^gradient: values .*j",
          names={"linalg.cholesky", "linalg.cholesky_ex"}),
    Known("gradients of sources larger than their index", f"^gradient: {RETURNS}.*must match the size", names={"scatter_reduce"}),
    Known("gradients beside operands of bools", f"^gradient: {RETURNS}.*(Negation|Subtraction)", names={"atan2", "logaddexp"}, when=some_bool),
    Known("sparse gradients that are scaled", f"^gradient: {RETURNS}.*scale_grad_by_freq", names={"embedding"}),
    Known("parts of a factorization that nobody asked for", f"^gradient: {RETURNS}.*at least 2 dimensions", names={"lu_unpack"}),
    Known("scatters into strides have gradients", f"^gradient: {RETURNS}.*only supported for contiguous", names={"as_strided_scatter"}),
    Known("second names of the reductions", f"{RETURNS}.*got (multiply|add)$", names={"scatter_reduce"}),
    Known("a number as the other operand takes the way of a tensor, as in PyTorch's Python", f"{RETURNS}.*Expected out tensor to have dtype", form="out",
          names={"add", "sub", "mul", "div", "floor_divide", "rsub", "true_divide"}),
    Known("sums of everything are computed in the dtype of `out`, as those over dimensions", f"{RETURNS}.*(Expected out tensor to have dtype|dtype must match|"
          "not implemented for)", form="out", names={"sum", "prod", "nansum", "nanmean"}),
    Known("deviations and powers are cut into any `out` that can hold them", f"{RETURNS}.*(Unsupported dtype|std_cpu|Expected out tensor to have dtype)", form="out",
          names={"std", "var", "linalg.matrix_power"}),
    Known("differences of two dtypes", f"{RETURNS}.*expected scalar_type", form="out", names={"diff"}),
    Known("an infinity makes the matrix none that a factor could fail at", f"{RETURNS}.*not positive-definite", names={"linalg.cholesky"}, when=not_finite),
    Known("a mask broadcasts", f"{RETURNS}.*broadcast shape", names={"masked_fill"}, when=some_empty),
]

# What PyTorch computes and Taeda refuses.
REFUSED = [
    Known("LAPACK's operations of 16-bit matrices, and products of complex reflectors", "throws '.*(householder_product\" not implemented for 'Complex|Low precision)", names={
        "cholesky_inverse", "cholesky_solve", "inverse", "linalg.cond", "linalg.det", "linalg.eigvalsh", "linalg.inv", "linalg.inv_ex", "linalg.lu",
        "linalg.lu_factor", "linalg.lu_factor_ex", "linalg.matrix_power", "linalg.matrix_rank", "linalg.norm", "linalg.pinv", "linalg.slogdet",
        "linalg.solve", "linalg.solve_ex", "linalg.solve_triangular", "linalg.svdvals", "linalg.tensorinv", "linalg.tensorsolve", "logdet", "pinverse",
        "det", "slogdet", "linalg.matrix_norm", "linalg.matrix_exp", "matrix_exp", "linalg.ldl_factor", "lu_solve", "linalg.lu_solve", "linalg.cholesky",
        "cholesky", "linalg.cholesky_ex", "orgqr", "triangular_solve", "nuclear_norm", "matrix_power", "lu_unpack"}),
    Known("convolutions and pooling of integers", "throws '.*not implemented for '(Byte|Char|Short|Int|Long|Bool)'", names={
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "conv1d", "conv2d", "conv3d",
        "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices", "max_pool2d_with_indices",
        "max_pool3d_with_indices", "mkldnn_max_pool2d", "batch_norm", "group_norm", "layer_norm"}),
    Known("an order of complex numbers", "throws '.*(not implemented for 'Complex|does not support complex|complex)", names={
        "clamp", "clip", "cummax", "cummin", "bucketize", "searchsorted", "soft_margin_loss", "rms_norm", "cosine_embedding_loss", "hinge_embedding_loss", "cov", "corrcoef"}),
    Known("complex numbers of 16 bits", "throws 'view_as_complex is only supported", names={"view_as_complex"}, when=some_16_bits),
    Known("sizes that are negative", "throws '.*(negative dimension|isn't allowed in a leading)", names={"sparse_coo_tensor", "expand", "broadcast_to"}),
    Known("convolutions, averages and losses of complex numbers", "throws '.*not implemented for 'Complex", names={
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "binary_cross_entropy_with_logits", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"}),
    Known("products of bools, which PyTorch computes for some strides alone", "throws '.*not implemented for 'Bool", names={"inner"}),
    Known("a matrix of repeated rows, which rounding alone gives an inverse", "throws '.*singular", when=shares_memory, names={
        "linalg.tensorsolve", "linalg.tensorinv", "linalg.solve", "linalg.solve_ex", "linalg.inv", "inverse"}),
    Known("recurrent cells of integers", "throws '.*not implemented for", names={"rnn_relu_cell", "rnn_tanh_cell", "lstm_cell", "gru_cell"}),
    Known("bools to the power of bools in place", "throws '.*pow", names={"pow"}, when=some_bool),
    Known("points that do not stand for the values", "throws '.*one `x` value", names={"trapezoid", "cumulative_trapezoid", "trapz"}),
    Known("numbers have no last but third dimension", "throws 'Dimension out of range", names={"linalg.vecdot"}),
    Known("gradients of activations of complex numbers as operations of their own", "throws '.*not implemented for 'Complex", names={
        "sigmoid_backward", "silu_backward", "tanh_backward"}),
    Known("bools have no threshold", "throws '.*threshold_backward", names={"threshold_backward"}, when=some_bool),
    Known("bools in an ordered list", "throws '\"searchsorted\" not implemented for 'Bool", names={"bucketize", "searchsorted"}),
    Known("a pivot matrix of bytes", "throws '.*lu_unpack", names={"lu_unpack"}),
    Known("checks come before the look at whether there are elements", "throws '.*(not implemented for|Expected reduction dim|does not support|received a bool|"
          "negative dimension|ZeroDivision|weights should be|expects a floating point output|Expected a floating|can't be cast|Dimension out of range|must be batches of square|"
          "norm on an empty tensor)", when=some_empty),
    Known("elements that share memory are not changed in place", "throws '.*more than one element"),
    Known("results of another dtype are not cut into `out`", "throws 'result type .* can't be cast", form="out", names={
        "sum", "cumsum", "cumprod", "prod", "nansum", "mean", "lerp", "all", "any", "logsumexp"}),
    Known("an `out` in the memory of an input is refused before it is resized, and where the other operand is a number", "throws '.*some elements of the input",
          form="out"),
    Known("coordinates of another dimension's size", "throws '.*expected each element of spacing", names={"gradient"}),
    Known("batches of matrices in compressed rows", "throws '.*(batches of matrices in compressed rows|crow_indices.shape)", names={"to_sparse_csr", "sparse_csr_tensor"}),
    Known("`out` has the result's dtype for complex numbers, too", "throws 'Expected out tensor to have dtype", names={"abs"}, form="out"),
    Known("bounds that cross", "throws 'hardtanh: min_val cannot be greater", names={"hardtanh"}),
    Known("padding_idx is checked", "throws 'Padding_idx must be within", names={"embedding"}),
    Known("numbers that a list's dtype has not", "throws 'value cannot be converted", names={
        "isin", "masked_fill", "scatter", "index_fill", "fill"}),
    Known("invariants of compressed rows are always checked", "throws '.*(crow_indices|col_indices|tensor dimensionality must be)", names={"sparse_csr_tensor"}),
    Known("a matrix with infinities has no singular values", "throws 'linalg.svd: .*non-finite", names={
        "linalg.matrix_norm", "linalg.matrix_rank", "linalg.norm", "linalg.pinv", "linalg.cond", "linalg.svdvals", "pinverse", "nuclear_norm"}),
    Known("images have channels", "throws 'adaptive_avg_pool2d\\(\\): Expected 3D or 4D", names={"adaptive_avg_pool2d"}),
    Known("polar of 16-bit numbers would be complex of 16 bits", "throws 'Expected both inputs", names={"polar"}),
    Known("indices are checked", "throws 'index .* out of bounds", names={"take_along_dim", "gather"}),
    Known("bools have no differences", "throws '.*received a bool input", names={"trapezoid", "cumulative_trapezoid", "trapz"}),
    Known("a probability is checked", "throws 'dropout probability", names={"scaled_dot_product_attention"}),
    Known("products of one dtype", "throws '.*(must have the same dtype|expected scalar type)", names={"addbmm", "bmm", "baddbmm", "addmm"}),
    Known("integers have no remainder by 0", "throws 'ZeroDivisionError", when=some_empty),
    Known("in place nothing broadcasts the tensor itself", "throws 'output with shape", names={"addbmm"}),
    Known("cosine similarities of floating numbers", "throws 'expected common dtype", names={"cosine_embedding_loss"}),
]

# Values, dtypes and shapes.
DIFFERENT = [
    Known("PyTorch takes such a picture for a batch", "values", names={"avg_pool3d"}, when=channels_last_of_one),
    Known("PyTorch's leaves `out` as it was", "values|shape", names={"fft.ihfftn", "fft.ihfft2", "gelu"}, form="out"),
    Known("sums that meet infinities, whose order or way decides between them and NaN", "values", when=not_finite, names={
        "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "group_norm", "std", "var", "std_mean", "var_mean",
        "linalg.cond", "linalg.det", "linalg.slogdet", "linalg.tensorinv", "linalg.tensorsolve", "cholesky_inverse", "orgqr", "linalg.pinv", "addmv", "addmm",
        "linalg.vector_norm", "norm_except_dim", "linalg.multi_dot", "layer_norm", "linear", "linalg.matrix_power",
        "gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell", "gru", "lstm", "rnn_tanh", "rnn_relu",
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "sub", "addbmm", "matmul", "addcdiv", "stft", "istft", "cdist", "pdist", "scaled_dot_product_attention", "linalg.lu_solve", "lu_solve"}),
    Known("a matrix that is none has no factors to fail at", "throws '.*singular", when=not_finite, names={
        "linalg.inv", "linalg.tensorinv", "linalg.tensorsolve"}),
    Known("remainders of numbers that are many times as large", "values .*, PyTorch .*nan", names={"remainder", "fmod"}),
    Known("a product with 6 leaves the range before it is divided by 6", "values .*e\\+.*, PyTorch .*inf", names={"hardswish"}),
    Known("factors that lie transposed in a batch: PyTorch's solution does not solve", "values", names={"lu_solve", "linalg.lu_solve"}),
    Known("a norm of an order that is no number is none", "values .*nan", names={"norm", "dist", "linalg.vector_norm"}),
    Known("quotients by a complex zero have the signs of C99", "values .*inf", names={"div", "divide", "true_divide", "reciprocal"}, when=some_complex),
    Known("0 log 0 is 0 whatever it is compared with", "values", names={"kl_div"}, when=not_finite),
    Known("16-bit numbers are counted as floats, not by their own sums", "values", names={"histc"}, when=some_16_bits),
    Known("a number of another dtype does not decide for a tensor", "dtype", names={"huber_loss", "smooth_l1_loss", "mse_loss"}),
    Known("complex numbers at zero and infinity: PyTorch's vector and scalar loops differ among themselves", "values", when=lambda v: some_complex(v) and not_finite(v)),
    Known("transforms of what is not finite", "values", names={f"fft.{n}" for n in (
        "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftn", "ifftn", "rfftn", "irfftn", "hfftn",
        "ihfftn")}, when=not_finite),
    Known("limits at infinity, and NaN that stays NaN", "values", when=not_finite, names=POLYNOMIALS | BESSEL | {
        "special.zeta", "special.i0", "special.i0e", "special.i1", "special.i1e", "i0", "special.gammainc", "special.gammaincc", "igamma", "igammac", "polygamma",
        "special.polygamma", "gelu", "trapezoid", "cumulative_trapezoid", "gradient", "linalg.solve", "logit", "special.logit", "soft_margin_loss", "lgamma",
        "special.entr", "special.xlog1py", "special.ndtri", "mvlgamma", "special.multigammaln"}),
    Known("a degree that is no number: PyTorch's is the smallest integer", "values .*nan.*, PyTorch .*0.0", names=POLYNOMIALS),
    Known("16-bit numbers are computed in float, so a bound of 1 - eps is not 1", "values", names={"logit", "special.logit"}, when=some_16_bits),
    Known("16-bit numbers are rounded once", "values", when=some_16_bits, names={
        "floor_divide", "polygamma", "special.polygamma", "special.multigammaln", "mvlgamma", "special.gammaincc", "special.gammainc", "igamma", "igammac",
        "digamma", "special.ndtr", "prod", "cumsum", "cumprod", "baddbmm", "addmm", "norm", "logsumexp", "addr", "special.zeta", "cosine_similarity"}),
    Known("products of integers' minimum", "values", names={"gcd", "lcm"}, when=some_extreme),
    Known("poles", "values", names={"polygamma", "special.polygamma"}),
    Known("the side of a cut that a zero of a transform lies on", "values", names={"log", "log2", "log10"}, when=some_complex),
    Known("orders near 0, whose roots PyTorch loses digits by", "values", names={"pdist", "cdist", "pairwise_distance"}),
    Known("a pole that a number rounded otherwise lies beside", "values .*inf", names={"lgamma", "special.gammaln"}),
    Known("integers beyond the digits of a float", "values", names=BESSEL | {"corrcoef", "cov"}, when=some_extreme),
    Known("exponentials of what is not finite", "values", names={"matrix_exp", "linalg.matrix_exp"}, when=not_finite),
    Known("degrees beyond 16 bits, which PyTorch multiplies in them", "values", names=POLYNOMIALS, when=some_extreme),
    Known("a kept dtype decides what counts as zero", "values", names={"all", "any"}, form="out"),
    Known("sums of powers that cancel", "values", names={"logcumsumexp", "sinc", "special.sinc", "matrix_exp"}, when=some_complex),
    Known("inverses of what is not finite", "values", names={"linalg.inv", "inverse", "linalg.inv_ex"}, when=not_finite),
    Known("coordinates of complex numbers", "values", names={"gradient"}, when=some_complex),
    Known("memory that is read and written at once, or twice", "values", when=shares_memory),
    Known("indices that are named twice: which comes last is open", "values", names={
        "scatter", "put", "index_put", "index_copy", "masked_scatter", "index_fill", "scatter_reduce", "index_add"}),
    Known("a tensor of its own dtype keeps it", "dtype", names={
        "sum_to_size", "repeat_interleave", "trapezoid", "cumulative_trapezoid", "block_diag", "threshold_backward", "gradient",
        "binary_cross_entropy_with_logits", "ldexp"}),
    Known("inverses and counts that nobody asked for are empty", "shape", names={"unique_dim", "unique_consecutive", "unique_dim_consecutive", "_unique2"}),
    Known("a trapezoid of one place", "shape", names={"cumulative_trapezoid"}),
    Known("sums of bools, where NaN times a bool is a number", "values", names={"index_add", "all", "any", "isin", "bucketize", "isclose"}, when=some_bool),
    Known("numbers as wide as the other operand", "values", names={"isin", "bucketize", "floor", "view", "float_power", "ldexp"}),
    Known("bytes of numbers that differ in the last digit", "values", names={"view"}),
]

# Gradients.
GRADIENTS = [
    Known("of the loss itself; PyTorch's is that by what log_softmax was applied to", "gradient: values", names={"ctc_loss"}),
    Known("an empty list is a block of no columns, which PyTorch's formula passes over", "gradient: values", names={"block_diag"}, when=some_empty),
    Known("PyTorch's is zero behind the last element that was written", "gradient: values", names={"as_strided_scatter"}),
    Known("products of complex numbers, whose slopes are conjugated", "gradient: values", names={"index_reduce", "scatter_reduce"}, when=some_complex),
    Known("which of equal numbers a quantile is", "gradient: values", names={"quantile", "nanquantile"}),
    Known("matrices without an inverse", "gradient: values .*(inf|nan)", names={"linalg.slogdet", "slogdet", "linalg.det", "det", "logdet"}),
    Known("a logical operation in place has no gradient; PyTorch hands that of the result on", "gradient: (values|\\d)", names={
        "logical_and", "logical_or", "logical_xor", "logical_not", "lt", "le", "gt", "ge", "eq", "ne"}, form="_"),
    Known("a sparse tensor has a gradient where it has elements", "gradient: values", names={"to_sparse", "to_sparse_csr"}),
    Known("nextafter is a step, like sign", "gradient: 0 results", names={"nextafter"}),
    Known("what is not read has no gradient", "gradient: values", names={"cholesky_inverse", "cholesky_solve"}),
    Known("PyTorch's formula does not see the branch or the cast that the value took", "gradient: values", names={
        "silu", "elu", "cumprod", "polar", "addcmul", "renorm", "gradient", "cosine_similarity", "mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy"}),
    Known("an empty list of dimensions is counted as one place by PyTorch's formula", "gradient: values", names={"std", "var", "std_mean", "var_mean"}),
    Known("where a slope is infinite or no number", "gradient: values", when=not_finite),
    Known("slopes at zero", "gradient: values", names={"pow", "float_power", "div", "true_divide", "atan2", "log10", "xlogy", "special.xlogy", "special.xlog1py", "kl_div", "norm",
                                                          "linalg.norm", "linalg.vector_norm", "dist", "hardsigmoid", "hardswish", "hypot"}),
    Known("16-bit numbers are rounded once", "gradient: values", when=some_16_bits),
    Known("less exact in PyTorch", "gradient: values", names=LESS_EXACT | {"lgamma", "addcdiv"}),
    Known("the same dtype is the same tensor", "gradient: 1 results", names={"view"}),
    Known("tensors that differ in dtype since an earlier call", "gradient: \\d results"),
]


def is_known(call, what, values):
    """Whether a difference is one that docs/libtorch.md names."""
    return any(known.covers(call, what, values) for known in ACCEPTED + REFUSED + DIFFERENT + GRADIENTS)
