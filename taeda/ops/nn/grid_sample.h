// Images and volumes at the places of a grid. Not part of the public interface.
#pragma once

#include "taeda/kernels/grid_sample.h"

namespace taeda::inline v0_2::detail {

/// The values of `input` [N, C, ...] at the places of `grid` [N, ..., dimensions], of two or three
/// spatial dimensions that fit, with gradients of every order. Bicubic takes images alone.
Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampling& sampling);

}  // namespace taeda::inline v0_2::detail
