// Dropout as functions, and its options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

/// Options of the modules Dropout, Dropout2d, Dropout3d, AlphaDropout and FeatureAlphaDropout,
/// which drop elements or whole channels while training and return their input in evaluation; the
/// shape stays.
struct DropoutOptions {
  /// The probability that an element, or a channel, is dropped, in [0, 1].
  Option<double> p = 0.5;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

/// Options of the functions dropout, for elements, and dropout2d and dropout3d, for channels of [N,
/// C, ...]; the shape stays.
struct DropoutFuncOptions {
  /// The probability that an element, or a channel, is dropped, in [0, 1].
  Option<double> p = 0.5;
  /// Whether anything is dropped at all; else the result is the input.
  Option<bool> training = true;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

/// Options of the functions alpha_dropout, for elements, and feature_alpha_dropout, for channels of
/// [N, C, ...]; the shape stays.
struct AlphaDropoutFuncOptions {
  /// The probability that an element, or a channel, is dropped, in [0, 1].
  Option<double> p = 0.5;
  /// Whether anything is dropped at all; else the result is the input.
  Option<bool> training = false;
  /// Whether the result is written into the input's memory; false by default. A leaf that requires
  /// a gradient is refused.
  Option<bool> inplace = false;
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;

/// Zeroes elements with probability p and scales the others by 1 / (1 - p). Throws ValueError
/// unless p is in [0, 1].
Tensor dropout(const Tensor& input, double p, bool training = true, bool inplace = false);
inline Tensor dropout(const Tensor& input, const DropoutFuncOptions& o = {}) {
  return dropout(input, o.p, o.training, o.inplace);
}
/// Zeroes whole channels, dimension 1 of [N, C, ...], with probability p and scales the others by 1
/// / (1 - p). Throws ValueError unless p is in [0, 1].
Tensor dropout2d(const Tensor& input, double p, bool training = true, bool inplace = false);
inline Tensor dropout2d(const Tensor& input, const Dropout2dFuncOptions& o = {}) {
  return dropout2d(input, o.p, o.training, o.inplace);
}
Tensor dropout3d(const Tensor& input, double p, bool training = true, bool inplace = false);
inline Tensor dropout3d(const Tensor& input, const Dropout3dFuncOptions& o = {}) {
  return dropout3d(input, o.p, o.training, o.inplace);
}
/// Sets elements to SELU's lower limit with probability p, and scales and shifts all so that mean 0
/// and variance 1 stay (Klambauer et al. 2017, arXiv:1706.02515). Throws ValueError unless p is in
/// [0, 1].
Tensor alpha_dropout(const Tensor& input, double p, bool training = false, bool inplace = false);
inline Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& o = {}) {
  return alpha_dropout(input, o.p, o.training, o.inplace);
}
/// Does what alpha_dropout does to whole channels, dimension 1 of [N, C, ...]. Throws ValueError
/// unless p is in [0, 1].
Tensor feature_alpha_dropout(const Tensor& input, double p, bool training = false,
                             bool inplace = false);
inline Tensor feature_alpha_dropout(const Tensor& input,
                                    const FeatureAlphaDropoutFuncOptions& o = {}) {
  return feature_alpha_dropout(input, o.p, o.training, o.inplace);
}

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
