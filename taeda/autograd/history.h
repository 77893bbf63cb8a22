// How an operation puts itself into the graph. See ops/README.md for the pattern.
#pragma once

#include <array>
#include <optional>

#include "taeda/autograd/meta.h"
#include "taeda/autograd/saved.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::autograd {

/// An input of an operation; undefined tensors are allowed and get no edge.
struct Input {
  const Tensor* tensor;
  Input(const Tensor& t) : tensor(&t) {}
};

/// Whether a result computed from these tensors must be recorded. Undefined ones do not count.
template <class... T>
bool wants_grad(const T&... inputs) {
  return GradMode::is_enabled() && ((inputs.defined() && inputs.requires_grad()) || ...);
}
bool any_wants_grad(TensorList inputs);

namespace detail {

/// Gives `out` the history "the gradient goes on to `to`".
void link(const Tensor& out, Edge to);
/// The tensors that a copy of the node's closure showed.
std::vector<SavedTensor> unpack_all(const Node& node, const SavedVisitor& visitor);

/// A node around a closure.
template <class F>
class ClosureNode final : public Node {
 public:
  ClosureNode(const char* name, F f)
      : name_(name), fn_(std::move(f)), saves_(take_saved_count() > 0) {}
  const char* name() const override { return name_; }

  TensorVec apply(TensorVec grads, Needs needs) override {
    if (!fn_) throw_released(name_);
    if constexpr (std::is_invocable_v<const F&, const Tensor&>) {
      return to_vec((*fn_)(grads[0]));
    } else if constexpr (std::is_invocable_v<const F&, const Tensor&, Needs>) {
      return to_vec((*fn_)(grads[0], needs));
    } else {
      return to_vec((*fn_)(const_cast<const TensorVec&>(grads), needs));
    }
  }
  void release_saved() override {
    if (saves_) fn_.reset();
  }
  std::vector<SavedTensor> saved_tensors() const override {
    if (!fn_) throw_released(name_);
    SavedVisitor visitor;
    [[maybe_unused]] const F copy = *fn_;  // shows what it holds to the visitor
    return unpack_all(*this, visitor);
  }

 private:
  static TensorVec to_vec(Tensor t) {
    TensorVec out;
    out.push_back(std::move(t));
    return out;
  }
  static TensorVec to_vec(TensorVec v) { return v; }
  static TensorVec to_vec(std::vector<Tensor> v) { return {v.begin(), v.end()}; }
  [[noreturn]] static void throw_released(const char* name);

  const char* name_;
  std::optional<F> fn_;
  bool saves_;
};

[[noreturn]] void throw_graph_released(const char* name);
template <class F>
void ClosureNode<F>::throw_released(const char* name) {
  throw_graph_released(name);
}

void connect(Node& node, ArrayRef<Input> inputs);
void connect(Node& node, TensorList inputs);
/// In anomaly mode the node remembers where it was recorded.
void remember_origin(Node& node);

template <class F, class Inputs>
NodePtr make_node(const char* name, Inputs inputs, F&& f) {
  NodePtr node = make_intrusive<ClosureNode<std::decay_t<F>>>(name, std::forward<F>(f));
  connect(*node, inputs);
  return node;
}

}  // namespace detail

/// Records that `out` was computed from `inputs`; call it only if `wants_grad(inputs...)`.
///
/// `backward` is called with the gradient of `out` and returns those of the inputs, in order:
///   [..](const Tensor& g) -> Tensor                        one input
///   [..](const Tensor& g, Needs needs) -> TensorVec        several; undefined where not needed
/// A gradient may have a broadcast shape or another floating dtype: it is summed to the input's
/// shape and cast by the engine. Closures capture `save(x)` or `save_output(y)`, never tensors, and
/// are written with differentiable operations, so that second derivatives exist.
template <class F>
void record(const char* name, const Tensor& out, ArrayRef<Input> inputs, F&& backward) {
  if (!is_differentiable(out.dtype())) return (void)take_saved_count();
  set_history(out, detail::make_node(name, inputs, std::forward<F>(backward)), 0);
}

/// The same with any number of inputs (cat, stack).
template <class F>
void record_list(const char* name, const Tensor& out, TensorList inputs, F&& backward) {
  if (!is_differentiable(out.dtype())) return (void)take_saved_count();
  set_history(out, detail::make_node(name, inputs, std::forward<F>(backward)), 0);
}

/// Several differentiable outputs: `backward(const TensorVec& grads, Needs needs) -> TensorVec`,
/// where the gradient of an output nobody used is undefined.
template <class F>
void record_multi(const char* name, TensorList outs, ArrayRef<Input> inputs, F&& backward) {
  NodePtr node = detail::make_node(name, inputs, std::forward<F>(backward));
  for (uint32_t i = 0; i < outs.size(); ++i) set_history(outs[i], node, i);
}

/// Throws Error if `self` may not be written into: inference tensors outside of inference mode;
/// and, where the change is `recorded` or `self` requires a gradient, leaves and views whose
/// history could not follow (autograd/view.h). `op` names the operation in the error.
void check_inplace(const char* op, const Tensor& self, bool recorded = false);

/// Counts a change of `self`, its base and that one's views.
inline void bump_version(const Tensor& self) { self.unsafe_impl()->bump_version(); }

/// A change of `self` in place. Made before the write, it checks and takes the edges to the values
/// that go in, while the histories that tell them are still valid; `finish` comes after the write:
///
///   InplaceChange change("fill_", self, {self});
///   ... write into self ...
///   change.finish("FillBackward0", [] { return [](const Tensor& g) { return zeros of g; }; });
class InplaceChange {
 public:
  /// `inputs` are what the new values depend on, in the order in which the backward closure gives
  /// gradients.
  InplaceChange(const char* op, const Tensor& self, ArrayRef<Input> inputs);
  InplaceChange(const InplaceChange&) = delete;
  InplaceChange& operator=(const InplaceChange&) = delete;

  bool recorded() const { return recorded_; }
  /// Counts the change. If it is recorded, `make_backward()` gives the closure, as for `record`; it
  /// may save `self` as the output.
  template <class MakeBackward>
  void finish(const char* name, MakeBackward&& make_backward) {
    bump_version(self_);
    if (!recorded_) return;
    auto backward = make_backward();
    NodePtr node =
        make_intrusive<detail::ClosureNode<decltype(backward)>>(name, std::move(backward));
    node->edges = std::move(edges_);
    finish(std::move(node));
  }

 private:
  void finish(NodePtr node);

  const Tensor& self_;
  bool recorded_;
  SmallVector<Edge, 2> edges_;
};

}  // namespace taeda::inline v0_2::autograd
