// The object behind a tensor handle: a layout over a storage, plus what autograd hangs on it.
#pragma once

#include <memory>

#include "taeda/device/storage.h"
#include "taeda/tensor/layout.h"
#include "taeda/base/dtype.h"

namespace taeda {

struct TensorImpl;

/// What autograd keeps per tensor (gradient, history, hooks); defined in autograd/meta.h.
struct AutogradMetaBase {
  virtual ~AutogradMetaBase() = default;
  /// The tensor dies: anything that points at it without owning it must forget it.
  virtual void on_destroy(TensorImpl*) noexcept {}
};

/// How a view came to be; decides whether it may be changed in place (autograd/view.h).
enum class ViewKind : uint8_t { None, Default, NoGrad, MultiOutput, Inference };

struct TensorImpl final : RefCounted, BlockCached {
  TensorImpl(Storage s, Layout l, ScalarType t)
      : storage(std::move(s)), layout(std::move(l)), dtype(t) { refresh(); }
  ~TensorImpl() {
    if (meta) meta->on_destroy(this);
  }

  /// To be called after every change of `layout`.
  void refresh() {
    numel = layout.numel();
    contiguous = layout.is_contiguous();
  }

  Storage storage;
  Layout layout;
  int64_t numel = 0;
  ScalarType dtype;
  bool contiguous = true;
  /// requires_grad was set, or there is a grad_fn: operations on this tensor are recorded.
  bool wants_grad = false;
  /// Made in inference mode: no version, never part of a graph.
  bool inference = false;
  ViewKind view_kind = ViewKind::None;
  /// Storage version at which a view's grad_fn was valid (autograd/view.h).
  uint32_t view_version = 0;
  std::unique_ptr<AutogradMetaBase> meta;
  /// The tensor this is a view of; never itself a view.
  IntrusivePtr<TensorImpl> base;
};

}  // namespace taeda
