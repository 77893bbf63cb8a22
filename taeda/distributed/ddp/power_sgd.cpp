#include "taeda/distributed/ddp/power_sgd.h"

#include "taeda/base/error.h"
#include "taeda/device/generator.h"
#include "taeda/distributed/ddp/comm_hooks.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::algorithms::ddp_comm_hooks::powerSGD_hook {

PowerSGDState::PowerSGDState(ProcessGroupPtr process_group, PowerSGDOptions options)
    : group_(std::move(process_group)), options_(options) {
  TAEDA_CHECK_VALUE(options.matrix_approximation_rank >= 1,
                    "PowerSGDState: expected a matrix_approximation_rank of at least 1, got ",
                    options.matrix_approximation_rank);
  TAEDA_CHECK_VALUE(
      options.start_powerSGD_iter > 1 || (!options.use_error_feedback && !options.warm_start),
      "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, "
      "because PowerSGD can only be applied after the first two iterations in DDP, got ",
      options.start_powerSGD_iter);
}

namespace {

/// Gram and Schmidt: makes columns orthonormal, in place. A column that is a sum of those before it
/// becomes zero; what rounding leaves of it is no direction. 16-bit numbers are too coarse for that
/// and are made so in float32.
void orthogonalize(const Tensor& matrix, double epsilon) {
  if (matrix.dtype() == kHalf || matrix.dtype() == kBFloat16) {
    const Tensor wide = matrix.to(kFloat);
    orthogonalize(wide, epsilon);
    matrix.copy_(wide);
    return;
  }
  constexpr double kNothingLeft = 1e-5;
  const Tensor before = matrix.norm(2, IntArrayRef({0}));
  const int64_t columns = matrix.size(1);
  for (int64_t i = 0; i < columns; ++i) {
    const Tensor column = matrix.narrow(1, i, 1);
    const Tensor norm = column.norm();
    const Tensor counts = norm.gt(before.select(0, i) * kNothingLeft);
    column.mul_(where(counts, 1 / (norm + epsilon), zeros_like(norm)));
    if (i + 1 == columns) break;
    const Tensor rest = matrix.narrow(1, i + 1, columns - i - 1);
    rest.sub_(column.mul((column * rest).sum(IntArrayRef({0}), true)));
  }
}

}  // namespace

/// One bucket on its way.
class PowerSGDExchange {
 public:
  PowerSGDExchange(std::shared_ptr<PowerSGDState> state, const GradBucket& bucket)
      : state_(std::move(state)), index_(bucket.index()), buffer_(bucket.buffer()) {
    const NoGradGuard values_only;
    add_error();
    divide(bucket.gradients());
    make_factors();
    for (size_t i = 0; i < matrices_.size(); ++i) p_.push_back(matmul(matrices_[i], q_[i]));
    all_p_ = flatten(p_);
    p_sent_ = send(all_p_, false);
    all_whole_ = flatten(whole_);
    whole_sent_ = send(all_whole_, true);
  }

  /// Waits for the first factors, exchanges the second ones, and puts the gradients together.
  Tensor finish() {
    const NoGradGuard values_only;
    receive(p_sent_, all_p_, p_);
    for (const Tensor& p : p_) orthogonalize(p, state_->options_.orthogonalization_epsilon);
    for (size_t i = 0; i < matrices_.size(); ++i) q_[i].copy_(matmul(matrices_[i].t(), p_[i]));
    const Tensor all_q = flatten(q_);
    receive(send(all_q, true), all_q, q_);
    receive(whole_sent_, all_whole_, whole_);
    const Tensor before = state_->options_.use_error_feedback ? buffer_.clone() : Tensor();
    for (size_t i = 0; i < matrices_.size(); ++i) matrices_[i].copy_(matmul(p_[i], q_[i].t()));
    if (before.defined()) state_->errors_[index_] = before.sub_(buffer_);
    if (state_->options_.warm_start) state_->factors_[index_] = q_;
    return buffer_;
  }

