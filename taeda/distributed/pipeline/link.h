// Tensors on their way between two neighbouring stages. Not part of the public interface.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "taeda/distributed/pipeline/stage.h"
#include "taeda/parallel/pipe/stage_runner.h"

namespace taeda::inline v0_2::distributed::pipelining::detail {

/// What a stage passes on for every micro-batch: agreed upon once, with the first.
struct Shape {
  struct Item {
    ScalarType dtype;
    DimVector sizes;
    bool wanted;  ///< whether a gradient comes back
  };
  nn::detail::Form form;
  std::vector<Item> items;

  static Shape of(const nn::detail::Ways::Values& values);
  /// The first difference, "output 0 is float32[2, 3], not float32[4, 3]"; empty for none.
  std::string difference(const Shape& other) const;
  std::vector<int64_t> encoded() const;
  /// Throws DistributedError for numbers that no stage encodes.
  static Shape decoded(IntArrayRef numbers);
};

/// Messages that were sent and not yet received, for all stages of a process, and what stages of
/// one process pass to each other.
struct Traffic {
  std::deque<WorkPtr> sent;
  struct Local {
    std::optional<Shape> shape;
    std::map<size_t, std::vector<Tensor>> forward, backward;  ///< by micro-batch
  };
  std::map<int, Local> local;  ///< by the stage that is before the way

  /// Lets go of what has arrived, and throws what went wrong with it.
  void tidy();
  /// Waits for all of it.
  void finish();
};

/// The way from `stage` to the next one, at either end of it. Micro-batches pass in one order in
/// each direction, the same at both ends.
class Link {
 public:
  /// `stage`: this process's; `behind`: whether the way is behind it, else before it.
  Link(const PipelineStage& stage, bool behind, Traffic& traffic);

  /// Behind a stage: passes on a micro-batch's outputs. With the first, the next stage hears what
  /// all will be like. Throws ValueError, naming stage and shapes, for one that is not.
  void send_outputs(size_t micro_batch, const nn::detail::Ways::Values& values);
  /// Behind a stage: gradients of its outputs, undefined for those that want none.
  std::vector<Tensor> receive_gradients(size_t micro_batch);
  /// Before a stage: the values of the stage before.
  nn::detail::Ways::Values receive_inputs(size_t micro_batch);
  /// Before a stage: passes the gradients of its leaves back; zeros for those that are undefined.
  void send_gradients(size_t micro_batch, const std::vector<Tensor>& leaves);

  /// Has a receive under way before it is asked for, if it is known what will come.
  void expect(size_t micro_batch);
  const Shape& shape() const { return *shape_; }

 private:
  struct Expected {
    size_t micro_batch;
    std::vector<Tensor> tensors;
    std::vector<WorkPtr> works;
  };
  bool is_local() const { return peer_ == group_->rank(); }
  Traffic::Local& local() { return traffic_.local[from_]; }
  int64_t tag(int kind) const;
  void send(int kind, const Tensor& t);
  void send_shape();
  void receive_shape();
  std::vector<Tensor> receive(size_t micro_batch);

  const ProcessGroupPtr group_;
  const bool behind_;
  const int from_;  ///< the stage before the way
  const int peer_;  ///< the rank of the stage at its other end
  const Device device_;
  Traffic& traffic_;
  std::optional<Shape> shape_;
  std::deque<Expected> expected_;
};

}  // namespace taeda::distributed::pipelining::detail
