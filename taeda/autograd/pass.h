// One backward pass. Not part of the public interface: engine.h is.
#pragma once

#include <atomic>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "taeda/autograd/node.h"
#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::autograd {

class Lanes;

/// One gradient that `grad()` or `backward(inputs)` asked for.
struct Capture {
  uint32_t input_nr;
  Tensor* result;
};

/// What a pass knows about a node.
struct NodeState {
  NodePtr node;
  int waiting = 0;     // edges into the node that have not delivered
  bool needed = true;  // on a path to something that is wanted
  bool end = false;    // the pass ends here: it neither runs the node nor looks beyond
  TensorVec grads;     // sums so far, by input number
  std::vector<Capture> captures;
};

/// Open addressing from node to its index in the pass: a lookup for every edge of every pass.
class NodeTable {
 public:
  NodeTable() : slots_(64) {}

  /// The node's state; made, with `fresh` set, when it is new. The table does not change where it
  /// is not, so several threads may ask for nodes that it has.
  NodeState& at(Node* node, bool* fresh = nullptr) {
    Slot* found = &find(node);
    if (!found->node && (states_.size() + 1) * 2 > slots_.size()) {
      grow();
      found = &find(node);
    }
    Slot& slot = *found;
    if (fresh) *fresh = !slot.node;
    if (!slot.node) {
      slot = {node, static_cast<uint32_t>(states_.size())};
      states_.emplace_back().node = NodePtr(node);
    }
    return states_[slot.index];
  }
  NodeState* find_existing(Node* node) {
    Slot& slot = find(node);
    return slot.node ? &states_[slot.index] : nullptr;
  }
  std::vector<NodeState>& states() { return states_; }

 private:
  struct Slot {
    Node* node = nullptr;
    uint32_t index = 0;
  };

  Slot& find(Node* node) {
    const size_t mask = slots_.size() - 1;
    size_t i = (reinterpret_cast<uintptr_t>(node) >> 6) * 0x9e3779b97f4a7c15ull >> 20 & mask;
    while (slots_[i].node && slots_[i].node != node) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    slots_.assign(slots_.size() * 2, {});
    for (uint32_t i = 0; i < states_.size(); ++i)
      find(states_[i].node.get()) = {states_[i].node.get(), i};
  }

  std::vector<Slot> slots_;
  std::vector<NodeState> states_;
};

/// The memory of `t` is used by `stream`, though it belongs to another one.
void mark_user(const Tensor& t, const Stream& stream);

/// Post-accumulate hooks run on this thread, under the lock of their leaf: a pass that one of them
/// runs must not leave the thread.
class LeafHooks {
 public:
  LeafHooks();
  ~LeafHooks();
  LeafHooks(const LeafHooks&) = delete;
  LeafHooks& operator=(const LeafHooks&) = delete;
  static bool run_here();
};

/// Whether the node ends in a leaf's gradient.
inline bool is_sink(const Node& node) {
  return node.edges.empty() && node.sequence_nr() == UINT64_MAX;
}

/// One backward pass, on the thread that makes it or, over several accelerators, in Lanes.
class Pass {
 public:
  Pass(bool keep_graph, bool create_graph, bool accumulate);
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  /// The one that runs on this thread, or nullptr.
  static Pass* current();
  /// Makes the pass the one that runs on this thread, for a scope.
  class Here {
   public:
    explicit Here(Pass& pass);
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

   private:
    Pass* previous_;
  };

  void add_root(const Edge& edge, Tensor grad) { roots_.push_back({edge, std::move(grad)}); }
  void add_capture(const Edge& edge, Tensor* result) { wanted_.push_back({edge, result}); }
  void end_at(const Edge& edge) { table_.at(edge.node.get()).end = true; }

  void run();
  void queue_callback(std::function<void()> f);

  /// Which of two nodes that are ready runs later: the one that was made earlier.
  struct BySequence {
    bool operator()(const Node* a, const Node* b) const {
      return a->sequence_nr() < b->sequence_nr();
    }
  };

 private:
  friend class Lanes;

  void discover();
  void mark_needed();
  void run_here();
  bool is_needed(const Edge& edge) { return table_.at(edge.node.get()).needed; }
  void deliver(NodeState& to, uint32_t input_nr, Tensor grad, const Node* producer);
  void add_to(Tensor& sum, Tensor grad) const;
  void cross(const Tensor& grad, const Stream& from, const Stream& to);
  void evaluate(NodeState& state);
  void end(NodeState& state);
  bool run_node(NodeState& state, TensorVec& out);
  void leave(const NodeState& state);
  TensorVec call(Node& node, TensorVec grads);
  void finish(NodeState& state, TensorVec out);

  bool keep_graph_;
  bool accumulate_;
  AutoGradMode mode_;
  AutocastMode::Pause dtypes_of_forward_;
  Pass* outer_;
  NodeTable table_;
  std::vector<std::pair<Edge, Tensor>> roots_;
  std::vector<std::pair<Edge, Tensor*>> wanted_;
  std::priority_queue<Node*, std::vector<Node*>, BySequence> ready_;
  std::vector<std::function<void()>> callbacks_;
  std::vector<Stream> side_streams_;           // those of nodes where they are not the caller's
  std::atomic<bool> several_streams_ = false;  // gradients of one device were on two of its streams
  std::vector<Device> accelerators_;           // those that nodes run on, in order of discovery
  Lanes* lanes_ = nullptr;                     // while the pass runs in several
};

}  // namespace taeda::autograd
