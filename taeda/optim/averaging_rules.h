// How averages of parameters move: `AveragedParameters` and Python's averaged models are faces.
#pragma once

#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::optim {

/// average += weight * (value - average), in place, for tensors of the same sizes in pairs. Values
/// may have another dtype and device; averages of whole numbers are cut to such. A weight of 1
/// copies. Throws Error for other tensors and ValueError for a NaN, and changes nothing then.
void move_averages(const std::vector<Tensor>& averages, const std::vector<Tensor>& values,
                   double weight);

}  // namespace taeda::inline v0_2::optim
