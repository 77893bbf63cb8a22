// Pooling.
#pragma once

#include "taeda/nn/functional/pooling.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/modules/options_module.h"

namespace taeda::inline v0_2::nn {

template <size_t D, class Derived>
class MaxPoolImpl : public detail::OptionsModule<MaxPoolOptions<D>, Derived> {
 public:
  using detail::OptionsModule<MaxPoolOptions<D>, Derived>::OptionsModule;
  MaxPoolImpl(ExpandingArray<D> kernel_size) : MaxPoolImpl(MaxPoolOptions<D>{kernel_size}) {}
  void settings(Settings& out) const override;
};

class MaxPool1dImpl : public MaxPoolImpl<1, MaxPool1dImpl> {
 public:
  using MaxPoolImpl::MaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::max_pool1d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    return functional::max_pool1d_with_indices(input, options);
  }
};
TAEDA_MODULE(MaxPool1d);

class MaxPool2dImpl : public MaxPoolImpl<2, MaxPool2dImpl> {
 public:
  using MaxPoolImpl::MaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::max_pool2d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    return functional::max_pool2d_with_indices(input, options);
  }
};
TAEDA_MODULE(MaxPool2d);

class MaxPool3dImpl : public MaxPoolImpl<3, MaxPool3dImpl> {
 public:
  using MaxPoolImpl::MaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::max_pool3d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    return functional::max_pool3d_with_indices(input, options);
  }
};
TAEDA_MODULE(MaxPool3d);

template <size_t D, class Derived>
class AvgPoolImpl : public detail::OptionsModule<AvgPoolOptions<D>, Derived> {
 public:
  using detail::OptionsModule<AvgPoolOptions<D>, Derived>::OptionsModule;
  AvgPoolImpl(ExpandingArray<D> kernel_size) : AvgPoolImpl(AvgPoolOptions<D>{kernel_size}) {}
  void settings(Settings& out) const override;
};

class AvgPool1dImpl : public AvgPoolImpl<1, AvgPool1dImpl> {
 public:
  using AvgPoolImpl::AvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::avg_pool1d(input, options); }
};
TAEDA_MODULE(AvgPool1d);

class AvgPool2dImpl : public AvgPoolImpl<2, AvgPool2dImpl> {
 public:
  using AvgPoolImpl::AvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::avg_pool2d(input, options); }
};
TAEDA_MODULE(AvgPool2d);

class AvgPool3dImpl : public AvgPoolImpl<3, AvgPool3dImpl> {
 public:
  using AvgPoolImpl::AvgPoolImpl;
  Tensor forward(const Tensor& input) { return functional::avg_pool3d(input, options); }
};
TAEDA_MODULE(AvgPool3d);

/// Pools to `output_size`, whatever the input's sizes; channels and batch stay.
template <size_t D, class Derived>
class AdaptivePoolImpl : public detail::OptionsModule<AdaptivePoolOptions<D>, Derived> {
 public:
  using detail::OptionsModule<AdaptivePoolOptions<D>, Derived>::OptionsModule;
  AdaptivePoolImpl(ExpandingArrayWithOptionalElem<D> output_size)
      : AdaptivePoolImpl(AdaptivePoolOptions<D>{output_size}) {}
  void settings(Settings& out) const override;
};

class AdaptiveAvgPool1dImpl : public AdaptivePoolImpl<1, AdaptiveAvgPool1dImpl> {
 public:
  using AdaptivePoolImpl::AdaptivePoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_avg_pool1d(input, options); }
};
TAEDA_MODULE(AdaptiveAvgPool1d);

class AdaptiveAvgPool2dImpl : public AdaptivePoolImpl<2, AdaptiveAvgPool2dImpl> {
 public:
  using AdaptivePoolImpl::AdaptivePoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_avg_pool2d(input, options); }
};
TAEDA_MODULE(AdaptiveAvgPool2d);

class AdaptiveAvgPool3dImpl : public AdaptivePoolImpl<3, AdaptiveAvgPool3dImpl> {
 public:
  using AdaptivePoolImpl::AdaptivePoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_avg_pool3d(input, options); }
};
TAEDA_MODULE(AdaptiveAvgPool3d);

