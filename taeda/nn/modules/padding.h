// Padding of the last dimensions. Amounts are before and after the last dimension, before and after
// the one before it, and so on; one number stands for all. Errors: functional::pad.
#pragma once

#include "taeda/nn/functional/padding.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/modules/options_module.h"

namespace taeda::inline v0_2::nn {

/// Of modules ReflectionPad, ReplicationPad and ZeroPad in D dimensions.
template <size_t D>
struct PadOptions {
  /// How many elements stand before and after each dimension, from the last one on.
  Option<ExpandingArray<D * 2>> padding;
};
using ReflectionPad1dOptions = PadOptions<1>;
using ReflectionPad2dOptions = PadOptions<2>;
using ReflectionPad3dOptions = PadOptions<3>;
using ReplicationPad1dOptions = PadOptions<1>;
using ReplicationPad2dOptions = PadOptions<2>;
using ReplicationPad3dOptions = PadOptions<3>;
using ZeroPad2dOptions = PadOptions<2>;

/// Of module ConstantPad in D dimensions.
template <size_t D>
struct ConstantPadOptions {
  /// How many elements stand before and after each dimension, from the last one on.
  Option<ExpandingArray<D * 2>> padding;
  /// The value of the added elements, of the input's dtype.
  Option<double> value;
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

namespace detail {
/// What padding layers show, by the kind of their borders and, if it is no other's, their value.
void show_padding(Settings& out, PaddingMode mode, IntArrayRef padding);
void show_padding(Settings& out, double value, IntArrayRef padding);

template <size_t D, PaddingMode Mode, class Derived>
class PadModule : public OptionsModule<PadOptions<D>, Derived> {
 public:
  using OptionsModule<PadOptions<D>, Derived>::OptionsModule;
  explicit PadModule(std::initializer_list<int64_t> padding)
      : PadModule(PadOptions<D>{ExpandingArray<D * 2>(padding)}) {}
  void settings(Settings& out) const override { show_padding(out, Mode, this->options.padding); }
  Tensor forward(const Tensor& input) {
    return functional::pad(input, this->options.padding, Mode);
  }
};

template <size_t D, class Derived>
class ConstantPadModule : public OptionsModule<ConstantPadOptions<D>, Derived> {
 public:
  using OptionsModule<ConstantPadOptions<D>, Derived>::OptionsModule;
  ConstantPadModule(ExpandingArray<D * 2> padding, double value)
      : ConstantPadModule(ConstantPadOptions<D>{padding, value}) {}
  void settings(Settings& out) const override {
    show_padding(out, this->options.value(), this->options.padding);
  }
  Tensor forward(const Tensor& input) {
    return functional::pad(input, this->options.padding, kConstant, this->options.value);
  }
};
}  // namespace detail

/// Adds the input mirrored at its borders, which are not repeated, so the padding must be smaller
/// than the sizes; [N, C, ...] or [C, ...].
class ReflectionPad1dImpl : public detail::PadModule<1, kReflect, ReflectionPad1dImpl> {
 public:
  using PadModule::PadModule;
};
TAEDA_MODULE(ReflectionPad1d);
class ReflectionPad2dImpl : public detail::PadModule<2, kReflect, ReflectionPad2dImpl> {
 public:
  using PadModule::PadModule;
};
TAEDA_MODULE(ReflectionPad2d);
class ReflectionPad3dImpl : public detail::PadModule<3, kReflect, ReflectionPad3dImpl> {
 public:
  using PadModule::PadModule;
};
TAEDA_MODULE(ReflectionPad3d);

/// Adds elements that repeat the border's; inputs are [N, C, ...] or [C, ...].
class ReplicationPad1dImpl : public detail::PadModule<1, kReplicate, ReplicationPad1dImpl> {
 public:
  using PadModule::PadModule;
};
TAEDA_MODULE(ReplicationPad1d);
class ReplicationPad2dImpl : public detail::PadModule<2, kReplicate, ReplicationPad2dImpl> {
 public:
  using PadModule::PadModule;
};
TAEDA_MODULE(ReplicationPad2d);
class ReplicationPad3dImpl : public detail::PadModule<3, kReplicate, ReplicationPad3dImpl> {
 public:
  using PadModule::PadModule;
};
TAEDA_MODULE(ReplicationPad3d);

/// Adds zeros around inputs [N, C, H, W] or [C, H, W]; negative padding cuts elements off.
class ZeroPad2dImpl : public detail::PadModule<2, kConstant, ZeroPad2dImpl> {
 public:
  using PadModule::PadModule;
};
TAEDA_MODULE(ZeroPad2d);

/// Adds elements of one value around inputs [N, C, ...] or [C, ...]; negative padding cuts elements
/// off.
class ConstantPad1dImpl : public detail::ConstantPadModule<1, ConstantPad1dImpl> {
 public:
  using ConstantPadModule::ConstantPadModule;
};
TAEDA_MODULE(ConstantPad1d);
class ConstantPad2dImpl : public detail::ConstantPadModule<2, ConstantPad2dImpl> {
 public:
  using ConstantPadModule::ConstantPadModule;
};
TAEDA_MODULE(ConstantPad2d);
class ConstantPad3dImpl : public detail::ConstantPadModule<3, ConstantPad3dImpl> {
 public:
  using ConstantPadModule::ConstantPadModule;
};
TAEDA_MODULE(ConstantPad3d);

}  // namespace taeda::inline v0_2::nn
