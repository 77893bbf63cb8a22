// What draws first values, with any generator: functions of `init.h` and of Python are its faces.
#pragma once

#include <optional>

#include "taeda/device/generator.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::init {

/// Fills a tensor with normal numbers within [a, b]. What falls outside is drawn again; where less
/// than 0.3 of the distribution lies inside, uniform numbers are drawn, and kept with the
/// probability that their density has in the densest one's.
void draw_trunc_normal(Tensor& tensor, double mean, double std, double a, double b,
                       const std::optional<Generator>& generator = {});

}  // namespace taeda::inline v0_2::nn::init
