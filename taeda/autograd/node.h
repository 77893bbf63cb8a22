// A node of the backward graph, and the edges between nodes.
//
// A node takes one gradient for each output of the forward operation and gives one for each of its
// inputs; `edges[i]` says where the i-th goes. Walking and destroying graphs is iterative: a chain
// of a million nodes is fine.
#pragma once

#include <atomic>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "taeda/base/hook_list.h"
#include "taeda/device/stream.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::autograd {

class Node;
/// Nodes are counted: by the tensors that they made, and by the nodes that follow.
using NodePtr = IntrusivePtr<Node>;
/// "<MulBackward0 at 0x55d0c8>", or "None".
std::ostream& operator<<(std::ostream& out, const NodePtr& node);
/// Gradients of a node's inputs or outputs; few enough for no allocation.
using TensorVec = SmallVector<Tensor, 3>;

/// Where a gradient goes: the `input_nr`-th input of `node`. No node: nobody wants it.
/// By default none.
struct Edge {
  NodePtr node;
  uint32_t input_nr = 0;
  explicit operator bool() const { return static_cast<bool>(node); }
};

/// What the gradient of one forward output must look like.
struct InputMeta {
  DimVector sizes;
  ScalarType dtype;
  Device device;
};

/// Which inputs of the forward operation want a gradient in this pass.
class Needs {
 public:
  explicit Needs(uint64_t mask) : mask_(mask) {}
  bool operator[](size_t i) const { return i >= 63 ? true : mask_ >> i & 1; }

 private:
  uint64_t mask_;
};

/// Gets a gradient; what it returns takes the gradient's place unless it is undefined.
using TensorHook = std::function<Tensor(const Tensor&)>;
/// Sees and may replace the gradients a node takes (pre) or gives (post).
using NodePreHook = std::function<TensorVec(TensorVec grads)>;
using NodePostHook = std::function<TensorVec(TensorVec given, const TensorVec& taken)>;

/// Sees a leaf after a gradient was added to its grad().
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;

/// Hooks of a node, and what else few nodes have; so kept apart.
/// By default empty: a node without hooks has none of it.
struct NodeHooks {
  struct OnTensor {
    uint32_t input_nr;
    TensorHook hook;
    explicit operator bool() const { return static_cast<bool>(hook); }
  };
  HookList<OnTensor> tensor;
  HookList<NodePreHook> pre;
  HookList<NodePostHook> post;
  HookList<PostAccumulateHook> post_accumulate;
  /// Where the forward operation ran; recorded in anomaly mode.
  std::string origin;
  /// What graph::metadata gives.
  std::shared_ptr<void> notes;
};

/// A tensor that an operation saved for its backward, by the name of its argument or result.
struct SavedTensor {
  std::string name;
  Tensor value;
};

/// A recorded operation: from gradients of its outputs it makes those of its inputs.
class Node : public RefCounted, public BlockCached {
 public:
  /// Takes the thread's next sequence number.
  Node();
  virtual ~Node() {
    if (NodeHooks* hooks = hooks_.load(std::memory_order_relaxed)) drop(hooks);
  }

  /// "MulBackward0", "AccumulateGrad", ...
  virtual const char* name() const = 0;
  /// Gradients of the forward inputs from those of its outputs; undefined stands for zero.
  virtual TensorVec apply(TensorVec grads, Needs needs) = 0;
  /// Lets go of what the forward operation saved; called after the pass unless the graph is kept.
  virtual void release_saved() {}
  /// What the forward operation saved, unpacked, in the order in which its closure holds it;
  /// Python's `grad_fn._saved_self` and the like. Throws Error if it was released, or changed in
  /// place since.
  virtual std::vector<SavedTensor> saved_tensors() const { return {}; }

  /// Where the gradients of the inputs go, one edge for each, as Python's `next_functions`; an edge
  /// without a node where no gradient is wanted.
  const SmallVector<Edge, 2>& next_functions() const { return edges; }
  /// libtorch's name of them.
  const SmallVector<Edge, 2>& next_edges() const { return edges; }

  /// Later operations have larger numbers; backward takes the largest that is ready first.
  uint64_t sequence_nr() const { return sequence_nr_; }
  void set_sequence_nr(uint64_t n) { sequence_nr_ = n; }

  /// Of the gradients that it gets, which is the number of the operation's outputs.
  uint32_t num_inputs() const { return static_cast<uint32_t>(inputs.size()); }
  /// Adds an input that takes the gradient of `output`; returns its number.
  uint32_t add_input(const Tensor& output);

  // Hooks may be added and removed while passes run: a pass that has reached the node runs those
  // that it had then.
  HookHandle add_tensor_hook(uint32_t input_nr, TensorHook hook);
  HookHandle add_pre_hook(NodePreHook hook);
  HookHandle add_post_hook(NodePostHook hook);
  /// Removes just this hook, of whatever kind; false if it is not one of this node's.
  bool remove_hook(HookHandle handle);
  /// Null as long as there never was one.
  NodeHooks* hooks() const { return hooks_.load(std::memory_order_acquire); }
  NodeHooks& ensure_hooks();

  /// The stream on which gradients on `device` are given to the node, and it reads them.
  virtual Stream stream_on(Device device) const {
    return stream.device() == device ? stream : current_stream(device);
  }

  /// Where gradients go next, and what those that come in look like.
  SmallVector<Edge, 2> edges;
  SmallVector<InputMeta, 1> inputs;
  /// The stream the forward operation ran on: its backward runs there, too.
  Stream stream;

 private:
  friend void destroy(Node* node);
  static void drop(NodeHooks* hooks);
  std::atomic<NodeHooks*> hooks_{nullptr};
  uint64_t sequence_nr_;
  Node* next_dead_ = nullptr;
};

/// Deletes a node and, one after the other, all that only it kept alive.
void destroy(Node* node);

/// The node whose `apply` runs on this thread, or nullptr.
Node* current_node();

/// Makes a node the current one for a scope.
class RunningNode {
 public:
  explicit RunningNode(Node* node);
  ~RunningNode();
  RunningNode(const RunningNode&) = delete;
  RunningNode& operator=(const RunningNode&) = delete;

 private:
  Node* previous_;
};

/// The edge along which a tensor's gradient travels: to its grad_fn, to its accumulator if it is a
/// leaf that requires a gradient, to nobody otherwise.
Edge gradient_edge(const Tensor& t);

}  // namespace taeda::inline v0_2::autograd