class AdaptiveMaxPool1dImpl : public AdaptivePoolImpl<1, AdaptiveMaxPool1dImpl> {
 public:
  using AdaptivePoolImpl::AdaptivePoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_max_pool1d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    return functional::adaptive_max_pool1d_with_indices(input, options);
  }
};
TAEDA_MODULE(AdaptiveMaxPool1d);

class AdaptiveMaxPool2dImpl : public AdaptivePoolImpl<2, AdaptiveMaxPool2dImpl> {
 public:
  using AdaptivePoolImpl::AdaptivePoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_max_pool2d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    return functional::adaptive_max_pool2d_with_indices(input, options);
  }
};
TAEDA_MODULE(AdaptiveMaxPool2d);

class AdaptiveMaxPool3dImpl : public AdaptivePoolImpl<3, AdaptiveMaxPool3dImpl> {
 public:
  using AdaptivePoolImpl::AdaptivePoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_max_pool3d(input, options); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {
    return functional::adaptive_max_pool3d_with_indices(input, options);
  }
};
TAEDA_MODULE(AdaptiveMaxPool3d);

/// Puts the elements that a max pool kept back to where they came from, among zeros; inputs and
/// int64 indices are [N, C, ...] or [C, ...]. Errors are those of functional::max_unpool2d.
template <size_t D, class Derived>
class MaxUnpoolImpl : public detail::OptionsModule<MaxUnpoolOptions<D>, Derived> {
 public:
  using detail::OptionsModule<MaxUnpoolOptions<D>, Derived>::OptionsModule;
  MaxUnpoolImpl(ExpandingArray<D> kernel_size) : MaxUnpoolImpl(MaxUnpoolOptions<D>{kernel_size}) {}
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input, const Tensor& indices,
                 const std::optional<std::vector<int64_t>>& output_size = {}) {
    const auto& o = this->options;
    return functional::detail::max_unpool(input, indices, o.kernel_size, o.stride, o.padding,
                                          output_size);
  }
};
class MaxUnpool1dImpl : public MaxUnpoolImpl<1, MaxUnpool1dImpl> {
 public:
  using MaxUnpoolImpl::MaxUnpoolImpl;
};
TAEDA_MODULE(MaxUnpool1d);
class MaxUnpool2dImpl : public MaxUnpoolImpl<2, MaxUnpool2dImpl> {
 public:
  using MaxUnpoolImpl::MaxUnpoolImpl;
};
TAEDA_MODULE(MaxUnpool2d);
class MaxUnpool3dImpl : public MaxUnpoolImpl<3, MaxUnpool3dImpl> {
 public:
  using MaxUnpoolImpl::MaxUnpoolImpl;
};
TAEDA_MODULE(MaxUnpool3d);

/// The p-norm of each window, (sum of x^p)^(1/p); inputs are [N, C, ...] or [C, ...]. Throws Error
/// where no window fits.
template <size_t D, class Derived>
class LPPoolImpl : public detail::OptionsModule<LPPoolOptions<D>, Derived> {
 public:
  using detail::OptionsModule<LPPoolOptions<D>, Derived>::OptionsModule;
  LPPoolImpl(double norm_type, ExpandingArray<D> kernel_size)
      : LPPoolImpl(LPPoolOptions<D>{norm_type, kernel_size}) {}
  void settings(Settings& out) const override;
};
class LPPool1dImpl : public LPPoolImpl<1, LPPool1dImpl> {
 public:
  using LPPoolImpl::LPPoolImpl;
  Tensor forward(const Tensor& input) { return functional::lp_pool1d(input, options); }
};
TAEDA_MODULE(LPPool1d);
class LPPool2dImpl : public LPPoolImpl<2, LPPool2dImpl> {
 public:
  using LPPoolImpl::LPPoolImpl;
  Tensor forward(const Tensor& input) { return functional::lp_pool2d(input, options); }
};
TAEDA_MODULE(LPPool2d);

}  // namespace taeda::inline v0_2::nn
