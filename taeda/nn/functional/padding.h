// Padding.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn::functional {

/// Options of the function pad, which adds elements at the ends of the last dimensions.
struct PadFuncOptions {
  /// Elements before and after the last dimension, before and after the one before it, and so on;
  /// negative ones are cut off.
  Option<std::vector<int64_t>> pad;
  /// What the added elements are: kConstant, the default, kReflect, kReplicate or kCircular.
  Option<PaddingMode> mode = kConstant;
  /// The value of added elements in the mode kConstant; 0 by default.
  Option<double> value = 0;
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

}  // namespace taeda::inline v0_2::nn::functional
