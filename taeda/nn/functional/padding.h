// Padding.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn::functional {

class PadFuncOptions {
 public:
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  TAEDA_ARG(std::vector<int64_t>, pad);
  TAEDA_ARG(PaddingMode, mode) = kConstant;
  TAEDA_ARG(double, value) = 0;
};

/// Adds pad[0] entries before and pad[1] after the last dimension, pad[2] and pad[3] around the one
/// before it, and so on. Negative numbers cut (constant mode only). Throws Error for an odd number
/// of entries, for more pairs than dimensions, and for padding that reflection or wrapping cannot
/// fill.
Tensor pad(const Tensor& input, IntArrayRef pad, PaddingMode mode = kConstant, double value = 0);
template <class = void>
Tensor pad(const Tensor& input, const PadFuncOptions& o) {
  return pad(input, o.pad(), o.mode(), o.value());
}

}  // namespace taeda::nn::functional
