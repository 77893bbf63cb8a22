// The rule of gradient scaling over tensors. GradScaler, here and in Python, is its face: it keeps
// the scale, and decides when.
#pragma once

#include <vector>

#include "taeda/kernels/param_list.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::amp {

/// The gradients that parameters have, as lists of one device and dtype. Throws ValueError for
/// float16 ones, unless they are allowed.
std::vector<ParamList> scaled_gradients(const std::vector<Tensor>& parameters, bool allow_half);

/// Multiplies the gradients of each list by `factor`, or by `live`, a number that need not be on
/// the list's device. `found` has a float32 number for each device, made here where it is missing,
/// that becomes 1 where a gradient was not finite. Nobody waits.
void multiply_gradients(std::vector<ParamList>& lists, double factor, const Tensor& live,
                        std::vector<Tensor>& found);

/// The scale (float32) and its growth tracker (int32) of the next iteration, in place, by whether
/// `found_inf` (float32) is not 0: tensors of one number each.
void move_scale(const Tensor& scale, const Tensor& growth_tracker, const Tensor& found_inf,
                double growth_factor, double backoff_factor, int64_t growth_interval);

}  // namespace taeda::inline v0_2::amp
