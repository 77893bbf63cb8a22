// Activations as functions, and their options. Formulas: ops/elementwise/activation.h.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/nn/softmax.h"

namespace taeda::inline v0_2::nn {

/// Of modules ReLU, ReLU6 and SELU.
struct ReLUOptions {
  /// Whether the input is changed.
  Option<bool> inplace = false;
};
using ReLU6Options = ReLUOptions;
using SELUOptions = ReLUOptions;

/// Of module LeakyReLU.
struct LeakyReLUOptions {
  /// The slope of negative values.
  Option<double> negative_slope = 0.01;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};

/// Of modules ELU and CELU.
struct ELUOptions {
  /// The value that negative ones tend to is -alpha.
  Option<double> alpha = 1.0;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};
using CELUOptions = ELUOptions;

/// Of module GELU.
struct GELUOptions {
  /// "none", or "tanh" for the approximation by that function.
  Option<std::string> approximate = std::string("none");
};

/// Of module Hardtanh.
struct HardtanhOptions {
  /// The smallest value of the result.
  Option<double> min_val = -1.0;
  /// The largest one, above `min_val`.
  Option<double> max_val = 1.0;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};

/// Of module Softplus: log(1 + exp(beta x)) / beta.
struct SoftplusOptions {
  /// How sharp the bend is.
  Option<double> beta = 1.0;
  /// Where beta x is larger, the result is x.
  Option<double> threshold = 20.0;
};

/// Of modules Softmax, LogSoftmax and Softmin.
struct SoftmaxOptions {
  /// The dimension along which results sum to 1; negative from the end.
  Option<int64_t> dim;
};
using LogSoftmaxOptions = SoftmaxOptions;
using SoftminOptions = SoftmaxOptions;

/// Of module PReLU.
struct PReLUOptions {
  /// How many slopes are learned: 1, or one for each channel.
  Option<int64_t> num_parameters = 1;
  /// What they are at first.
  Option<double> init = 0.25;
};

/// Of module RReLU.
struct RReLUOptions {
  /// The slope of negative values is drawn from here on ...
  Option<double> lower = 1.0 / 8.0;
  /// ... up to here.
  Option<double> upper = 1.0 / 3.0;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};

/// Of module GLU.
struct GLUOptions {
  /// The dimension that is halved; its size is even.
  Option<int64_t> dim = -1;
};

/// Of module Threshold.
struct ThresholdOptions {
  /// What is not above it is replaced ...
  Option<double> threshold;
  /// ... by this.
  Option<double> value;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};

/// Of modules Softshrink and Hardshrink.
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

/// Of softmax, log_softmax and softmin.
struct SoftmaxFuncOptions {
  /// The dimension along which results sum to 1; negative from the end.
  Option<int64_t> dim;
  /// The input is cast to it first.
  Option<OptionalDtype> dtype = OptionalDtype();
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;
using SoftminFuncOptions = SoftmaxFuncOptions;

/// Of rrelu.
struct RReLUFuncOptions {
  /// The slope of negative values is drawn from here on ...
  Option<double> lower = 1.0 / 8.0;
  /// ... up to here.
  Option<double> upper = 1.0 / 3.0;
  /// Whether slopes are drawn; else all are the mean of the bounds.
  Option<bool> training = false;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};

/// Of gumbel_softmax.
struct GumbelSoftmaxFuncOptions {
  /// The temperature, above 0.
  Option<double> tau = 1.0;
  /// Whether results are one-hot.
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
