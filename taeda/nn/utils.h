// Helpers for gradients and parameter lists.
#pragma once

#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::utils {

/// Scales all gradients in place so that their norm, taken over all elements of all of them, is at
/// most `max_norm`, and gives the norm before. Parameters without a gradient do not count.
/// Throws ValueError for a negative `max_norm` and for NaN, and, with `error_if_nonfinite`, Error
/// if the norm is infinite or nan.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false);
double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false);

/// Clamps every element of every gradient to [-clip_value, clip_value]. Throws ValueError for a
/// negative number and for NaN.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
void clip_grad_value_(const Tensor& parameter, double clip_value);

/// The elements of all parameters as one vector.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// Fills the parameters with consecutive pieces of the vector. Throws Error if the sizes do not
/// fit.
void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters);

}  // namespace taeda::inline v0_2::nn::utils
