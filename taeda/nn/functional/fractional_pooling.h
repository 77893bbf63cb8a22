// Max pooling over windows at random places, with options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/fractional_pool.h"

namespace taeda::inline v0_2::nn {

/// Options of the modules FractionalMaxPool2d and FractionalMaxPool3d: exactly one of `output_size`
/// and `output_ratio` must be given, else constructing throws ValueError.
template <size_t D>
struct FractionalMaxPoolOptions {
  /// The sizes of a window, in elements.
  Option<ExpandingArray<D>> kernel_size;
  /// The D last sizes of the result; for images a size and its window are together at most the
  /// input's size and 1, for volumes the input's size.
  Option<std::optional<ExpandingArray<D>>> output_size = std::nullopt;
  /// The result's D last sizes as shares of the input's, each between 0 and 1.
  Option<std::optional<ExpandingArray<D, double>>> output_ratio = std::nullopt;
  /// The numbers in [0, 1) that decide where windows begin, [N, C, D], instead of drawn ones.
  Option<Tensor> _random_samples = Tensor();
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

namespace functional {
using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;
using taeda::fractional_max_pool2d, taeda::fractional_max_pool3d;

/// As ops/nn/fractional_pool.h, with positions in the flattened channel. Exactly one of
/// `output_size` and `output_ratio` is given; throws ValueError where neither is.
std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(
    const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(
    const Tensor& input, const FractionalMaxPool3dFuncOptions& options);
/// The largest values of windows at random places, [N, C, ...] or [C, ...], without their
/// positions. Throws ValueError unless one of `output_size` and `output_ratio` is given.
inline Tensor fractional_max_pool2d(const Tensor& input,
                                    const FractionalMaxPool2dFuncOptions& options) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, options));
}
inline Tensor fractional_max_pool3d(const Tensor& input,
                                    const FractionalMaxPool3dFuncOptions& options) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, options));
}

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
