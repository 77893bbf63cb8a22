// Gradients compressed to matrices of low rank, as
// torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook.
#pragma once

#include <map>
#include <memory>

#include "taeda/distributed/ddp/grad_bucket.h"
#include "taeda/distributed/group/process_group.h"

namespace taeda::inline v0_2::distributed::algorithms::ddp_comm_hooks::powerSGD_hook {

/// PowerSGDState's arguments, with PyTorch's names and defaults.
struct PowerSGDOptions {
  int64_t matrix_approximation_rank = 1;
  /// how many passes average whole gradients first, at least 2
  int64_t start_powerSGD_iter = 1000;
  double min_compression_rate = 2;     ///< the least ratio of bytes to be worth it; 2 by default
  /// whether what was lost is added to the next gradient; true by default
  bool use_error_feedback = true;
  /// whether a pass begins with the last one's Q; true by default
  bool warm_start = true;
  double orthogonalization_epsilon = 0;
  uint64_t random_seed = 0;
};

/// What the hook remembers from pass to pass. All ranks must make it with the same options.
class PowerSGDState {
 public:
  /// With the default group where `process_group` is null. Throws ValueError for a rank below 1, or
  /// for error feedback or a warm start that begins before the second pass, after which buckets
  /// change.
  explicit PowerSGDState(ProcessGroupPtr process_group = {}, PowerSGDOptions options = {});

  const ProcessGroupPtr& process_group() const { return group_; }
  const PowerSGDOptions& options() const { return options_; }

 private:
  friend class PowerSGDExchange;
  friend std::future<Tensor> powerSGD_hook(const std::shared_ptr<PowerSGDState>& state,
                                           GradBucket& bucket);

  const ProcessGroupPtr group_;
  const PowerSGDOptions options_;
  int64_t iteration_ = 0;
  std::map<size_t, Tensor> errors_;                ///< by bucket
  std::map<size_t, std::vector<Tensor>> factors_;  ///< Q of each compressed gradient, likewise
};

/// Averages approximations of the gradients (Vogels, Karimireddy, Jaggi: PowerSGD, NeurIPS 2019):
/// a gradient of n rows and m columns travels as n x r and m x r numbers, the sum of r outer
/// products. Vectors, and what would not get `min_compression_rate` times smaller, travel whole.
std::future<Tensor> powerSGD_hook(const std::shared_ptr<PowerSGDState>& state, GradBucket& bucket);

}  // namespace taeda::inline v0_2::distributed::algorithms::ddp_comm_hooks::powerSGD_hook
