// Pooling as functions. The forms with plain arguments are those of ops/pool.h.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/pool.h"

namespace taeda::nn {

template <size_t D>
class MaxPoolOptions {
 public:
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride);
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
  TAEDA_ARG(bool, ceil_mode) = false;
};
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;

template <size_t D>
class AvgPoolOptions {
 public:
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride);
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(bool, ceil_mode) = false;
  TAEDA_ARG(bool, count_include_pad) = true;
  TAEDA_ARG(std::optional<int64_t>, divisor_override);
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;

template <size_t D>
class AdaptivePoolOptions {
 public:
  AdaptivePoolOptions(ExpandingArray<D> output_size) : output_size_(output_size) {}
  TAEDA_ARG(ExpandingArray<D>, output_size);
};
using AdaptiveAvgPool1dOptions = AdaptivePoolOptions<1>;
using AdaptiveAvgPool2dOptions = AdaptivePoolOptions<2>;
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<1>;
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<2>;

namespace functional {
using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using taeda::adaptive_avg_pool1d, taeda::adaptive_avg_pool2d;
using taeda::max_pool1d, taeda::max_pool2d, taeda::avg_pool1d, taeda::avg_pool2d;
using taeda::max_pool1d_with_indices, taeda::max_pool2d_with_indices;

inline Tensor max_pool1d(const Tensor& x, const MaxPool1dFuncOptions& o) {
  return taeda::max_pool1d(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                           o.ceil_mode());
}
inline Tensor max_pool2d(const Tensor& x, const MaxPool2dFuncOptions& o) {
  return taeda::max_pool2d(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                           o.ceil_mode());
}
/// Values and the flat positions, in the plane, that they come from.
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x,
                                                          const MaxPool2dFuncOptions& o) {
  return taeda::max_pool2d_with_indices(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(),
                                        o.ceil_mode());
}
inline Tensor avg_pool1d(const Tensor& x, const AvgPool1dFuncOptions& o) {
  return taeda::avg_pool1d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                           o.count_include_pad());
}
inline Tensor avg_pool2d(const Tensor& x, const AvgPool2dFuncOptions& o) {
  return taeda::avg_pool2d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(),
                           o.count_include_pad(), o.divisor_override());
}
inline Tensor adaptive_avg_pool1d(const Tensor& x, const AdaptiveAvgPool1dFuncOptions& o) {
  return taeda::adaptive_avg_pool1d(x, o.output_size());
}
inline Tensor adaptive_avg_pool2d(const Tensor& x, const AdaptiveAvgPool2dFuncOptions& o) {
  return taeda::adaptive_avg_pool2d(x, o.output_size());
}
inline Tensor adaptive_max_pool1d(const Tensor& x, const AdaptiveMaxPool1dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool1d(x, o.output_size()));
}
inline Tensor adaptive_max_pool2d(const Tensor& x, const AdaptiveMaxPool2dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool2d(x, o.output_size()));
}

}  // namespace functional
}  // namespace taeda::nn
