#include "taeda/autograd/history.h"

#include "taeda/autograd/anomaly.h"
#include "taeda/autograd/graph.h"
#include "taeda/autograd/view.h"
#include "taeda/base/error.h"

namespace taeda::inline v0_2::autograd {

bool any_wants_grad(TensorList inputs) {
  if (!GradMode::is_enabled()) return false;
  for (const Tensor& t : inputs)
    if (t.defined() && t.requires_grad()) return true;
  return false;
}

void detail::throw_graph_released(const char* name) {
  throw Error(
      taeda::detail::concat("Trying to backward through the graph a second time (or directly "
                            "access saved tensors after they have already "
                            "been freed). Saved intermediate values of the graph are freed when "
                            "you call .backward() or autograd::grad(). "
                            "Specify retain_graph=true if you need to backward through the graph a "
                            "second time or if you need to access "
                            "saved tensors after calling backward. (at ",
                            name, ")"));
}

void detail::link(const Tensor& out, Edge to) {
  take_saved_count();
  NodePtr node = make_closure_node("AliasBackward0", [](const Tensor& g) { return g; });
  node->edges.push_back(std::move(to));
  set_history(out, std::move(node), 0);
}

TensorVec detail::AnyClosureNode::apply(TensorVec grads, Needs needs) {
  if (!closure_) throw_graph_released(name_);
  return functions_.call(closure_, grads, needs);
}

void detail::AnyClosureNode::release_saved() {
  if (saves_) destroy_closure();
}

std::vector<SavedTensor> detail::AnyClosureNode::saved_tensors() const {
  if (!closure_) throw_graph_released(name_);
  SavedVisitor visitor;
  functions_.copy(closure_);
  const RunningNode running(
      const_cast<AnyClosureNode*>(this));  // outputs get their history from it
  const AutoGradMode recorded(true);
  std::vector<SavedTensor> out;
  for (const Saved* s : visitor.found())
    if (s->defined()) out.push_back({s->name() ? s->name() : "", s->unpack()});
  return out;
}

void detail::remember_origin(Node& node) {
  if (!AnomalyMode::is_enabled()) return;
  Node* const outer = current_node();
  if (outer) graph::metadata(node)["parent_"] = NodePtr(outer);
  if (const OriginNotes notes = origin_notes(); notes.note) {
    node.ensure_hooks().origin = notes.note();
    return;
  }
  node.ensure_hooks().origin = outer
                                   ? taeda::detail::concat("recorded while ", outer->name(), " ran")
                                   : "recorded in the forward pass";
}

namespace {

Edge edge_to(const Tensor& t) { return t.defined() ? gradient_edge(t) : Edge{}; }

}  // namespace

void detail::connect(Node& node, ArrayRef<Input> inputs) {
  node.edges.reserve(inputs.size());
  for (const Input& in : inputs) node.edges.push_back(edge_to(*in.tensor));
  remember_origin(node);
}

void detail::connect(Node& node, TensorList inputs) {
  node.edges.reserve(inputs.size());
  for (const Tensor& in : inputs) node.edges.push_back(edge_to(in));
  remember_origin(node);
}

void detail::record_node(const Tensor& out, ArrayRef<Input> inputs, NodePtr node) {
  connect(*node, inputs);
  set_history(out, std::move(node), 0);
}

void detail::record_node(const Tensor& out, TensorList inputs, NodePtr node) {
  connect(*node, inputs);
  set_history(out, std::move(node), 0);
}

void detail::record_node(TensorList outs, ArrayRef<Input> inputs, NodePtr node) {
  connect(*node, inputs);
  for (uint32_t i = 0; i < outs.size(); ++i) set_history(outs[i], node, i);
}

void check_inplace(const char* op, const Tensor& self, bool recorded) {
  if (!self.defined()) taeda::detail::throw_undefined_tensor();
  const TensorImpl& impl = *self.unsafe_impl();
  TAEDA_CHECK(!impl.inference || InferenceMode::is_enabled(),
              "Inplace update to inference tensor outside InferenceMode is not allowed (in ", op,
              "). You can make a "
              "clone to get a normal tensor before doing inplace update.");
  if (!GradMode::is_enabled() || !(recorded || self.requires_grad())) return;
  if (impl.base) check_view(op, self);
  TAEDA_CHECK(!self.requires_grad() || !self.is_leaf(),
              "a leaf Variable that requires grad is being used in an in-place operation. (in ", op,
              ")");
}

InplaceChange::InplaceChange(const char* op, const Tensor& self, ArrayRef<Input> inputs)
    : self_(self), recorded_(false) {
  if (GradMode::is_enabled() && self.defined() && is_differentiable(self.dtype()))
    for (const Input& in : inputs)
      recorded_ = recorded_ || (in.tensor->defined() && in.tensor->requires_grad());
  check_inplace(op, self, recorded_);
  if (!recorded_) return;
  edges_.reserve(inputs.size());
  for (const Input& in : inputs) edges_.push_back(edge_to(*in.tensor));
}

void InplaceChange::finish(NodePtr node) {
  node->edges = std::move(edges_);
  detail::remember_origin(*node);
  rebase_history(self_, std::move(node), 0);
}

}  // namespace taeda::inline v0_2::autograd
