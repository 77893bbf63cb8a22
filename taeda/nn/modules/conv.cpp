#include "taeda/nn/modules/conv.h"

#include <cmath>

#include "taeda/nn/functional/padding.h"
#include "taeda/nn/settings.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

namespace {

template <class Options>
void check_channels(const Options& o) {
  TAEDA_CHECK_VALUE(o.groups > 0, "groups must be a positive integer");
  TAEDA_CHECK_VALUE(o.in_channels % o.groups == 0, "in_channels must be divisible by groups");
  TAEDA_CHECK_VALUE(o.out_channels % o.groups == 0, "out_channels must be divisible by groups");
}

/// The weights' first two sizes, then the kernel's.
Tensor empty_weight(int64_t first, int64_t second, IntArrayRef kernel) {
  DimVector sizes{first, second};
  for (int64_t k : kernel) sizes.push_back(k);
  return empty(sizes);
}

void reset_kernel(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const int64_t fan_in = init::calculate_fans(weight).first;
  if (fan_in == 0) return;
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

/// What convolutions of both directions begin with.
template <class Options>
void show_kernel(Settings& out, const Options& o) {
  out.value(o.in_channels).value(o.out_channels);
  out("kernel_size", o.kernel_size)("stride", o.stride);
}

}  // namespace

template <size_t D, class Derived>
void ConvImpl<D, Derived>::reset() {
  check_channels(options);
  if (options.padding.automatic() == kSame)
    TAEDA_CHECK_VALUE(options.stride.all(1),
                      "padding='same' is not supported for strided convolutions");
  weight = this->register_parameter(
      "weight", empty_weight(options.out_channels, options.in_channels / options.groups,
                             options.kernel_size));
  bias = this->register_parameter("bias", options.bias ? empty({options.out_channels}) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived>
void ConvImpl<D, Derived>::reset_parameters() {
  reset_kernel(weight, bias);
}

template <size_t D, class Derived>
void ConvImpl<D, Derived>::settings(Settings& out) const {
  const auto& o = options;
  show_kernel(out.of(typeid(Derived)), o);
  if (o.padding.automatic())
    out("padding", *o.padding.automatic());
  else
    out.unless_all(0, "padding", o.padding.amount());
  out.unless_all(1, "dilation", o.dilation).unless(1, "groups", o.groups());
  out.unless(true, "bias", o.bias()).unless(kZeros, "padding_mode", o.padding_mode());
}

template <size_t D, class Derived>
Tensor ConvImpl<D, Derived>::with_borders(const Tensor& input) const {
  if (options.padding_mode == kZeros) [[likely]]
    return input;
  std::vector<int64_t> pad;
  for (size_t i = D; i-- > 0;) {
    int64_t before = options.padding.amount()[i], after = before;
    if (options.padding.automatic() == kSame) {
      const int64_t total = options.dilation[i] * (options.kernel_size[i] - 1);
      before = total / 2;
      after = total - before;
    }
    pad.push_back(before);
    pad.push_back(after);
  }
  return functional::pad(input, pad, options.padding_mode);
}

template <size_t D, class Derived>
taeda::ConvPadding ConvImpl<D, Derived>::remaining_padding() const {
  return options.padding_mode == kZeros ? functional::to_conv_padding(options.padding)
                                        : taeda::ConvPadding(0);
}

template class ConvImpl<1, Conv1dImpl>;
template class ConvImpl<2, Conv2dImpl>;
template class ConvImpl<3, Conv3dImpl>;

Tensor Conv1dImpl::forward(const Tensor& input) {
  return taeda::conv1d(with_borders(input), weight, bias, options.stride, remaining_padding(),
                       options.dilation, options.groups);
}

Tensor Conv2dImpl::forward(const Tensor& input) {
  return taeda::conv2d(with_borders(input), weight, bias, options.stride, remaining_padding(),
                       options.dilation, options.groups);
}

Tensor Conv3dImpl::forward(const Tensor& input) {
  return taeda::conv3d(with_borders(input), weight, bias, options.stride, remaining_padding(),
                       options.dilation, options.groups);
}

template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::reset() {
  check_channels(options);
  weight = this->register_parameter(
      "weight", empty_weight(options.in_channels, options.out_channels / options.groups,
                             options.kernel_size));
  bias = this->register_parameter("bias", options.bias ? empty({options.out_channels}) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::reset_parameters() {
  reset_kernel(weight, bias);
}

template <size_t D, class Derived>
void ConvTransposeImpl<D, Derived>::settings(Settings& out) const {
  const auto& o = options;
  show_kernel(out.of(typeid(Derived)), o);
  out.unless_all(0, "padding", o.padding).unless_all(1, "dilation", o.dilation);
  out.unless_all(0, "output_padding", o.output_padding).unless(1, "groups", o.groups());
  out.unless(true, "bias", o.bias());
}

template <size_t D, class Derived>
std::vector<int64_t> ConvTransposeImpl<D, Derived>::output_padding(
    const Tensor& input, const OutputSize& output_size) const {
  TAEDA_CHECK_VALUE(options.padding_mode == kZeros,
                    "Only \"zeros\" padding mode is supported for ConvTranspose", D, "d");
  if (!output_size.sizes()) return IntArrayRef(options.output_padding).vec();
  const std::vector<int64_t>& wanted = *output_size.sizes();
  const size_t lead = static_cast<size_t>(input.dim()) - D;
  TAEDA_CHECK_VALUE(wanted.size() == D || wanted.size() == D + lead, "output_size must have ", D,
                    " or ", D + lead, " elements (got ", wanted.size(), ")");
  std::vector<int64_t> out;
  for (size_t i = 0; i < D; ++i) {
    const int64_t smallest = (input.sizes()[lead + i] - 1) * options.stride[i] -
                             2 * options.padding[i] +
                             options.dilation[i] * (options.kernel_size[i] - 1) + 1;
    const int64_t largest = smallest + options.stride[i] - 1;
    const int64_t size = wanted[wanted.size() - D + i];
    TAEDA_CHECK_VALUE(size >= smallest && size <= largest, "requested an output size of ",
                      IntArrayRef(wanted), ", but dimension ", i, " can be from ", smallest, " to ",
                      largest, " only (for an input of ", input.sizes(), ")");
    out.push_back(size - smallest);
  }
  return out;
}

template class ConvTransposeImpl<1, ConvTranspose1dImpl>;
template class ConvTransposeImpl<2, ConvTranspose2dImpl>;
template class ConvTransposeImpl<3, ConvTranspose3dImpl>;

Tensor ConvTranspose1dImpl::forward(const Tensor& input, const OutputSize& output_size) {
  return taeda::conv_transpose1d(input, weight, bias, options.stride, options.padding,
                                 output_padding(input, output_size), options.groups,
                                 options.dilation);
}

Tensor ConvTranspose2dImpl::forward(const Tensor& input, const OutputSize& output_size) {
  return taeda::conv_transpose2d(input, weight, bias, options.stride, options.padding,
                                 output_padding(input, output_size), options.groups,
                                 options.dilation);
}

Tensor ConvTranspose3dImpl::forward(const Tensor& input, const OutputSize& output_size) {
  return taeda::conv_transpose3d(input, weight, bias, options.stride, options.padding,
                                 output_padding(input, output_size), options.groups,
                                 options.dilation);
}

}  // namespace taeda::inline v0_2::nn
