// Batch normalisation whose statistics are those of all processes' batches.
#pragma once

#include <memory>

#include "taeda/distributed/group/process_group.h"
#include "taeda/nn/modules/normalization.h"

namespace taeda::inline v0_2::nn {

/// Over [N, C, ...] of all processes of a group together: outputs, gradients and running statistics
/// are those of one process's BatchNorm with the joined batch. The batches may have different
/// sizes; one may be empty. Gradients of weight and bias are of this process's part, for
/// DistributedDataParallel to put together.
///
/// Without a group it is the default one; without that, with one member, and in evaluation mode it
/// is a BatchNorm. All processes call it in the same order, forward and backward. Throws ValueError
/// for one value per channel in all processes together; Error where its gradient is to be
/// differentiated.
class SyncBatchNormImpl : public BatchNormImplBase<SyncBatchNormImpl> {
 public:
  explicit SyncBatchNormImpl(int64_t num_features, const distributed::ProcessGroupPtr& group = {})
      : SyncBatchNormImpl(BatchNormOptions{num_features}, group) {}
  explicit SyncBatchNormImpl(BatchNormOptions o, const distributed::ProcessGroupPtr& group = {});
  Tensor forward(const Tensor& input);
};

/// What SyncBatchNorm makes of an input while it trains, with `group`, the default one where it is
/// null. `momentum` is the weight of this batch in the running statistics, which may be undefined,
/// as weight and bias may.
Tensor sync_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Tensor& running_mean, const Tensor& running_var, double momentum,
                       double eps, const distributed::ProcessGroupPtr& group);

class SyncBatchNorm : public ModuleHolder<SyncBatchNormImpl> {
 public:
  using ModuleHolder<SyncBatchNormImpl>::ModuleHolder;
  using Impl = SyncBatchNormImpl;

  /// Makes all BatchNorm layers in `module` (a holder or pointer), itself included, normalise as
  /// SyncBatchNorm does, and returns it. They stay the objects that they are, so members of their
  /// parents and optimizers go on referring to them; printed, they say shared=True.
  template <class M>
  static M convert_sync_batchnorm(M module, const distributed::ProcessGroupPtr& group = {}) {
    convert(*module, group);
    return module;
  }

 private:
  static void convert(Module& module, const distributed::ProcessGroupPtr& group);
};

}  // namespace taeda::inline v0_2::nn
