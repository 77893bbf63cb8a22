// Stages on devices of this process, the ways between them, and a step through them. Not part of
// the public interface.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "taeda/parallel/lane.h"
#include "taeda/parallel/pipe/stage_runner.h"

namespace taeda::inline v0_2::nn::detail {

/// The way of a skip connection: entry `stash` of Stage::stashes goes to entry `pop` of
/// Stage::pops.
struct Route {
  size_t from, stash, to, pop;
};

class Pipeline {
 public:
  explicit Pipeline(std::vector<std::shared_ptr<Stage>> stages);

  Tensor forward(const std::vector<std::vector<Tensor>>& micro_batches, size_t checkpointed,
                 Meter& meter) const;
  /// Forward and backward in the order of the schedule. Gradients of the inputs come back in
  /// `input_gradients`; undefined for those that want none.
  void train_step(PipeSchedule schedule, const std::vector<Tensor>& inputs, size_t checkpointed,
                  LastStage& last, Meter& meter, std::vector<Tensor>& input_gradients) const;

  const std::vector<std::shared_ptr<Stage>>& stages() const { return stages_; }
  const Lanes& lanes(size_t from, size_t to) const { return lanes_.at({from, to}); }
  /// Skips that leave a stage, by position among its stashes, and those that arrive.
  const std::vector<Route>& leaving(size_t stage) const { return leaving_[stage]; }
  const std::vector<Route>& arriving(size_t stage) const { return arriving_[stage]; }

  std::unique_ptr<Meter> last;  // of the last step

 private:
  void add_lanes(size_t from, size_t to);

  std::vector<std::shared_ptr<Stage>> stages_;
  std::map<std::pair<size_t, size_t>, Lanes> lanes_;
  std::vector<std::vector<Route>> leaving_, arriving_;
};

}  // namespace taeda::nn::detail
