// Normalisation.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/normalization.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/modules/options_module.h"

namespace taeda::inline v0_2::nn {

/// Batch normalisation in training where a batch is spread over several processes
/// (distributed/sync_batch_norm.h); all must call it with the same number of channels.
class SharedBatchNorm {
 public:
  virtual ~SharedBatchNorm() = default;
  /// The result of batch_norm for `input` [N, C, ...] as a part of the whole batch of all
  /// processes; the shape stays.
  virtual Tensor forward(const Tensor& input, const Tensor& weight, const Tensor& bias,
                         const Tensor& running_mean, const Tensor& running_var, double momentum,
                         double eps) const = 0;
};

/// The common base of batch norms. Buffers are running_mean and running_var, [C], and
/// num_batches_tracked; weight, [C], starts as ones, bias as zeros. The result has the input's
/// shape.
template <class Derived>
class BatchNormImplBase : public Cloneable<Derived> {
 public:
  using Options = BatchNormOptions;
  BatchNormImplBase(int64_t num_features) : BatchNormImplBase(Options{num_features}) {}
  explicit BatchNormImplBase(Options o) : options(std::move(o)) { BatchNormImplBase::reset(); }
  void reset() override;
  void reset_running_stats();
  void reset_parameters();
  void settings(Settings& out) const override;

  Options options;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  std::shared_ptr<const SharedBatchNorm> shared;  ///< if others have parts of the batches

 protected:
  Tensor normalize(const Tensor& input);
};

/// Over [N, C] or [N, C, L].
class BatchNorm1dImpl : public BatchNormImplBase<BatchNorm1dImpl> {
 public:
  using BatchNormImplBase::BatchNormImplBase;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(BatchNorm1d);

/// Over [N, C, H, W].
class BatchNorm2dImpl : public BatchNormImplBase<BatchNorm2dImpl> {
 public:
  using BatchNormImplBase::BatchNormImplBase;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(BatchNorm2d);

/// Over [N, C, D, H, W].
class BatchNorm3dImpl : public BatchNormImplBase<BatchNorm3dImpl> {
 public:
  using BatchNormImplBase::BatchNormImplBase;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(BatchNorm3d);

/// Over each channel of each example: [N, C, ...] or [C, ...] to the same sizes.
template <class Derived>
class InstanceNormImplBase : public Cloneable<Derived> {
 public:
  using Options = InstanceNormOptions;
  InstanceNormImplBase(int64_t num_features) : InstanceNormImplBase(Options{num_features}) {}
  explicit InstanceNormImplBase(Options o) : options(std::move(o)) {
    InstanceNormImplBase::reset();
  }
  void reset() override;
  /// Sets weights to 1 and biases to 0, and running statistics to their values before the first
  /// batch, mean 0 and variance 1; shapes stay.
  void reset_parameters();
  void reset_running_stats();
  void settings(Settings& out) const override;

  Options options;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  /// `spatial` dimensions after batch and channel; an input without a batch gets one for the while.
  Tensor normalize(const Tensor& input, int64_t spatial);
};

/// Over [N, C, L] or [C, L].
class InstanceNorm1dImpl : public InstanceNormImplBase<InstanceNorm1dImpl> {
 public:
  using InstanceNormImplBase::InstanceNormImplBase;
  Tensor forward(const Tensor& input) { return normalize(input, 1); }
};
TAEDA_MODULE(InstanceNorm1d);

/// Over [N, C, H, W] or [C, H, W].
class InstanceNorm2dImpl : public InstanceNormImplBase<InstanceNorm2dImpl> {
 public:
  using InstanceNormImplBase::InstanceNormImplBase;
  Tensor forward(const Tensor& input) { return normalize(input, 2); }
};
TAEDA_MODULE(InstanceNorm2d);

/// Over [N, C, D, H, W] or [C, D, H, W].
class InstanceNorm3dImpl : public InstanceNormImplBase<InstanceNorm3dImpl> {
 public:
  using InstanceNormImplBase::InstanceNormImplBase;
  Tensor forward(const Tensor& input) { return normalize(input, 3); }
};
TAEDA_MODULE(InstanceNorm3d);

class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  using Options = LayerNormOptions;
  LayerNormImpl(std::vector<int64_t> normalized_shape)
      : LayerNormImpl(Options{std::move(normalized_shape)}) {}
  LayerNormImpl(int64_t size) : LayerNormImpl(std::vector<int64_t>{size}) {}
  explicit LayerNormImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) {
    return functional::layer_norm(input, options.normalized_shape, weight, bias, options.eps);
  }

  Options options;
  Tensor weight, bias;
};
TAEDA_MODULE(LayerNorm);

/// Throws ValueError unless the groups divide the channels.
class GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  using Options = GroupNormOptions;
  GroupNormImpl(int64_t num_groups, int64_t num_channels)
      : GroupNormImpl(Options{num_groups, num_channels}) {}
  explicit GroupNormImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) {
    return functional::group_norm(input, options.num_groups, weight, bias, options.eps);
  }

  Options options;
  Tensor weight, bias;
};
TAEDA_MODULE(GroupNorm);

/// x / (k + alpha mean(x^2 of `size` neighbouring channels))^beta of inputs [N, C, ...] (Krizhevsky
/// et al. 2012); the shape stays.
class LocalResponseNormImpl
    : public detail::OptionsModule<LocalResponseNormOptions, LocalResponseNormImpl> {
 public:
  using OptionsModule::OptionsModule;
  LocalResponseNormImpl(int64_t size) : LocalResponseNormImpl(Options{size}) {}
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) { return functional::local_response_norm(input, options); }
};
TAEDA_MODULE(LocalResponseNorm);

/// The same over [N, C, H, W] with (size - 1) / 2 channels on either side; their sum counts, times
/// alpha / size. As in PyTorch, the first channel counts for all channels behind its neighbours,
/// too.
class CrossMapLRN2dImpl : public detail::OptionsModule<CrossMapLRN2dOptions, CrossMapLRN2dImpl> {
 public:
  using OptionsModule::OptionsModule;
  CrossMapLRN2dImpl(int64_t size) : CrossMapLRN2dImpl(Options{size}) {}
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(CrossMapLRN2d);

}  // namespace taeda::inline v0_2::nn
