// Gradients limited in size, as functions over tensors: those of `utils.h` and of Python are faces.
#pragma once

#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::utils {

/// The norm of order `norm_type` of all elements of all tensors together: a float64 number on the
/// first one's device, which nothing waits for. Orders from 0 down are taken of the tensors' norms.
/// 0 for none. Sparse tensors count with the sums of their entries.
Tensor norm_of_all(const std::vector<Tensor>& tensors, double norm_type);
/// Throws Error if a norm, whose order the text names, is infinite or nan. Waits for its device.
void check_finite_norm(const Tensor& norm, const std::string& order);
/// Multiplies the gradients of parameters by `max_norm / (norm + 1e-6)` if that is below 1, with
/// one pass over those of a dtype and device. Waits for no device: the norm may lie on one.
void scale_gradients(const std::vector<Tensor>& parameters, double max_norm, const Tensor& norm);
/// All three, of the gradients that parameters have: their norm before. Without an order as text
/// every norm will do. Throws ValueError for a negative `max_norm` and for NaN.
Tensor clip_gradients(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                      const std::string& finite_order = {});

}  // namespace taeda::inline v0_2::nn::utils
