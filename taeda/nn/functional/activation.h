// Activations as functions, and their options. Formulas: ops/elementwise/activation.h.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/nn/softmax.h"

namespace taeda::inline v0_2::nn {

class ReLUOptions {
 public:
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  TAEDA_ARG(bool, inplace);
};
using ReLU6Options = ReLUOptions;
using SELUOptions = ReLUOptions;

class LeakyReLUOptions {
  TAEDA_ARG(double, negative_slope) = 0.01;
  TAEDA_ARG(bool, inplace) = false;
};

class ELUOptions {
  TAEDA_ARG(double, alpha) = 1.0;
  TAEDA_ARG(bool, inplace) = false;
};
using CELUOptions = ELUOptions;

class GELUOptions {
 public:
  GELUOptions(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  /// "none" or "tanh"
  TAEDA_ARG(std::string, approximate);
};

class HardtanhOptions {
  TAEDA_ARG(double, min_val) = -1.0;
  TAEDA_ARG(double, max_val) = 1.0;
  TAEDA_ARG(bool, inplace) = false;
};

class SoftplusOptions {
  TAEDA_ARG(double, beta) = 1.0;
  TAEDA_ARG(double, threshold) = 20.0;
};

/// Of softmax, log_softmax and softmin.
class SoftmaxOptions {
 public:
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
};
using LogSoftmaxOptions = SoftmaxOptions;
using SoftminOptions = SoftmaxOptions;

class PReLUOptions {
  TAEDA_ARG(int64_t, num_parameters) = 1;
  TAEDA_ARG(double, init) = 0.25;
};

/// The slope of negative values is drawn between the bounds.
class RReLUOptions {
  TAEDA_ARG(double, lower) = 1.0 / 8.0;
  TAEDA_ARG(double, upper) = 1.0 / 3.0;
  TAEDA_ARG(bool, inplace) = false;
};

class GLUOptions {
 public:
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
};

class ThresholdOptions {
 public:
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  TAEDA_ARG(double, threshold);
  TAEDA_ARG(double, value);
  TAEDA_ARG(bool, inplace) = false;
};

/// Of softshrink and hardshrink.
class ShrinkOptions {
 public:
  ShrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  TAEDA_ARG(double, lambda);
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

class SoftmaxFuncOptions {
 public:
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  TAEDA_ARG(int64_t, dim);
  /// The input is cast to it first.
  TAEDA_ARG(OptionalDtype, dtype);
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;
using SoftminFuncOptions = SoftmaxFuncOptions;

class RReLUFuncOptions {
  TAEDA_ARG(double, lower) = 1.0 / 8.0;
  TAEDA_ARG(double, upper) = 1.0 / 3.0;
  TAEDA_ARG(bool, training) = false;
  TAEDA_ARG(bool, inplace) = false;
};

class GumbelSoftmaxFuncOptions {
  TAEDA_ARG(double, tau) = 1.0;
  TAEDA_ARG(bool, hard) = false;
  TAEDA_ARG(int, dim) = -1;
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
  return taeda::gelu(x, o.approximate());
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
  return rrelu(input, o.lower(), o.upper(), o.training(), o.inplace());
}

/// softmax((logits + g) / tau) with g drawn from the standard Gumbel distribution. `hard`: one-hot
/// vectors at its largest elements, with its gradient (Jang et al. 2017, arXiv:1611.01144).
Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard = false, int64_t dim = -1);
inline Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& o = {}) {
  return gumbel_softmax(logits, o.tau(), o.hard(), o.dim());
}

}  // namespace functional
}  // namespace taeda::nn
