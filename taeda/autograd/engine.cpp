// The engine: a pass runs on the thread that called it, nodes in the order of their sequence
// numbers (latest first), so that results are the same every time.
//
// Note [Streams of a pass]
// A node runs on the stream its forward ran on; what it does on another device runs on the caller's
// current stream there. So a gradient is made on the stream that its producer has for the
// gradient's device, and summed and read on the one that its consumer has: where they differ, the
// consumer's waits. When the pass is over the caller's streams wait for all others, so that
// gradients may be read as if the caller's stream had made them.
#include "taeda/autograd/engine.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/meta.h"
#include "taeda/base/error.h"
#include "taeda/base/tracing.h"
#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::autograd {

namespace {

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

  /// The node's state; made, with `fresh` set, when it is new.
  NodeState& at(Node* node, bool* fresh = nullptr) {
    if ((states_.size() + 1) * 2 > slots_.size()) grow();
    Slot& slot = find(node);
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

class Pass;
thread_local Pass* current_pass = nullptr;
/// Where a node's work on `device` runs. To be asked under the caller's streams.
Stream stream_of(const Node& node, Device device) {
  return node.stream.device() == device ? node.stream : current_stream(device);
}

/// The memory of `t` is used by `stream`, though it belongs to another one.
void mark_user(const Tensor& t, const Stream& stream) {
  const Storage& storage = t.storage();
  if (storage->data() && storage->resizable()) t.record_stream(stream.id());
}

std::string describe(const Node& node) {
  return node.origin ? taeda::detail::concat(node.name(), " (", *node.origin, ")") : node.name();
}

/// One backward pass.
class Pass {
 public:
  Pass(bool keep_graph, bool create_graph, bool accumulate)
      : keep_graph_(keep_graph),
        accumulate_(accumulate),
        mode_(create_graph),
        outer_(current_pass) {
    current_pass = this;
  }
  ~Pass() { current_pass = outer_; }

  void add_root(const Edge& edge, Tensor grad) { roots_.push_back({edge, std::move(grad)}); }
  void add_capture(const Edge& edge, Tensor* result) { wanted_.push_back({edge, result}); }
  void end_at(const Edge& edge) { table_.at(edge.node.get()).end = true; }

  void run() {
    discover();
    if (!wanted_.empty()) mark_needed();
    for (auto& [edge, grad] : roots_)
      deliver(table_.at(edge.node.get()), edge.input_nr, std::move(grad), nullptr);
    for (NodeState& s : table_.states())
      if (s.waiting == 0) ready_.push(s.node.get());
    while (!ready_.empty()) {
      Node* node = ready_.top();
      ready_.pop();
      evaluate(table_.at(node));
    }
    for (const Stream& s : side_streams_) current_stream(s.device()).wait_stream(s);
    while (!callbacks_.empty()) {
      auto callbacks = std::move(callbacks_);
      callbacks_.clear();
      for (auto& f : callbacks) f();
    }
  }

  void queue_callback(std::function<void()> f) { callbacks_.push_back(std::move(f)); }

 private:
  struct BySequence {
    bool operator()(const Node* a, const Node* b) const {
      return a->sequence_nr() < b->sequence_nr();
    }
  };

  /// Finds every node that can be reached and counts the edges into each.
  void discover() {
    std::vector<Node*> stack;
    bool fresh = false;
    for (auto& [edge, grad] : roots_) {
      table_.at(edge.node.get(), &fresh);
      if (fresh) stack.push_back(edge.node.get());
    }
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Edge& e : node->edges) {
        if (!e) continue;
        NodeState& next = table_.at(e.node.get(), &fresh);
        ++next.waiting;
        if (fresh) stack.push_back(e.node.get());
      }
    }
  }

  /// With `inputs` given, only nodes on a path to one of them run.
  void mark_needed() {
    for (NodeState& s : table_.states()) s.needed = false;
    for (auto& [edge, result] : wanted_)
      if (NodeState* s = table_.find_existing(edge.node.get())) {
        s->needed = true;
        s->captures.push_back({edge.input_nr, result});
      }
    // Post-order over an explicit stack: a node is needed if any successor is.
    std::vector<std::pair<Node*, size_t>> stack;
    std::vector<uint8_t> visited(table_.states().size(), 0);
    const auto index = [this](Node* n) {
      return static_cast<size_t>(&table_.at(n) - table_.states().data());
    };
    for (auto& [edge, grad] : roots_) {
      if (visited[index(edge.node.get())]++) continue;
      stack.push_back({edge.node.get(), 0});
      while (!stack.empty()) {
        auto& [node, child] = stack.back();
        NodeState& s = table_.at(node);
        if (s.end || child == node->edges.size()) {
          for (const Edge& e : node->edges) s.needed |= !s.end && e && is_needed(e);
          stack.pop_back();
          continue;
        }
        const Edge& e = node->edges[child++];
        if (e && !visited[index(e.node.get())]++) stack.push_back({e.node.get(), 0});
      }
    }
  }