 private:
  void add_error() {
    if (!state_->options_.use_error_feedback) return;
    const auto error = state_->errors_.find(index_);
    if (error != state_->errors_.end() && error->second.numel() == buffer_.numel())
      buffer_.add_(error->second);
  }

  /// Into matrices to be compressed, and the rest.
  void divide(const std::vector<Tensor>& gradients) {
    const PowerSGDOptions& o = state_->options_;
    for (const Tensor& g : gradients) {
      const int64_t n = g.dim() > 1 ? g.size(0) : 1, m = n ? g.numel() / n : 0;
      const auto sent = static_cast<double>((n + m) * o.matrix_approximation_rank);
      const bool worth_it = g.dim() > 1 && g.is_contiguous() &&
                            sent * o.min_compression_rate < static_cast<double>(g.numel());
      (worth_it ? matrices_ : whole_).push_back(worth_it ? g.view({n, m}) : g);
    }
  }

  bool fits(const std::vector<Tensor>& factors) const {
    if (factors.size() != matrices_.size()) return false;
    for (size_t i = 0; i < factors.size(); ++i)
      if (factors[i].size(0) != matrices_[i].size(1)) return false;
    return true;
  }

  /// The last pass's, or random ones that are the same on all ranks.
  void make_factors() {
    const PowerSGDOptions& o = state_->options_;
    const auto last = state_->factors_.find(index_);
    const bool known = o.warm_start && last != state_->factors_.end() && fits(last->second);
    Generator random(kCPU, o.random_seed + static_cast<uint64_t>(state_->iteration_));
    for (size_t i = 0; i < matrices_.size(); ++i) {
      const Tensor& m = matrices_[i];
      const int64_t rank = std::min({o.matrix_approximation_rank, m.size(0), m.size(1)});
      q_.push_back(known ? last->second[i]
                         : randn({m.size(1), rank}, {}, &random).to(m.device(), m.dtype()));
      orthogonalize(q_.back(), o.orthogonalization_epsilon);
    }
  }

  static Tensor flatten(const std::vector<Tensor>& tensors) {
    std::vector<Tensor> out;
    for (const Tensor& t : tensors) out.push_back(t.reshape({-1}));
    return out.empty() ? Tensor() : cat(out, 0);
  }

  WorkPtr send(const Tensor& flat, bool average) const {
    if (!flat.defined()) return nullptr;
    const auto op = average ? ReduceOp::premul_sum(1.0 / get_world_size(state_->group_))
                            : ReduceOp(ReduceOp::SUM);
    return distributed::all_reduce(flat, op, state_->group_, /*async_op=*/true);
  }

  static void receive(const WorkPtr& work, const Tensor& flat, const std::vector<Tensor>& parts) {
    if (!work) return;
    work->wait();
    int64_t at = 0;
    for (const Tensor& t : parts) {
      t.copy_(flat.narrow(0, at, t.numel()).view(t.sizes()));
      at += t.numel();
    }
  }

  const std::shared_ptr<PowerSGDState> state_;
  const size_t index_;
  const Tensor buffer_;
  std::vector<Tensor> matrices_, whole_;  // parts of the buffer
  std::vector<Tensor> p_, q_;
  Tensor all_p_, all_whole_;  // on their way
  WorkPtr p_sent_, whole_sent_;
};

std::future<Tensor> powerSGD_hook(const std::shared_ptr<PowerSGDState>& state, GradBucket& bucket) {
  const bool whole = state->iteration_ < state->options_.start_powerSGD_iter;
  const bool last = bucket.is_last();
  if (whole) {
    if (last) ++state->iteration_;
    return default_hooks::allreduce_hook(state->group_, bucket);
  }
  auto exchange = std::make_shared<PowerSGDExchange>(state, bucket);
  if (last) ++state->iteration_;
  return std::async(std::launch::deferred, [exchange] { return exchange->finish(); });
}

}  // namespace taeda::inline v0_2::distributed::algorithms::ddp_comm_hooks::powerSGD_hook
