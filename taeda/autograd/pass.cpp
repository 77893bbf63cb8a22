// A node at a time: what it was given is summed, its hooks and its formula run, its results go on.
//
// Note [Streams of a pass]
// A node runs on the stream its forward ran on; what it does on another device runs on the caller's
// current stream there. So a gradient is made on the stream that its producer has for the
// gradient's device, and summed and read on the one that its consumer has: where they differ, the
// consumer's waits. When the pass is over the caller's streams wait for all others, so that
// gradients may be read as if the caller's stream had made them.
#include "taeda/autograd/pass.h"

#include <algorithm>
#include <optional>
#include <string>

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/graph.h"
#include "taeda/autograd/lanes.h"
#include "taeda/autograd/meta.h"
#include "taeda/base/error.h"
#include "taeda/base/rethrow.h"
#include "taeda/base/tracing.h"
#include "taeda/tensor/mapped.h"
#include "taeda/tensor/sparse.h"

namespace taeda::inline v0_2::autograd {

namespace {

thread_local Pass* current_pass = nullptr;
thread_local int leaf_hooks = 0;

TensorVec apply(Node& node, TensorVec grads, Needs needs);

/// The formula of a node for one sample of `level` after the other.
TensorVec apply_to_samples(Node& node, const TensorVec& grads, Needs needs, int level) {
  TensorVec all;
  for (int64_t i = 0; i < Maps::samples(level); ++i) {
    TensorVec sample;
    const Maps::Outside outside(level);
    for (const Tensor& g : grads) {
      const bool differs = g.defined() && mapped_levels(g) >> level & 1;
      sample.push_back(differs ? lowered(g).select(0, i) : g);
    }
    const TensorVec made = apply(node, std::move(sample), needs);
    all.resize(made.size());
    for (size_t k = 0; k < made.size(); ++k) {
      if (!made[k].defined()) continue;
      if (!all[k].defined())
        all[k] = made[k].new_zeros(with_samples(Maps::samples(level), made[k].sizes()));
      all[k].select(0, i).copy_(made[k]);
    }
  }
  for (Tensor& t : all)
    if (t.defined()) t = raised(t, level);
  return all;
}

/// The formula of a node, for each sample if it cannot be for all: Note [Mapped tensors].
TensorVec apply(Node& node, TensorVec grads, Needs needs) {
  uint64_t levels = 0;
  if (Interceptors::has(Interceptors::kMap)) [[unlikely]]
    for (const Tensor& g : grads)
      if (g.defined()) levels |= mapped_levels(g);
  const int level = innermost_of(levels);
  if (level < 0 || Maps::samples(level) == 0) return node.apply(std::move(grads), needs);
  try {
    return node.apply(grads, needs);
  } catch (const UnmappedError&) {
    TensorVec out = apply_to_samples(node, grads, needs, level);
    warn_once_of_samples(taeda::detail::concat(
        "vmap: the formula of ", node.name(),
        " takes gradients of one sample at a time; a batched backward pass is slower there"));
    return out;
  }
}

/// The note of a node, and behind it those of the nodes whose backward recorded it and one another.
std::string notes_of(Node& node) {
  if (!node.hooks()) return "";
  std::string text = node.hooks()->origin;
  for (Node* each = &node; each->hooks();) {
    const auto& all = graph::metadata(*each);
    const auto parent = all.find("parent_");
    if (parent == all.end()) break;
    each = std::any_cast<const NodePtr&>(parent->second).get();
    text += taeda::detail::concat("\n\nPrevious calculation was induced by ", each->name(), ". ");
    const NodeHooks* const h = each->hooks();
    text += !h || h->origin.empty()
                ? "No forward pass information available."
                : "Traceback of forward call that induced the previous calculation:\n" + h->origin;
  }
  return text;
}

/// The name of a node that failed, with the place that recorded it unless somebody else says that.
std::string accused(Node& node) {
  if (const OriginNotes notes = origin_notes(); notes.tell) {
    notes.tell(node.name(), notes_of(node));
    return node.name();
  }
  const NodeHooks* const h = node.hooks();
  if (!h || h->origin.empty()) return node.name();
  return taeda::detail::concat(node.name(), " (", h->origin, ")");
}

void run_tensor_hooks(const Node& node, const NodeHooks& hooks, TensorVec& grads) {
  const auto all = hooks.tensor.snapshot();
  if (!all) return;
  for (const auto& entry : *all) {
    Tensor& g = grads[entry.hook.input_nr];
    if (!g.defined()) continue;
    Tensor replaced = run_hook(
        "tensor hook", [&] { return node.name(); }, [&] { return entry.hook.hook(g); });
    if (!replaced.defined()) continue;
    TAEDA_CHECK(replaced.dtype() == g.dtype() && replaced.device() == g.device(),
                "hook has changed the type of value (was ", g.dtype(), " on ", g.device(), " got ",
                replaced.dtype(), " on ", replaced.device(), ", at ", node.name(), ")");
    TAEDA_CHECK(replaced.sizes() == g.sizes(), "hook has changed the size of value: ", g.sizes(),
                " became ", replaced.sizes(), " (at ", node.name(), ")");
    g = std::move(replaced);
  }
}

bool broadcasts_to(IntArrayRef small, IntArrayRef large) {
  const size_t lead = large.size() - small.size();
  for (size_t d = 0; d < small.size(); ++d)
    if (small[d] != 1 && small[d] != large[lead + d]) return false;
  return true;
}

bool has_nan(const Tensor& t) { return t.ne(t).any().item<bool>(); }

/// Brings a gradient to the shape, dtype and device of the value it belongs to.
Tensor conform(Node& node, size_t i, Tensor g, const InputMeta& meta) {
  if (!(g.sizes() == IntArrayRef(meta.sizes))) {
    const bool reducible =
        g.dim() >= static_cast<int64_t>(meta.sizes.size()) && broadcasts_to(meta.sizes, g.sizes());
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
  if (AnomalyMode::checks_nan() && has_nan(g.is_strided() ? g : stored_values(g)))
    throw Error(taeda::detail::concat("Function '", accused(node), "' returned nan values in its ",
                                      i, "th output."));
  return g;
}

}  // namespace

void mark_user(const Tensor& t, const Stream& stream) {
  if (t.is_sparse()) {
    mark_user(t._indices(), stream);
    return mark_user(t._values(), stream);
  }
  if (t.is_sparse_csr()) {
    const CsrParts& parts = csr_parts(t);
    for (const Tensor* part : {&parts.rows, &parts.columns, &parts.values})
      mark_user(*part, stream);
    return;
  }
  const Storage& storage = t.storage();
  if (storage->address() && storage->resizable()) t.record_stream(stream.id());
}

LeafHooks::LeafHooks() { ++leaf_hooks; }
LeafHooks::~LeafHooks() { --leaf_hooks; }
bool LeafHooks::run_here() { return leaf_hooks > 0; }

Pass* Pass::current() { return current_pass; }

Pass::Pass(bool keep_graph, bool create_graph, bool accumulate)
    : keep_graph_(keep_graph), accumulate_(accumulate), mode_(create_graph), outer_(current_pass) {
  current_pass = this;
}

Pass::~Pass() { current_pass = outer_; }

Pass::Here::Here(Pass& pass) : previous_(current_pass) { current_pass = &pass; }
Pass::Here::~Here() { current_pass = previous_; }

void Pass::run() {
  discover();
  if (!wanted_.empty()) mark_needed();
  for (auto& [edge, grad] : roots_)
    deliver(table_.at(edge.node.get()), edge.input_nr, std::move(grad), nullptr);
  if (accelerators_.size() > 1 && !LeafHooks::run_here()) {
    Lanes lanes(*this);
    lanes.run();
  } else {
    run_here();
  }
  for (const Stream& s : side_streams_) current_stream(s.device()).wait_stream(s);
  while (!callbacks_.empty()) {
    auto callbacks = std::move(callbacks_);
    callbacks_.clear();
    for (auto& f : callbacks) f();
  }
}

void Pass::run_here() {
  for (NodeState& s : table_.states())
    if (s.waiting == 0) ready_.push(s.node.get());
  while (!ready_.empty()) {
    Node* node = ready_.top();
    ready_.pop();
    evaluate(table_.at(node));
  }
}

void Pass::queue_callback(std::function<void()> f) {
  if (lanes_)
    lanes_->queue_callback(std::move(f));
  else
    callbacks_.push_back(std::move(f));
}

/// Finds every node that can be reached and counts the edges into each.
void Pass::discover() {
  std::vector<Node*> stack;
  bool fresh = false;
  for (auto& [edge, grad] : roots_) {
    table_.at(edge.node.get(), &fresh);
    if (fresh) stack.push_back(edge.node.get());
  }
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    const Device device = node->stream.device();
    if (!device.is_cpu() && std::find(accelerators_.begin(), accelerators_.end(), device) ==
                                accelerators_.end()) [[unlikely]]
      accelerators_.push_back(device);
    for (const Edge& e : node->edges) {
      if (!e) continue;
      NodeState& next = table_.at(e.node.get(), &fresh);
      ++next.waiting;
      if (fresh) stack.push_back(e.node.get());
    }
  }
}

/// With `inputs` given, only nodes on a path to one of them run.
void Pass::mark_needed() {
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

/// Adds a gradient that `producer` made (none: the caller) to what a node has been given.
void Pass::deliver(NodeState& to, uint32_t input_nr, Tensor grad, const Node* producer) {
  if (to.grads.size() < to.node->num_inputs()) to.grads.resize(to.node->num_inputs());
  Tensor& sum = to.grads[input_nr];
  std::optional<StreamGuard> on_stream;
  if (!grad.is_cpu()) {
    const Device device = grad.device();
    const Stream consumer = to.node->stream_on(device);
    cross(grad, producer ? producer->stream_on(device) : current_stream(device), consumer);
    if (sum.defined()) on_stream.emplace(consumer);
  }
  add_to(sum, std::move(grad));
}

/// On the current stream.
void Pass::add_to(Tensor& sum, Tensor grad) const {
  if (!sum.defined()) {
    sum = std::move(grad);
    return;
  }
  // A sum with a dense tensor is dense, and begins with it.
  if (!sum.is_strided() && grad.is_strided()) std::swap(sum, grad);
  // Nobody else holds the sum, but on another stream somebody may still read it. Who holds what is
  // behind a mapped one is not known.
  const bool mine = !GradMode::is_enabled() && !several_streams_ && sum.use_count() == 1 &&
                    sum.storage().use_count() == 1 && sum.dtype() == grad.dtype() &&
                    sum.layout().is_non_overlapping_and_dense() && !is_mapped(sum) &&
                    !is_mapped(grad);
  if (mine)
    sum.add_(grad);
  else
    sum = sum.add(grad);
}

/// `to` is going to use what was made on `from`.
void Pass::cross(const Tensor& grad, const Stream& from, const Stream& to) {
  if (from == to) return;
  to.wait_stream(from);
  mark_user(grad, to);
  several_streams_ = true;
}

/// Runs one node and hands its results on.
void Pass::evaluate(NodeState& state) {
  Node& node = *state.node;
  if (state.end) return end(state);
  if (!state.needed) {
    finish(state, {});
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
  if (ran) finish(state, std::move(out));
}

/// Hands over what arrived where the pass ends.
void Pass::end(NodeState& state) {
  state.grads.resize(state.node->num_inputs());
  for (const Capture& c : state.captures) *c.result = state.grads[c.input_nr];
  if (!state.node->stream.device().is_cpu()) leave(state);
}

/// Calls a node with its hooks, under its stream; false for a sink that is not to be filled.
bool Pass::run_node(NodeState& state, TensorVec& out) {
  Node& node = *state.node;
  TensorVec grads = std::move(state.grads);
  grads.resize(node.num_inputs());
  if (const NodeHooks* h = node.hooks()) run_tensor_hooks(node, *h, grads);
  for (const Capture& c : state.captures) *c.result = grads[c.input_nr];
  if (is_sink(node) && (!accumulate_ || (!wanted_.empty() && state.captures.empty()))) return false;
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

/// What a node on a stream of its own leaves to the caller is used on the caller's stream.
void Pass::leave(const NodeState& state) {
  const Stream& stream = state.node->stream;
  const Stream callers = current_stream(stream.device());
  if (stream == callers) return;
  std::vector<Stream>& sides = lanes_ ? lanes_->side_streams() : side_streams_;
  if (std::find(sides.begin(), sides.end(), stream) == sides.end()) sides.push_back(stream);
  for (const Capture& c : state.captures)
    if (c.result->defined() && c.result->device() == stream.device()) mark_user(*c.result, callers);
  if (state.end || !is_sink(*state.node)) return;
  const Tensor grad = static_cast<AccumulateGrad&>(*state.node).gradient();
  if (grad.defined() && grad.device() == stream.device()) mark_user(grad, callers);
}

TensorVec Pass::call(Node& node, TensorVec grads) {
  const NodeHooks* const hooks = node.hooks();
  if (hooks) [[unlikely]]
    if (const auto pre = hooks->pre.snapshot())
      for (const auto& h : *pre)
        grads = run_hook(
            "pre-hook", [&] { return node.name(); }, [&] { return h.hook(std::move(grads)); });
  const bool last = node.edges.empty();
  if (!last &&
      std::none_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); }))
    return {};
  uint64_t mask = 0;
  for (size_t i = 0; i < node.edges.size() && i < 63; ++i)
    if (node.edges[i] && table_.at(node.edges[i].node.get()).needed) mask |= uint64_t{1} << i;
  if (!last && mask == 0 && node.edges.size() < 63) return {};
  const auto post = hooks ? hooks->post.snapshot() : nullptr;
  const TensorVec taken = post ? grads : TensorVec();
  TensorVec out;
  {
    RunningNode running(&node);
    tracing::Span span;
    if (tracing::wants(tracing::kSpans | tracing::kScopes)) [[unlikely]]
      span.enter(tracing::Kind::Backward, node.name());
    try {
      out = apply(node, std::move(grads), Needs(mask));
    } catch (Error& e) {
      if (AnomalyMode::is_enabled()) e.add_context(taeda::detail::concat("in ", accused(node)));
      throw;
    } catch (...) {
      if (AnomalyMode::is_enabled()) accused(node);
      throw;
    }
  }
  if (!keep_graph_) node.release_saved();
  if (post)
    for (const auto& h : *post)
      out = run_hook(
          "post-hook", [&] { return node.name(); }, [&] { return h.hook(std::move(out), taken); });
  return out;
}

/// Delivers the results to the successors; those that have everything become ready.
void Pass::finish(NodeState& state, TensorVec out) {
  if (lanes_) return lanes_->finish(state, std::move(out));
  const Node& node = *state.node;
  for (size_t i = 0; i < node.edges.size(); ++i) {
    const Edge& edge = node.edges[i];
    if (!edge) continue;
    NodeState& next = table_.at(edge.node.get());
    if (i < out.size() && out[i].defined() && next.needed)
      deliver(next, edge.input_nr, std::move(out[i]), &node);
    if (--next.waiting == 0) ready_.push(edge.node.get());
  }
}

}  // namespace taeda::inline v0_2::autograd
