// Activation functions. Most have an in-place form with a trailing underscore; sigmoid and
// tanh are in ops/elementwise/unary.h.
// [operations, out, dtypes: floating, shape: same]
#pragma once

#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// max(x, 0); NaN stays NaN, and the gradient at 0 is 0.
/// [method, dtypes: floating integral]
Tensor relu(const Tensor& self);
/// [method, not in-place, not dtypes]
Tensor& relu_(const Tensor& self);
/// min(max(x, 0), 6).
/// [dtypes: floating integral]
Tensor relu6(const Tensor& self);
Tensor& relu6_(const Tensor& self);
/// x for x > 0, slope * x below.
Tensor leaky_relu(const Tensor& self, RealArg negative_slope = 0.01);
Tensor& leaky_relu_(const Tensor& self, RealArg negative_slope = 0.01);
/// leaky_relu with a learned slope: one number, or one for each channel (dimension 1).
/// [method, autocast: lower, dtypes: floating integral bool]
Tensor prelu(const Tensor& self, const Tensor& weight);
/// x for x > 0, alpha (e^x - 1) below (Clevert et al., arXiv:1511.07289).
Tensor elu(const Tensor& self, RealArg alpha = 1, RealArg scale = 1, RealArg input_scale = 1);
Tensor& elu_(const Tensor& self, RealArg alpha = 1, RealArg scale = 1, RealArg input_scale = 1);
/// max(0, x) + min(0, alpha (e^(x / alpha) - 1)) (Barron, arXiv:1704.07483). Throws Error for alpha
/// 0.
Tensor celu(const Tensor& self, RealArg alpha = 1);
Tensor& celu_(const Tensor& self, RealArg alpha = 1);
/// elu with the constants that keep mean 0 and variance 1 (Klambauer et al., arXiv:1706.02515).
Tensor selu(const Tensor& self);
Tensor& selu_(const Tensor& self);
/// x Phi(x) with the normal distribution function ("none") or its approximation by tanh ("tanh").
/// Throws Error for another name.
Tensor gelu(const Tensor& self, std::string_view approximate = "none");
Tensor& gelu_(const Tensor& self, std::string_view approximate = "none");
/// x sigmoid(x).
/// [dtypes: floating complex]
Tensor silu(const Tensor& self);
Tensor& silu_(const Tensor& self);
/// x tanh(softplus(x)).
Tensor mish(const Tensor& self);
Tensor& mish_(const Tensor& self);
/// log(1 + e^(beta x)) / beta, and x where beta x > threshold.
/// [autocast: float32 accelerators]
Tensor softplus(const Tensor& self, RealArg beta = 1, RealArg threshold = 20);
/// x / (1 + |x|).
/// [not dtypes]
Tensor softsign(const Tensor& self);
/// min(max(x, low), high); the gradient at the ends is 0. Bounds of integers are cut.
/// [dtypes: floating integral]
Tensor hardtanh(const Tensor& self, RealArg min_val = -1, RealArg max_val = 1);
Tensor& hardtanh_(const Tensor& self, RealArg min_val = -1, RealArg max_val = 1);
/// min(max(x + 3, 0), 6) / 6.
Tensor hardsigmoid(const Tensor& self);
Tensor& hardsigmoid_(const Tensor& self);
/// x hardsigmoid(x) (Howard et al., arXiv:1905.02244).
Tensor hardswish(const Tensor& self);
Tensor& hardswish_(const Tensor& self);
/// x - tanh(x).
/// [dtypes: floating complex integral]
Tensor tanhshrink(const Tensor& self);
/// x moved by lambd towards 0, and 0 within lambd of it. Throws Error for a negative lambd.
Tensor softshrink(const Tensor& self, RealArg lambd = 0.5);
/// x, but 0 where |x| <= lambd.
/// [method]
Tensor hardshrink(const Tensor& self, RealArg lambd = 0.5);
/// x for x > threshold, else value; for integers both are cut.
/// [dtypes: floating integral]
Tensor threshold(const Tensor& self, RealArg threshold, RealArg value);
Tensor& threshold_(const Tensor& self, RealArg threshold, RealArg value);
/// log(sigmoid(x)).
Tensor log_sigmoid(const Tensor& self);
/// a * sigmoid(b) of the halves a, b of dimension `dim`. Throws Error if its size is odd.
/// [not dtypes, not shape]
Tensor glu(const Tensor& self, int64_t dim = -1);

// Gradients that are operations: `grad` times the derivative at `self`.

/// grad where self > threshold.
/// [not out, not dtypes]
Tensor threshold_backward(const Tensor& grad, const Tensor& self, double threshold);
Tensor gelu_backward(const Tensor& grad, const Tensor& self, std::string_view approximate = "none");
Tensor silu_backward(const Tensor& grad, const Tensor& self);

}  // namespace taeda::inline v0_2