  bool is_needed(const Edge& edge) { return table_.at(edge.node.get()).needed; }

  /// Adds a gradient that `producer` made (none: the caller) to what a node has been given.
  void deliver(NodeState& to, uint32_t input_nr, Tensor grad, const Node* producer) {
    if (to.grads.size() < to.node->num_inputs()) to.grads.resize(to.node->num_inputs());
    Tensor& sum = to.grads[input_nr];
    std::optional<StreamGuard> on_stream;
    if (!grad.is_cpu()) {
      const Device device = grad.device();
      const Stream consumer = stream_of(*to.node, device);
      cross(grad, producer ? stream_of(*producer, device) : current_stream(device), consumer);
      if (sum.defined()) on_stream.emplace(consumer);
    }
    if (!sum.defined()) {
      sum = std::move(grad);
      return;
    }
    // Nobody else holds the sum, but on another stream somebody may still read it.
    const bool mine = !GradMode::is_enabled() && !several_streams_ && sum.use_count() == 1 &&
                      sum.storage().use_count() == 1 && sum.dtype() == grad.dtype() &&
                      sum.layout().is_non_overlapping_and_dense();
    if (mine)
      sum.add_(grad);
    else
      sum = sum.add(grad);
  }

  /// `to` is going to use what was made on `from`.
  void cross(const Tensor& grad, const Stream& from, const Stream& to) {
    if (from == to) return;
    to.wait_stream(from);
    mark_user(grad, to);
    several_streams_ = true;
  }

  /// Runs one node and hands its results on.
  void evaluate(NodeState& state) {
    Node& node = *state.node;
    if (state.end) return end(state);
    if (!state.needed) {
      finish(node, {});
      return;
    }
    TensorVec out;
    bool ran = false;
    {
      std::optional<StreamGuard> on_stream;
      if (!node.stream.device().is_cpu()) on_stream.emplace(node.stream);
      ran = run_node(state, out);
    }
    if (!node.stream.device().is_cpu()) leave(state);
    if (ran) finish(node, std::move(out));
  }

  /// Hands over what arrived where the pass ends.
  void end(NodeState& state) {
    state.grads.resize(state.node->num_inputs());
    for (const Capture& c : state.captures) *c.result = state.grads[c.input_nr];
    if (!state.node->stream.device().is_cpu()) leave(state);
  }

  /// Calls a node with its hooks, under its stream; false for a sink that is not to be filled.
  bool run_node(NodeState& state, TensorVec& out) {
    Node& node = *state.node;
    TensorVec grads = std::move(state.grads);
    grads.resize(node.num_inputs());
    run_tensor_hooks(node, grads);
    for (const Capture& c : state.captures) *c.result = grads[c.input_nr];
    if (is_sink(node) && (!accumulate_ || (!wanted_.empty() && state.captures.empty())))
      return false;
    out = call(node, std::move(grads));
    TAEDA_CHECK(out.size() <= node.edges.size() || node.edges.empty(), "Function ", node.name(),
                " returned an invalid number of gradients - got ", out.size(), ", but expected ",
                node.edges.size());
    for (size_t i = 0; i < out.size() && i < node.edges.size(); ++i) {
      const Edge& edge = node.edges[i];
      if (edge && out[i].defined() && table_.at(edge.node.get()).needed)
        out[i] = conform(node, i, std::move(out[i]), edge.node->inputs[edge.input_nr]);
    }
    return true;
  }

  static bool is_sink(const Node& node) {
    return node.edges.empty() && node.sequence_nr() == UINT64_MAX;
  }

