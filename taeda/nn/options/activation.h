// Options of activations.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"

namespace taeda::nn {

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

}  // namespace functional
}  // namespace taeda::nn
