// Convolutions.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/conv.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

/// Weight [out, in / groups, k...] and bias [out] start uniform in +-1 / sqrt(in / groups * k...).
/// Throws ValueError if the groups do not divide the channels, or "same" padding meets a stride.
template <size_t D, class Derived>
class ConvImpl : public Cloneable<Derived> {
 public:
  using Options = ConvOptions<D>;
  ConvImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : ConvImpl(Options{in_channels, out_channels, kernel_size}) {}
  explicit ConvImpl(Options o) : options(std::move(o)) { ConvImpl::reset(); }
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;

  Options options;
  Tensor weight, bias;

 protected:
  /// The input with borders of the padding mode; nothing is left to pad unless the mode is kZeros.
  Tensor with_borders(const Tensor& input) const;
  taeda::ConvPadding remaining_padding() const;
};

class Conv1dImpl : public ConvImpl<1, Conv1dImpl> {
 public:
  using ConvImpl::ConvImpl;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(Conv1d);

class Conv2dImpl : public ConvImpl<2, Conv2dImpl> {
 public:
  using ConvImpl::ConvImpl;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(Conv2d);

class Conv3dImpl : public ConvImpl<3, Conv3dImpl> {
 public:
  using ConvImpl::ConvImpl;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(Conv3d);

/// Sizes of a result, if they are given.
class OutputSize {
 public:
  OutputSize() = default;
  OutputSize(std::nullopt_t) {}
  OutputSize(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  OutputSize(int64_t size) : sizes_(std::vector<int64_t>{size}) {}
  OutputSize(IntArrayRef sizes) : sizes_(sizes.vec()) {}
  OutputSize(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}
  template <class List>
  requires(std::convertible_to<List, IntArrayRef>) OutputSize(const std::optional<List>& sizes) {
    if (sizes) sizes_ = IntArrayRef(*sizes).vec();
  }
  const std::optional<std::vector<int64_t>>& sizes() const { return sizes_; }

 private:
  std::optional<std::vector<int64_t>> sizes_;
};

/// Weight [in, out / groups, k...]. `output_size` of forward chooses among the sizes that a stride
/// leaves open; by default it follows from output_padding.
template <size_t D, class Derived>
class ConvTransposeImpl : public Cloneable<Derived> {
 public:
  using Options = ConvTransposeOptions<D>;
  ConvTransposeImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : ConvTransposeImpl(Options{in_channels, out_channels, kernel_size}) {}
  explicit ConvTransposeImpl(Options o) : options(std::move(o)) { ConvTransposeImpl::reset(); }
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;

  Options options;
  Tensor weight, bias;

 protected:
  std::vector<int64_t> output_padding(const Tensor& input, const OutputSize& output_size) const;
};

class ConvTranspose1dImpl : public ConvTransposeImpl<1, ConvTranspose1dImpl> {
 public:
  using ConvTransposeImpl::ConvTransposeImpl;
  Tensor forward(const Tensor& input, const OutputSize& output_size = {});
};
TAEDA_MODULE(ConvTranspose1d);

class ConvTranspose2dImpl : public ConvTransposeImpl<2, ConvTranspose2dImpl> {
 public:
  using ConvTransposeImpl::ConvTransposeImpl;
  Tensor forward(const Tensor& input, const OutputSize& output_size = {});
};
TAEDA_MODULE(ConvTranspose2d);

class ConvTranspose3dImpl : public ConvTransposeImpl<3, ConvTranspose3dImpl> {
 public:
  using ConvTransposeImpl::ConvTransposeImpl;
  Tensor forward(const Tensor& input, const OutputSize& output_size = {});
};
TAEDA_MODULE(ConvTranspose3d);

}  // namespace taeda::inline v0_2::nn