  /// What a node on a stream of its own leaves to the caller is used on the caller's stream.
  void leave(const NodeState& state) {
    const Stream& stream = state.node->stream;
    const Stream callers = current_stream(stream.device());
    if (stream == callers) return;
    if (std::find(side_streams_.begin(), side_streams_.end(), stream) == side_streams_.end())
      side_streams_.push_back(stream);
    for (const Capture& c : state.captures)
      if (c.result->defined() && c.result->device() == stream.device())
        mark_user(*c.result, callers);
    if (state.end || !is_sink(*state.node)) return;
    const Tensor leaf = static_cast<AccumulateGrad&>(*state.node).leaf();
    if (leaf.defined() && leaf.grad().defined() && leaf.grad().device() == stream.device())
      mark_user(leaf.grad(), callers);
  }

  TensorVec call(Node& node, TensorVec grads) {
    if (node.hooks)
      for (auto& h : node.hooks->pre) grads = h.hook(std::move(grads));
    const bool last = node.edges.empty();
    if (!last &&
        std::none_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); }))
      return {};
    uint64_t mask = 0;
    for (size_t i = 0; i < node.edges.size() && i < 63; ++i)
      if (node.edges[i] && table_.at(node.edges[i].node.get()).needed) mask |= uint64_t{1} << i;
    if (!last && mask == 0 && node.edges.size() < 63) return {};
    const bool post = node.hooks && !node.hooks->post.empty();
    const TensorVec taken = post ? grads : TensorVec();
    TensorVec out;
    {
      RunningNode running(&node);
      tracing::Span span;
      if (tracing::wants(tracing::kSpans | tracing::kScopes)) [[unlikely]]
        span.enter(tracing::Kind::Backward, node.name());
      try {
        out = node.apply(std::move(grads), Needs(mask));
      } catch (Error& e) {
        if (AnomalyMode::is_enabled()) e.add_context(taeda::detail::concat("in ", describe(node)));
        throw;
      }
    }
    if (!keep_graph_) node.release_saved();
    if (post)
      for (auto& h : node.hooks->post) out = h.hook(std::move(out), taken);
    return out;
  }

  void run_tensor_hooks(Node& node, TensorVec& grads) {
    if (!node.hooks) return;
    for (size_t i = 0; i < node.hooks->tensor.size(); ++i) {
      const NodeHooks::OnTensor h = node.hooks->tensor[i];  // a hook may remove itself
      Tensor& g = grads[h.input_nr];
      if (!g.defined()) continue;
      Tensor replaced = h.hook(g);
      if (!replaced.defined()) continue;
      TAEDA_CHECK(replaced.sizes() == g.sizes(), "hook has changed the size of value: ", g.sizes(),
                  " became ", replaced.sizes(), " (at ", node.name(), ")");
      g = std::move(replaced);
    }
  }

  /// Delivers the results to the successors; those that have everything become ready.
  void finish(const Node& node, TensorVec out) {
    for (size_t i = 0; i < node.edges.size(); ++i) {
      const Edge& edge = node.edges[i];
      if (!edge) continue;
      NodeState& next = table_.at(edge.node.get());
      if (i < out.size() && out[i].defined() && next.needed)
        deliver(next, edge.input_nr, std::move(out[i]), &node);
      if (--next.waiting == 0) ready_.push(edge.node.get());
    }
  }

  /// Brings a gradient to the shape, dtype and device of the value it belongs to.
  Tensor conform(const Node& node, size_t i, Tensor g, const InputMeta& meta) {
    if (!(g.sizes() == IntArrayRef(meta.sizes))) {
      const bool reducible = g.dim() >= static_cast<int64_t>(meta.sizes.size()) &&
                             broadcasts_to(meta.sizes, g.sizes());
      TAEDA_CHECK(reducible, "Function ", node.name(), " returned an invalid gradient at index ", i,
                  " - got ", g.sizes(), " but expected shape compatible with ", meta.sizes);
      g = g.sum_to_size(meta.sizes);
    }
    // A real input cannot move along the imaginary part of its gradient, which the cast drops.
    if (g.dtype() != meta.dtype) g = g.to(meta.dtype);
    TAEDA_CHECK(g.device() == meta.device || g.dim() == 0, "Function ", node.name(),
                " returned an invalid gradient at index ", i, " - expected device ", meta.device,
                " but got ", g.device());
    if (g.device() != meta.device) g = g.to(meta.device);
    if (AnomalyMode::checks_nan() && g.ne(g).any().item<bool>())
      throw Error(taeda::detail::concat("Function '", describe(node),
                                        "' returned nan values in its ", i, "th output."));
    return g;
  }

  static bool broadcasts_to(IntArrayRef small, IntArrayRef large) {
    const size_t lead = large.size() - small.size();
    for (size_t d = 0; d < small.size(); ++d)
      if (small[d] != 1 && small[d] != large[lead + d]) return false;
    return true;
  }

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
  std::vector<Stream> side_streams_;  // those of nodes where they are not the caller's
  bool several_streams_ = false;      // gradients of one device have been on two of its streams
};

