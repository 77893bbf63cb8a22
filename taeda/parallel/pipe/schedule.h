// In which order the workers of a pipeline - devices of a process, or processes - work on their
// stages. Not part of the public interface.
#pragma once

#include <functional>
#include <vector>

#include "taeda/parallel/pipe/report.h"

namespace taeda::inline v0_2::nn::detail {

/// What a worker does next: one of its stages, forward or backward.
struct StageAction {
  size_t stage;  ///< in the pipeline
  bool backward;
  size_t micro_batch;
  friend bool operator==(const StageAction&, const StageAction&) = default;
};
using Order = std::vector<StageAction>;

/// One stage for each worker: GPipe or 1F1B.
Order order_of(PipeSchedule schedule, size_t worker, size_t workers, size_t micro_batches);

/// Interleaved 1F1B (Narayanan et al. 2021, arXiv:2104.04473): worker r of R has the stages r, r +
/// R, r + 2 R, ... Micro-batches go in rounds of about R: a round through the first stage of the
/// worker, then the same one through its second, and so on. Throws ValueError unless the rounds are
/// of one size.
Order interleaved_order_of(size_t worker, size_t workers, size_t stages_per_worker,
                           size_t micro_batches);

/// The order without its backward passes.
Order forward_only(const Order& order);
/// GPipe's forward passes of all stages.
std::vector<Order> forward_orders(size_t stages, size_t micro_batches);

/// Calls `run` for the actions of all workers, each worker's in its order and each action after
/// those that it needs: forward after the forward of the stage before, backward after the backward
/// of the next. Workers take turns, the last one first, so those that are ready work side by side
/// where `run` only queues. Throws Error where workers would wait for each other.
void run_orders(const std::vector<Order>& orders,
                const std::function<void(const StageAction& action)>& run);

}  // namespace taeda::inline v0_2::nn::detail
