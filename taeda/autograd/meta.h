// What autograd keeps per tensor.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "taeda/autograd/node.h"

namespace taeda::inline v0_2::autograd {

class AccumulateGrad;

/// The gradient that a tensor with a history keeps after retain_grad().
struct RetainedGrad {
  std::shared_ptr<Tensor> value;  ///< shared with the hook that fills it
  HookHandle hook = 0;
};

/// Small enough for one cache line: every result with a history has one.
struct AutogradMeta final : AutogradMetaBase, BlockCached {
  AutogradMeta() = default;
  ~AutogradMeta() override;

  Tensor grad;
  NodePtr grad_fn;
  uint32_t output_nr = 0;
  /// Set by requires_grad_ on a leaf.
  bool requires_grad = false;
  std::unique_ptr<RetainedGrad> retained;
  /// The leaf's sink, which this owns, made when first asked for: threads that record on a shared
  /// leaf need no lock once it is there. It refers back without owning.
  std::atomic<AccumulateGrad*> sink{nullptr};

  void on_destroy(TensorImpl* self) noexcept override;
};
static_assert(sizeof(AutogradMeta) <= 64);

/// The tensor's meta, created on demand.
AutogradMeta& meta_of(const Tensor& t);
/// The tensor's meta, or nullptr.
AutogradMeta* find_meta(const Tensor& t);

/// The hook of retain_grad(): adds what passes to the tensor that `cell` refers to.
TensorHook fill_retained(std::shared_ptr<Tensor> cell);

/// Adds gradients into a leaf's `grad()`. Once the leaf is gone it does nothing. Several passes may
/// run it at the same time: one after the other adds its gradient and runs the leaf's
/// post-accumulate hooks, so a hook sees the sum that its own pass made.
///
/// A first gradient becomes `grad()` as it is if nobody else holds it and its strides are the
/// leaf's, or row-major ones for a leaf whose memory overlaps or has gaps; otherwise it is copied
/// into such memory.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  const char* name() const override { return "AccumulateGrad"; }
  TensorVec apply(TensorVec grads, Needs needs) override;

  /// The leaf, or an undefined tensor when it is gone.
  Tensor leaf() const;
  /// The leaf's gradient; undefined when it has none or is gone.
  Tensor gradient() const;
  HookHandle add_post_accumulate_hook(PostAccumulateHook hook);

 private:
  friend struct AutogradMeta;
  void forget_leaf() noexcept;
  Tensor locked_leaf() const;

  /// Guards leaf_, which may die while another thread accumulates, and its gradient. Recursive,
  /// because a hook that runs under it may run a pass of its own.
  mutable std::recursive_mutex mutex_;
  TensorImpl* leaf_;
};

/// Gives `out` the history "output `output_nr` of `node`".
void set_history(const Tensor& out, NodePtr node, uint32_t output_nr);
/// Gives a tensor that was changed in place the history of its new value. If it is a view, the
/// base's history becomes "old base with this region replaced" (see view.cpp).
void rebase_history(const Tensor& self, NodePtr node, uint32_t output_nr);
/// The grad_fn of a tensor; for a view whose base changed since, one made anew from the base.
NodePtr grad_fn_of(const Tensor& t, uint32_t* output_nr);

}  // namespace taeda::inline v0_2::autograd
