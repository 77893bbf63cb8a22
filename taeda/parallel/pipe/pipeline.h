// Stages, the ways between them, and one step through them. Not part of the public interface.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "taeda/parallel/lane.h"
#include "taeda/parallel/pipe/pipe.h"
#include "taeda/parallel/pipe/stage.h"

namespace taeda::inline v0_2::nn::detail {

/// The way of a skip connection: entry `stash` of Stage::stashes goes to entry `pop` of
/// Stage::pops.
struct Route {
  size_t from, stash, to, pop;
};

/// Measures what stages do, with events on the streams that are current when a step begins.
class Meter {
 public:
  Meter(bool on, const std::vector<std::shared_ptr<Stage>>& stages);
  void start(size_t stage);
  void stop(size_t stage);
  /// A stage holds one more micro-batch, or (-1) one less.
  void keep(size_t stage, int64_t change);
  void finish();
  /// Waits for the events.
  PipeReport report() const;

  PipeSchedule schedule = PipeSchedule::GPipe;
  size_t micro_batches = 0;
  bool backward = false;

 private:
  struct Times {
    Stream stream;
    size_t modules = 0;
    Event begin{true}, end{true};
    std::vector<std::pair<Event, Event>> busy;
    int64_t kept = 0, most_kept = 0;
  };
  bool on_;
  std::vector<Times> stages_;
};

class Pipeline {
 public:
  explicit Pipeline(std::vector<std::shared_ptr<Stage>> stages);

  Tensor forward(const std::vector<std::vector<Tensor>>& micro_batches, size_t checkpointed,
                 Meter& meter);

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

/// One train step. Each stage's part of a micro-batch is a graph of its own, so that backward can
/// be run in any order.
class TrainStep {
 public:
  struct Batch {
    std::vector<Tensor> inputs, targets;  // by micro-batch
    std::vector<double> weights;          // of their losses
    size_t checkpointed = 0;              // so many at the beginning
  };
  TrainStep(const Pipeline& pipeline, Batch batch, PipeImpl::Loss loss, Meter& meter);
  Tensor run(PipeSchedule schedule);
  /// Of the inputs; undefined for those that want none.
  std::vector<Tensor> input_gradients;

 private:
  /// A micro-batch in a stage, between forward and backward.
  struct Slot {
    Parcel values, gradients;                   // from the stages beside
    std::vector<Parcel> pops, stash_gradients;  // from others
    std::vector<Form> forms{Form{}};
    std::vector<Tensor> given;    // leaves
    std::vector<Tensor> outputs;  // with history, unless they are to be computed again
    std::shared_ptr<class Replay> replay;
  };

  void forward(size_t stage, size_t micro_batch);
  void backward(size_t stage, size_t micro_batch);
  std::vector<Tensor> run_stage(size_t stage, size_t micro_batch, const std::vector<Tensor>& inputs,
                                Form& form) const;
  void send_on(size_t stage, size_t micro_batch, const std::vector<Tensor>& outputs,
               const Form& form);
  void send_back(size_t stage, size_t micro_batch, const std::vector<Tensor>& gradients);
  Slot& at(size_t stage, size_t micro_batch) { return slots_[stage][micro_batch]; }

  const Pipeline& pipeline_;
  Batch batch_;
  PipeImpl::Loss loss_;
  Meter& meter_;
  std::vector<std::vector<Slot>> slots_;
  Tensor total_;
};

}  // namespace taeda::nn::detail
