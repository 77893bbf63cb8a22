// How an operation puts itself into the graph. See ops/README.md for the pattern.
#pragma once

#include <array>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

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
[[noreturn]] void throw_graph_released(const char* name);

/// What is done with a closure where its type is not known.
struct ClosureFunctions {
  TensorVec (*call)(const void* closure, const TensorVec& grads, Needs needs);
  /// A copy that is destroyed at once, which shows what the closure saved to a SavedVisitor.
  void (*copy)(const void* closure);
  void (*destroy)(void* closure);
};

/// A node around a closure. There are hundreds of types of closures, so what is the same for all of
/// them is here and is compiled once.
class AnyClosureNode : public Node {
 public:
  const char* name() const final { return name_; }
  TensorVec apply(TensorVec grads, Needs needs) final;
  void release_saved() final;
  std::vector<SavedTensor> saved_tensors() const final;

 protected:
  AnyClosureNode(const char* name, const ClosureFunctions& functions, void* closure)
      : name_(name), functions_(functions), closure_(closure), saves_(take_saved_count() > 0) {}
  ~AnyClosureNode() override = default;
  void destroy_closure() {
    if (void* const closure = std::exchange(closure_, nullptr)) functions_.destroy(closure);
  }

 private:
  const char* name_;
  const ClosureFunctions& functions_;
  void* closure_;  ///< null once it was released
  bool saves_;
};

/// Where the closure lies.
template <class F>
class ClosureNode final : public AnyClosureNode {
 public:
  ClosureNode(const char* name, F&& f) : AnyClosureNode(name, kFunctions, bytes_) {
    new (bytes_) F(std::move(f));
  }
  ~ClosureNode() override { destroy_closure(); }

 private:
  static TensorVec to_vec(Tensor t) {
    TensorVec out;
    out.push_back(std::move(t));
    return out;
  }
  static TensorVec to_vec(TensorVec v) { return v; }
  static TensorVec to_vec(std::vector<Tensor> v) { return {v.begin(), v.end()}; }

  static TensorVec call(const void* closure, const TensorVec& grads, Needs needs) {
    const F& f = *static_cast<const F*>(closure);
    if constexpr (std::is_invocable_v<const F&, const Tensor&>)
      return to_vec(f(grads[0]));
    else if constexpr (std::is_invocable_v<const F&, const Tensor&, Needs>)
      return to_vec(f(grads[0], needs));
    else
      return to_vec(f(grads, needs));
  }
  static void copy(const void* closure) {
    [[maybe_unused]] const F shown = *static_cast<const F*>(closure);
  }
  static void destroy(void* closure) { static_cast<F*>(closure)->~F(); }
  static constexpr ClosureFunctions kFunctions{&call, &copy, &destroy};

  alignas(F) unsigned char bytes_[sizeof(F)];
};

void connect(Node& node, ArrayRef<Input> inputs);
void connect(Node& node, TensorList inputs);
/// In anomaly mode the node remembers where it was recorded.
void remember_origin(Node& node);

template <class F>
NodePtr make_closure_node(const char* name, F f) {
  return make_intrusive<ClosureNode<F>>(name, std::move(f));
}
void record_node(const Tensor& out, ArrayRef<Input> inputs, NodePtr node);
void record_node(const Tensor& out, TensorList inputs, NodePtr node);
void record_node(TensorList outs, ArrayRef<Input> inputs, NodePtr node);

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
  detail::record_node(out, inputs, detail::make_closure_node(name, std::forward<F>(backward)));
}

/// The same with any number of inputs (cat, stack).
template <class F>
void record_list(const char* name, const Tensor& out, TensorList inputs, F&& backward) {
  if (!is_differentiable(out.dtype())) return (void)take_saved_count();
  detail::record_node(out, inputs, detail::make_closure_node(name, std::forward<F>(backward)));
}

/// Several differentiable outputs: `backward(const TensorVec& grads, Needs needs) -> TensorVec`,
/// where the gradient of an output nobody used is undefined.
template <class F>
void record_multi(const char* name, TensorList outs, ArrayRef<Input> inputs, F&& backward) {
  detail::record_node(outs, inputs, detail::make_closure_node(name, std::forward<F>(backward)));
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
    finish(detail::make_closure_node(name, make_backward()));
  }

 private:
  void finish(NodePtr node);

  const Tensor& self_;
  bool recorded_;
  SmallVector<Edge, 2> edges_;
};

}  // namespace taeda::inline v0_2::autograd