/// The weight of an output: given, or one for a single element.
Tensor root_gradient(const Tensor& output, const Tensor& given) {
  if (given.defined()) {
    TAEDA_CHECK(given.sizes() == output.sizes(), "Mismatch in shape: grad_output has a shape of ",
                given.sizes(), " and output has a shape of ", output.sizes(), ".");
    return given;
  }
  TAEDA_CHECK(output.numel() == 1,
              "grad can be implicitly created only for scalar outputs, but got an output of shape ",
              output.sizes());
  NoGradGuard guard;
  Tensor one = make_tensor(output.sizes(), output.dtype(), output.device());
  one.fill_(1);
  return one;
}

void add_roots(Pass& pass, const std::vector<Tensor>& outputs, const std::vector<Tensor>& grads) {
  TAEDA_CHECK(grads.empty() || grads.size() == outputs.size(), "got ", outputs.size(),
              " tensors and ", grads.size(), " gradients");
  for (size_t i = 0; i < outputs.size(); ++i) {
    TAEDA_CHECK(outputs[i].defined() && outputs[i].requires_grad(), "element ", i,
                " of tensors does not require grad and does not have a grad_fn");
    TAEDA_CHECK(!outputs[i].is_complex() || (!grads.empty() && grads[i].defined()),
                "grad can be implicitly created only for real scalar outputs but got ComplexFloat");
    pass.add_root(gradient_edge(outputs[i]),
                  root_gradient(outputs[i], grads.empty() ? Tensor() : grads[i]));
  }
}

}  // namespace

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph,
              const std::vector<Tensor>& inputs) {
  std::vector<Tensor> results(inputs.size());
  Pass pass(retain_graph.value_or(create_graph), create_graph, true);
  add_roots(pass, tensors, grad_tensors);
  std::vector<Tensor> non_leaf;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TAEDA_CHECK(inputs[i].defined() && inputs[i].requires_grad(),
                "One of the differentiated Tensors does not require grad");
    pass.add_capture(gradient_edge(inputs[i]), &results[i]);
  }
  pass.run();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is_leaf() || !results[i].defined()) continue;
    Tensor& g = inputs[i].mutable_grad();
    g = g.defined() ? g.add(results[i]) : results[i];
  }
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                         bool create_graph, bool allow_unused) {
  TAEDA_CHECK(!inputs.empty(), "grad requires non-empty inputs.");
  std::vector<Tensor> results(inputs.size());
  Pass pass(retain_graph.value_or(create_graph), create_graph, false);
  add_roots(pass, outputs, grad_outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    TAEDA_CHECK(inputs[i].defined() && inputs[i].requires_grad(),
                "One of the differentiated Tensors does not require grad");
    pass.add_capture(gradient_edge(inputs[i]), &results[i]);
  }
  pass.run();
  for (const Tensor& r : results)
    TAEDA_CHECK(r.defined() || allow_unused,
                "One of the differentiated Tensors appears to not have been used in the graph. Set "
                "allow_unused=true "
                "if this is the desired behavior.");
  for (Tensor& r : results)  // an expanded number is enough for nodes; a caller may write into it
    if (r.defined() && r.layout().has_internal_overlap()) r = r.contiguous();
  return results;
}

std::vector<Tensor> grad_at(const std::vector<Tensor>& outputs,
                            const std::vector<Tensor>& grad_outputs, const std::vector<Edge>& ends,
                            Needs needed, bool create_graph) {
  std::vector<Tensor> results(ends.size());
  Pass pass(create_graph, create_graph, false);
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!ends[i]) continue;
    pass.end_at(ends[i]);
    if (needed[i]) pass.add_capture(ends[i], &results[i]);
  }
  add_roots(pass, outputs, grad_outputs);
  pass.run();
  return results;
}

void queue_callback(std::function<void()> callback) {
  TAEDA_CHECK(current_pass, "Final callbacks can only be installed during backward pass.");
  current_pass->queue_callback(std::move(callback));
}

}  // namespace taeda::autograd
