// The gradients of parameters as the multi-tensor kernels take them: what clipping and gradient
// scaling share. Not part of the public interface.
#pragma once

#include <vector>

#include "taeda/kernels/param_list.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// Adds the gradient of `parameter`, which must have one, to the list of its device and dtype.
/// Kernels change it in place. One with gaps between its elements is first replaced by a dense one,
/// a sparse one by a coalesced one, whose values are then in the list; complex ones are pairs.
void add_gradient(std::vector<ParamList>& lists, const Tensor& parameter);

/// Adds a gradient without gaps to the list of its device and dtype.
void add_to_lists(std::vector<ParamList>& lists, const Tensor& grad);

/// The norm of order `p` > 0 of all elements of all lists together: a float64 number on the first
/// one's device.
Tensor gradient_norm(const std::vector<ParamList>& lists, double p);
/// Multiplies gradients whose norm is `norm` so that it is at most `max_norm`; whether it had to. A
/// norm on a device is not waited for, and the answer is true.
bool clip_gradients(std::vector<ParamList> lists, const Tensor& norm, double max_norm);

/// Forgets the gradient of `parameter`, if it has one, or makes it zero in place and without
/// history.
void clear_gradient(const Tensor& parameter, bool set_to_none);

/// Tells autograd that the gradients have been changed.
void bump_gradients(const std::vector<Tensor>& parameters);

}  // namespace taeda::inline v0_2::detail
