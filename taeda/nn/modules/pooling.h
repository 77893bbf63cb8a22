// Pooling.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/pooling.h"
#include "taeda/nn/holder.h"

namespace taeda::nn {

namespace detail {
/// A module without parameters that only keeps its options.
template <class Options, class Derived>
class OptionsModule : public Cloneable<Derived> {
 public:
  explicit OptionsModule(Options o) : options(std::move(o)) {}
  void reset() override {}
  Options options;
};
std::string pool_text(const std::string& kernel, const std::string& stride,
                      const std::string& padding);
}  // namespace detail

template <size_t D, class Derived>
class MaxPoolImpl : public detail::OptionsModule<MaxPoolOptions<D>, Derived> {
 public:
  MaxPoolImpl(ExpandingArray<D> kernel_size) : MaxPoolImpl(MaxPoolOptions<D>(kernel_size)) {}
  explicit MaxPoolImpl(MaxPoolOptions<D> o)
      : detail::OptionsModule<MaxPoolOptions<D>, Derived>(std::move(o)) {}
  std::string extra_repr() const override;
};

class MaxPool1dImpl : public MaxPoolImpl<1, MaxPool1dImpl> {
 public:
  using MaxPoolImpl::MaxPoolImpl;
  Tensor forward(const Tensor& input) { return functional::max_pool1d(input, options); }
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

template <size_t D, class Derived>
class AvgPoolImpl : public detail::OptionsModule<AvgPoolOptions<D>, Derived> {
 public:
  AvgPoolImpl(ExpandingArray<D> kernel_size) : AvgPoolImpl(AvgPoolOptions<D>(kernel_size)) {}
  explicit AvgPoolImpl(AvgPoolOptions<D> o)
      : detail::OptionsModule<AvgPoolOptions<D>, Derived>(std::move(o)) {}
  std::string extra_repr() const override;
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

template <size_t D, class Derived>
class AdaptivePoolImpl : public detail::OptionsModule<AdaptivePoolOptions<D>, Derived> {
 public:
  AdaptivePoolImpl(ExpandingArray<D> output_size)
      : AdaptivePoolImpl(AdaptivePoolOptions<D>(output_size)) {}
  explicit AdaptivePoolImpl(AdaptivePoolOptions<D> o)
      : detail::OptionsModule<AdaptivePoolOptions<D>, Derived>(std::move(o)) {}
  std::string extra_repr() const override {
    return "output_size=" + this->options.output_size().text();
  }
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

class AdaptiveMaxPool1dImpl : public AdaptivePoolImpl<1, AdaptiveMaxPool1dImpl> {
 public:
  using AdaptivePoolImpl::AdaptivePoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_max_pool1d(input, options); }
};
TAEDA_MODULE(AdaptiveMaxPool1d);

class AdaptiveMaxPool2dImpl : public AdaptivePoolImpl<2, AdaptiveMaxPool2dImpl> {
 public:
  using AdaptivePoolImpl::AdaptivePoolImpl;
  Tensor forward(const Tensor& input) { return functional::adaptive_max_pool2d(input, options); }
};
TAEDA_MODULE(AdaptiveMaxPool2d);

}  // namespace taeda::nn
