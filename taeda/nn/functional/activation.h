// Activations as functions, and their options. Formulas: ops/elementwise/activation.h.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/nn/softmax.h"

namespace taeda::inline v0_2::nn {

/// Options of the modules ReLU, ReLU6 and SELU, whose input and result have the same shape, which
/// may be any.
struct ReLUOptions {
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};
using ReLU6Options = ReLUOptions;
using SELUOptions = ReLUOptions;

/// Options of the module LeakyReLU, max(0, x) + negative_slope min(0, x) of each element; the shape
/// stays.
struct LeakyReLUOptions {
  /// The factor of negative elements; 0.01 by default.
  Option<double> negative_slope = 0.01;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};

/// Options of the modules ELU, alpha (exp(x) - 1) for negative elements, and CELU, alpha (exp(x /
/// alpha) - 1); others stay, and so does the shape.
struct ELUOptions {
  /// Results of very negative elements tend to -alpha; 1 by default, not 0 for CELU.
  Option<double> alpha = 1.0;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};
using CELUOptions = ELUOptions;

/// Options of the module GELU, x times the normal distribution's probability of a number below x,
/// for each element; the shape stays.
struct GELUOptions {
  /// "none", the default, for the exact function, or "tanh" for its approximation by that function;
  /// any other text is an Error.
  Option<std::string> approximate = std::string("none");
};

/// Options of the module Hardtanh, which brings each element to between min_val and max_val; the
/// shape stays.
struct HardtanhOptions {
  /// The least value of the result, which smaller elements become; -1 by default.
  Option<double> min_val = -1.0;
  /// The largest value of the result, which larger elements become; it must be above `min_val`. 1
  /// by default.
  Option<double> max_val = 1.0;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};

/// Options of the module Softplus, log(1 + exp(beta x)) / beta of each element; the shape stays.
struct SoftplusOptions {
  /// The factor beta of elements: the larger it is, the closer is the result to max(0, x); 1 by
  /// default.
  Option<double> beta = 1.0;
  /// Elements with beta x above this number are their own results, which keeps exp from
  /// overflowing; 20 by default.
  Option<double> threshold = 20.0;
};

/// Options of the modules Softmax, LogSoftmax and Softmin, whose result has the input's shape.
struct SoftmaxOptions {
  /// The dimension along which results sum to 1; negative from the end.
  Option<int64_t> dim;
};
using LogSoftmaxOptions = SoftmaxOptions;
using SoftminOptions = SoftmaxOptions;

/// Options of the module PReLU, max(0, x) + a min(0, x) with learned slopes a; the shape stays.
struct PReLUOptions {
  /// How many slopes are learned: 1, the default, or one for each channel, dimension 1 of the
  /// input.
  Option<int64_t> num_parameters = 1;
  /// The value that all slopes have at first; 0.25 by default.
  Option<double> init = 0.25;
};

/// Options of the module RReLU, whose slopes of negative elements are drawn while training and are
/// the mean of the bounds in evaluation; the shape stays.
struct RReLUOptions {
  /// The least slope of negative elements, not above `upper`; 1/8 by default.
  Option<double> lower = 1.0 / 8.0;
  /// The largest slope of negative elements; 1/3 by default.
  Option<double> upper = 1.0 / 3.0;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};

/// Options of the module GLU, which halves a dimension: a sigmoid(b), a and b its first and second
/// half.
struct GLUOptions {
  /// The dimension that is halved; its size is even.
  Option<int64_t> dim = -1;
};

/// Options of the module Threshold, which replaces each element that is not above a threshold; the
/// shape stays.
struct ThresholdOptions {
  /// The threshold: elements that are at most this large are replaced.
  Option<double> threshold;
  /// The value that stands in the place of replaced elements.
  Option<double> value;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};

/// Options of the modules Softshrink, which moves each element towards 0 by lambda, and Hardshrink,
/// which zeroes those within +-lambda; the shape stays.
struct ShrinkOptions {
  /// What lies within +-lambda becomes 0; at least 0 for Softshrink.
  Option<double> lambda = 0.5;
};
using SoftshrinkOptions = ShrinkOptions;
using HardshrinkOptions = ShrinkOptions;

namespace functional {

using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using SELUFuncOptions = SELUOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ELUFuncOptions = ELUOptions;
using CELUFuncOptions = CELUOptions;
using GELUFuncOptions = GELUOptions;
using HardtanhFuncOptions = HardtanhOptions;
using SoftplusFuncOptions = SoftplusOptions;
using GLUFuncOptions = GLUOptions;
using ThresholdFuncOptions = ThresholdOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using HardshrinkFuncOptions = HardshrinkOptions;

/// Options of the functions softmax, log_softmax and softmin, whose result has the input's shape.
struct SoftmaxFuncOptions {
  /// The dimension along which results sum to 1; negative from the end.
  Option<int64_t> dim;
  /// The dtype that the input is converted to first, and that the result has; the input's own by
  /// default.
  Option<OptionalDtype> dtype = OptionalDtype();
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;
using SoftminFuncOptions = SoftmaxFuncOptions;

/// Options of the function rrelu, whose result has the input's shape.
struct RReLUFuncOptions {
  /// The least slope of negative elements, not above `upper`; 1/8 by default.
  Option<double> lower = 1.0 / 8.0;
  /// The largest slope of negative elements; 1/3 by default.
  Option<double> upper = 1.0 / 3.0;
  /// Whether a slope is drawn for each negative element; else, and by default, all are the mean of
  /// the bounds.
  Option<bool> training = false;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};

/// Options of the function gumbel_softmax, which draws from the distribution whose logarithms of
/// probabilities are given; the result has the input's shape.
struct GumbelSoftmaxFuncOptions {
  /// The temperature, which must be positive: the smaller it is, the closer are results to one-hot;
  /// 1 by default.
  Option<double> tau = 1.0;
  /// Whether results are one-hot, with the gradient of what is not; false by default.
  Option<bool> hard = false;
  /// The dimension along which results sum to 1; negative from the end.
  Option<int> dim = -1;
};

// The functions without options or flags are those of ops/elementwise/activation.h.
using taeda::gelu, taeda::softplus, taeda::softsign, taeda::silu, taeda::mish, taeda::hardswish,
    taeda::hardsigmoid;
using taeda::tanhshrink, taeda::softshrink, taeda::hardshrink, taeda::prelu, taeda::glu;

Tensor relu(const Tensor& x, bool inplace = false);
Tensor relu(const Tensor& x, const ReLUFuncOptions& o);
Tensor relu6(const Tensor& x, bool inplace = false);
Tensor relu6(const Tensor& x, const ReLU6FuncOptions& o);
Tensor selu(const Tensor& x, bool inplace = false);
Tensor selu(const Tensor& x, const SELUFuncOptions& o);
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01, bool inplace = false);
Tensor leaky_relu(const Tensor& x, const LeakyReLUFuncOptions& o);
Tensor elu(const Tensor& x, double alpha = 1, bool inplace = false);
Tensor elu(const Tensor& x, const ELUFuncOptions& o);
Tensor celu(const Tensor& x, double alpha = 1, bool inplace = false);
Tensor celu(const Tensor& x, const CELUFuncOptions& o);
Tensor hardtanh(const Tensor& x, double min_val = -1, double max_val = 1, bool inplace = false);
Tensor hardtanh(const Tensor& x, const HardtanhFuncOptions& o);
Tensor threshold(const Tensor& x, double threshold, double value, bool inplace = false);
Tensor threshold(const Tensor& x, const ThresholdFuncOptions& o);
template <class = void>
Tensor gelu(const Tensor& x, const GELUFuncOptions& o) {
  return taeda::gelu(x, o.approximate);
}
Tensor softplus(const Tensor& x, const SoftplusFuncOptions& o);
template <class = void>
Tensor softshrink(const Tensor& x, const SoftshrinkFuncOptions& o) {
  return taeda::softshrink(x, o.lambda());
}
template <class = void>
Tensor hardshrink(const Tensor& x, const HardshrinkFuncOptions& o) {
  return taeda::hardshrink(x, o.lambda());
}
Tensor glu(const Tensor& x, const GLUFuncOptions& o);
Tensor logsigmoid(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor tanh(const Tensor& x);

using taeda::softmax, taeda::log_softmax, taeda::softmin;
Tensor softmax(const Tensor& x, const SoftmaxFuncOptions& o);
Tensor log_softmax(const Tensor& x, const LogSoftmaxFuncOptions& o);
Tensor softmin(const Tensor& x, const SoftminFuncOptions& o);

/// x where it is positive, else x times a slope: while training one drawn uniformly for each
/// element, otherwise the mean of the bounds (Xu et al. 2015, arXiv:1505.00853). Throws Error for
/// bounds in the wrong order.
Tensor rrelu(const Tensor& input, double lower, double upper, bool training = false,
             bool inplace = false);
inline Tensor rrelu(const Tensor& input, const RReLUFuncOptions& o = {}) {
  return rrelu(input, o.lower, o.upper, o.training, o.inplace);
}

/// softmax((logits + g) / tau) with g drawn from the standard Gumbel distribution. `hard`: one-hot
/// vectors at its largest elements, with its gradient (Jang et al. 2017, arXiv:1611.01144).
Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard = false, int64_t dim = -1);
inline Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& o = {}) {
  return gumbel_softmax(logits, o.tau, o.hard, o.dim);
}

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
