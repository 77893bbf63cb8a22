// Max pooling over windows at random places as modules.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/fractional_pooling.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

/// The common base of FractionalMaxPool2d and FractionalMaxPool3d. `_random_samples` of the
/// options, [N, C, D], is a buffer.
template <size_t D, class Derived>
class FractionalMaxPoolImpl : public Cloneable<Derived> {
 public:
  using Options = FractionalMaxPoolOptions<D>;
  FractionalMaxPoolImpl(ExpandingArray<D> kernel_size)
      : FractionalMaxPoolImpl(Options{kernel_size}) {}
  /// Throws ValueError unless one of `output_size` and `output_ratio` is given, and ratios are
  /// between 0 and 1.
  explicit FractionalMaxPoolImpl(Options o) : options(std::move(o)) {
    FractionalMaxPoolImpl::reset();
  }
  void reset() override {
    Tensor& samples = options._random_samples;
    if (samples.defined()) samples = this->register_buffer("_random_samples", samples.detach());
    TAEDA_CHECK_VALUE(options.output_size || options.output_ratio, "FractionalMaxPool", D,
                      "d requires specifying either an output size, or a pooling ratio");
    TAEDA_CHECK_VALUE(!options.output_size || !options.output_ratio,
                      "only one of output_size and output_ratio may be specified");
    if (!options.output_ratio) return;
    for (const double ratio : *options.output_ratio)
      TAEDA_CHECK_VALUE(ratio > 0 && ratio < 1, "output_ratio must be between 0 and 1 (got ", ratio,
                        ")");
  }
  void settings(Settings& out) const override;
  Options options;
};

class FractionalMaxPool2dImpl : public FractionalMaxPoolImpl<2, FractionalMaxPool2dImpl> {
 public:
  using FractionalMaxPoolImpl::FractionalMaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::fractional_max_pool2d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    return functional::fractional_max_pool2d_with_indices(input, options);
  }
};
TAEDA_MODULE(FractionalMaxPool2d);

class FractionalMaxPool3dImpl : public FractionalMaxPoolImpl<3, FractionalMaxPool3dImpl> {
 public:
  using FractionalMaxPoolImpl::FractionalMaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::fractional_max_pool3d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    return functional::fractional_max_pool3d_with_indices(input, options);
  }
};
TAEDA_MODULE(FractionalMaxPool3d);

}  // namespace taeda::inline v0_2::nn
