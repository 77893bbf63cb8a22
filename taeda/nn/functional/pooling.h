// Pooling as functions. The forms with plain arguments are those of ops/pool.h.
#pragma once

#include "taeda/nn/options/pooling.h"
#include "taeda/ops/pool.h"

namespace taeda::nn::functional {

using taeda::max_pool1d, taeda::max_pool2d, taeda::avg_pool1d, taeda::avg_pool2d;
using taeda::adaptive_avg_pool1d, taeda::adaptive_avg_pool2d;

inline Tensor max_pool1d(const Tensor& x, const MaxPool1dFuncOptions& o) {
  return taeda::max_pool1d(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
inline Tensor max_pool2d(const Tensor& x, const MaxPool2dFuncOptions& o) {
  return taeda::max_pool2d(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
/// Values and the flat positions, in the plane, that they come from.
inline std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, const MaxPool2dFuncOptions& o) {
  return taeda::max_pool2d_with_indices(x, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());
}
inline Tensor avg_pool1d(const Tensor& x, const AvgPool1dFuncOptions& o) {
  return taeda::avg_pool1d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad());
}
inline Tensor avg_pool2d(const Tensor& x, const AvgPool2dFuncOptions& o) {
  return taeda::avg_pool2d(x, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                           o.divisor_override());
}
inline Tensor adaptive_avg_pool1d(const Tensor& x, const AdaptiveAvgPool1dFuncOptions& o) {
  return taeda::adaptive_avg_pool1d(x, o.output_size());
}
inline Tensor adaptive_avg_pool2d(const Tensor& x, const AdaptiveAvgPool2dFuncOptions& o) {
  return taeda::adaptive_avg_pool2d(x, o.output_size());
}
inline Tensor adaptive_max_pool2d(const Tensor& x, const AdaptiveMaxPool2dFuncOptions& o) {
  return std::get<0>(taeda::adaptive_max_pool2d(x, o.output_size()));
}

}  // namespace taeda::nn::functional
