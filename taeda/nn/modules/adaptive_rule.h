// The adaptive softmax of targets as a function over tensors: what the module and Python's compute.
#pragma once

#include <functional>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::detail {

/// The log-probabilities of targets. `cutoffs` end with the number of classes; `head` gives the
/// logarithms of the first softmax, `cluster` those of the i-th cluster's for some of the rows.
Tensor adaptive_log_softmax(const Tensor& input, const Tensor& target,
                            const std::vector<int64_t>& cutoffs,
                            const std::function<Tensor(const Tensor&)>& head,
                            const std::function<Tensor(size_t, const Tensor&)>& cluster);

}  // namespace taeda::inline v0_2::nn::detail
