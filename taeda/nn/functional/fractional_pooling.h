// Max pooling over windows at random places, with options.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/fractional_pool.h"

namespace taeda::inline v0_2::nn {

template <size_t D>
class FractionalMaxPoolOptions {
 public:
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  /// Sizes of the result ...
  TAEDA_ARG(std::optional<ExpandingArray<D>>, output_size);
  /// ... or their share of the input's, each in (0, 1).
  using ExpandingArrayDouble = ExpandingArray<D, double>;
  TAEDA_ARG(std::optional<ExpandingArrayDouble>, output_ratio);
  /// The numbers in [0, 1) that decide where windows begin, [N, C, D], instead of drawn ones.
  TAEDA_ARG(Tensor, _random_samples);
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
/// The values alone.
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
