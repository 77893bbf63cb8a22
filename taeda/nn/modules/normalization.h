// Normalisation.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/normalization.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/modules/options_module.h"

namespace taeda::inline v0_2::nn {

/// Batch normalisation in training where a batch is spread over several processes
/// (distributed/sync_batch_norm.h).
class SharedBatchNorm {
 public:
  virtual ~SharedBatchNorm() = default;
  /// What batch_norm would make of `input` in the whole batch, of which it is a part.
  virtual Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias,
                         const Tensor& running_mean, const Tensor& running_var, double momentum,
                         double eps) const = 0;
};

/// Buffers running_mean, running_var and num_batches_tracked; weight starts as one, bias as zero.
template <class Derived>
class BatchNormImplBase : public Cloneable<Derived> {
 public:
  explicit BatchNormImplBase(BatchNormOptions o) : options(std::move(o)) {
    BatchNormImplBase::reset();
  }
  void reset() override;
  void reset_running_stats();
  void reset_parameters();
  std::string extra_repr() const override;

  BatchNormOptions options;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  std::shared_ptr<const SharedBatchNorm> shared;  ///< if others have parts of the batches

 protected:
  Tensor normalize(const Tensor& input);
};

/// Over [N, C] or [N, C, L].
class BatchNorm1dImpl : public BatchNormImplBase<BatchNorm1dImpl> {
 public:
  BatchNorm1dImpl(int64_t num_features) : BatchNorm1dImpl(BatchNormOptions(num_features)) {}
  explicit BatchNorm1dImpl(BatchNormOptions o) : BatchNormImplBase(std::move(o)) {}
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(BatchNorm1d);

/// Over [N, C, H, W].
class BatchNorm2dImpl : public BatchNormImplBase<BatchNorm2dImpl> {
 public:
  BatchNorm2dImpl(int64_t num_features) : BatchNorm2dImpl(BatchNormOptions(num_features)) {}
  explicit BatchNorm2dImpl(BatchNormOptions o) : BatchNormImplBase(std::move(o)) {}
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(BatchNorm2d);

/// Over [N, C, D, H, W].
class BatchNorm3dImpl : public BatchNormImplBase<BatchNorm3dImpl> {
 public:
  BatchNorm3dImpl(int64_t num_features) : BatchNorm3dImpl(BatchNormOptions(num_features)) {}
  explicit BatchNorm3dImpl(BatchNormOptions o) : BatchNormImplBase(std::move(o)) {}
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(BatchNorm3d);

/// Over each channel of each example: [N, C, ...] or [C, ...] to the same sizes.
template <class Derived>
class InstanceNormImplBase : public Cloneable<Derived> {
 public:
  explicit InstanceNormImplBase(InstanceNormOptions o) : options(std::move(o)) {
    InstanceNormImplBase::reset();
  }
  void reset() override;
  /// Weights 1, biases 0, statistics of nothing.
  void reset_parameters();
  void reset_running_stats();
  std::string extra_repr() const override;

  InstanceNormOptions options;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  /// `spatial` dimensions after batch and channel; an input without a batch gets one for the while.
  Tensor normalize(const Tensor& input, int64_t spatial);
};

/// Over [N, C, L] or [C, L].
class InstanceNorm1dImpl : public InstanceNormImplBase<InstanceNorm1dImpl> {
 public:
  InstanceNorm1dImpl(int64_t num_features)
      : InstanceNorm1dImpl(InstanceNormOptions(num_features)) {}
  explicit InstanceNorm1dImpl(InstanceNormOptions o) : InstanceNormImplBase(std::move(o)) {}
  Tensor forward(const Tensor& input) { return normalize(input, 1); }
};
TAEDA_MODULE(InstanceNorm1d);

/// Over [N, C, H, W] or [C, H, W].
class InstanceNorm2dImpl : public InstanceNormImplBase<InstanceNorm2dImpl> {
 public:
  InstanceNorm2dImpl(int64_t num_features)
      : InstanceNorm2dImpl(InstanceNormOptions(num_features)) {}
  explicit InstanceNorm2dImpl(InstanceNormOptions o) : InstanceNormImplBase(std::move(o)) {}
  Tensor forward(const Tensor& input) { return normalize(input, 2); }
};
TAEDA_MODULE(InstanceNorm2d);

/// Over [N, C, D, H, W] or [C, D, H, W].
class InstanceNorm3dImpl : public InstanceNormImplBase<InstanceNorm3dImpl> {
 public:
  InstanceNorm3dImpl(int64_t num_features)
      : InstanceNorm3dImpl(InstanceNormOptions(num_features)) {}
  explicit InstanceNorm3dImpl(InstanceNormOptions o) : InstanceNormImplBase(std::move(o)) {}
  Tensor forward(const Tensor& input) { return normalize(input, 3); }
};
TAEDA_MODULE(InstanceNorm3d);

class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  LayerNormImpl(int64_t size) : LayerNormImpl(LayerNormOptions(size)) {}
  explicit LayerNormImpl(LayerNormOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input) {
    return functional::layer_norm(input, options.normalized_shape(), weight, bias, options.eps());
  }

  LayerNormOptions options;
  Tensor weight, bias;
};
TAEDA_MODULE(LayerNorm);

/// Throws ValueError unless the groups divide the channels.
class GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels)
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(GroupNormOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input) {
    return functional::group_norm(input, options.num_groups(), weight, bias, options.eps());
  }

  GroupNormOptions options;
  Tensor weight, bias;
};
TAEDA_MODULE(GroupNorm);

/// Over neighbouring channels; see functional::local_response_norm.
class LocalResponseNormImpl
    : public detail::OptionsModule<LocalResponseNormOptions, LocalResponseNormImpl> {
 public:
  LocalResponseNormImpl(int64_t size) : LocalResponseNormImpl(LocalResponseNormOptions(size)) {}
  explicit LocalResponseNormImpl(LocalResponseNormOptions o) : OptionsModule(std::move(o)) {}
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input) { return functional::local_response_norm(input, options); }
};
TAEDA_MODULE(LocalResponseNorm);

/// The same over [N, C, H, W] with (size - 1) / 2 channels on either side; their sum counts, times
/// alpha / size. As in PyTorch, the first channel counts for all channels behind its neighbours,
/// too.
class CrossMapLRN2dImpl : public detail::OptionsModule<CrossMapLRN2dOptions, CrossMapLRN2dImpl> {
 public:
  CrossMapLRN2dImpl(int64_t size) : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}
  explicit CrossMapLRN2dImpl(CrossMapLRN2dOptions o) : OptionsModule(std::move(o)) {}
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(CrossMapLRN2d);

}  // namespace taeda::nn
