// In which order a process works on its stages. Not part of the public interface.
#pragma once

#include <vector>

#include "taeda/parallel/pipe/schedule.h"

namespace taeda::inline v0_2::distributed::pipelining::detail {

/// What a process does next: one of its stages, forward or backward.
struct StageAction {
  size_t stage;  ///< in the pipeline
  bool backward;
  size_t micro_batch;
  friend bool operator==(const StageAction&, const StageAction&) = default;
};
using Order = std::vector<StageAction>;

/// One stage for each process: GPipe or 1F1B, the orders of nn::Pipe.
Order order_of(nn::PipeSchedule schedule, size_t rank, size_t ranks, size_t micro_batches);

/// Interleaved 1F1B (Narayanan et al. 2021, arXiv:2104.04473): rank r of R has the stages r, r + R,
/// r + 2 R, ... Micro-batches go in rounds of about R: a round through the first stage of the rank,
/// then the same one through its second, and so on. Throws ValueError unless the rounds are of one
/// size.
Order interleaved_order_of(size_t rank, size_t ranks, size_t stages_per_rank, size_t micro_batches);

/// The order without its backward passes.
Order forward_only(const Order& order);

}  // namespace taeda::distributed::pipelining::detail
