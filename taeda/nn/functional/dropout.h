// Dropout as functions, and its options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

/// Of modules Dropout, Dropout2d, Dropout3d, AlphaDropout and FeatureAlphaDropout.
struct DropoutOptions {
  /// The probability that an element, or a channel, is dropped, in [0, 1].
  Option<double> p = 0.5;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

/// Of dropout, dropout2d and dropout3d.
struct DropoutFuncOptions {
  /// The probability that an element, or a channel, is dropped, in [0, 1].
  Option<double> p = 0.5;
  /// Whether anything is dropped at all.
  Option<bool> training = true;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

/// Of alpha_dropout and feature_alpha_dropout.
struct AlphaDropoutFuncOptions {
  /// The probability that an element, or a channel, is dropped, in [0, 1].
  Option<double> p = 0.5;
  /// Whether anything is dropped at all.
  Option<bool> training = false;
  /// Whether the input is changed.
  Option<bool> inplace = false;
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;

/// Zeroes elements with probability p and scales the others by 1 / (1 - p). Throws ValueError
/// unless p is in [0, 1].
Tensor dropout(const Tensor& input, double p, bool training = true, bool inplace = false);
inline Tensor dropout(const Tensor& input, const DropoutFuncOptions& o = {}) {
  return dropout(input, o.p, o.training, o.inplace);
}
/// Zeroes whole channels (dimension 1).
Tensor dropout2d(const Tensor& input, double p, bool training = true, bool inplace = false);
inline Tensor dropout2d(const Tensor& input, const Dropout2dFuncOptions& o = {}) {
  return dropout2d(input, o.p, o.training, o.inplace);
}
Tensor dropout3d(const Tensor& input, double p, bool training = true, bool inplace = false);
inline Tensor dropout3d(const Tensor& input, const Dropout3dFuncOptions& o = {}) {
  return dropout3d(input, o.p, o.training, o.inplace);
}
/// Keeps mean and variance of SELU's outputs (Klambauer et al. 2017).
Tensor alpha_dropout(const Tensor& input, double p, bool training = false, bool inplace = false);
inline Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& o = {}) {
  return alpha_dropout(input, o.p, o.training, o.inplace);
}
/// The same for whole channels.
Tensor feature_alpha_dropout(const Tensor& input, double p, bool training = false,
                             bool inplace = false);
inline Tensor feature_alpha_dropout(const Tensor& input,
                                    const FeatureAlphaDropoutFuncOptions& o = {}) {
  return feature_alpha_dropout(input, o.p, o.training, o.inplace);
}

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
