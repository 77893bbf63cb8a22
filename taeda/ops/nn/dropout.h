// Dropout. For the gradient the CPU keeps one bit of an element; accelerators draw the mask again.
// [operations, shape: same]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// While training, zeroes each element with probability p and multiplies the others by 1 / (1 - p);
/// else the input itself. On the CPU the mask is PyTorch's for the generator's state, in the order
/// of the elements in memory. (Srivastava et al., JMLR 15, 2014.)
Tensor dropout(const Tensor& input, double p = 0.5, bool training = true);
Tensor& dropout_(const Tensor& input, double p = 0.5, bool training = true);
/// dropout of whole channels, [N, C, *]: one draw for each pair of indices in dimensions 0 and 1.
Tensor feature_dropout(const Tensor& input, double p = 0.5, bool training = true);
/// Dropout that keeps mean and variance of normalised input, for SELU. (Klambauer et al., 2017.)
Tensor alpha_dropout(const Tensor& input, double p = 0.5, bool training = true);
/// `alpha_dropout` of whole channels.
Tensor feature_alpha_dropout(const Tensor& input, double p = 0.5, bool training = true);
/// feature_dropout, alpha_dropout and feature_alpha_dropout, written over the input.
Tensor& feature_dropout_(const Tensor& input, double p = 0.5, bool training = true);
Tensor& alpha_dropout_(const Tensor& input, double p = 0.5, bool training = true);
Tensor& feature_alpha_dropout_(const Tensor& input, double p = 0.5, bool training = true);

}  // namespace taeda::inline v0_2
