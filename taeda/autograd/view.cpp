// In-place changes and views.
//
// Note [Views and in-place changes]
// A view and its base share memory, so a change of one is a change of the other, and both need a
// new history. The base carries the truth: after a change of a view, the base's history becomes
// "old base, with the view's region replaced" (RegionReplaced), and every view finds, by the
// storage version, that its own history is out of date, and makes a new one from the base
// (RegionOf). All views are strided regions of their base's storage, whatever chain of operations
// made them.
#include "taeda/autograd/meta.h"
#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::autograd {

namespace {

/// A strided region relative to the start of a base tensor that is laid out densely.
struct Region {
  Layout layout;

  /// Where `view`'s elements lie in a contiguous copy of `base`, in elements; works when the base
  /// is dense, because then the copy keeps the base's strides.
  static Region of(const Layout& view, const Layout& base) {
    Layout l = view;
    l.offset -= base.offset;
    return {std::move(l)};
  }
};

/// A zero-filled or copied gradient with the base's own memory order, so that regions of the base
/// are regions of it.
Tensor in_base_order(const Layout& base, const Tensor* value, const Tensor& like) {
  Layout layout{base.sizes, base.strides, 0};
  const int64_t extent = layout.extent();
  Tensor memory = make_tensor(IntArrayRef(extent), like.dtype(), like.device());
  memory.zero_();
  Tensor out = memory.as_strided(layout.sizes, layout.strides, 0);
  if (value) out.copy_(*value);
  return out;
}

Tensor region_of(const Tensor& base_like, const Region& r) {
  return base_like.as_strided(r.layout.sizes, r.layout.strides,
                              base_like.storage_offset() + r.layout.offset);
}

/// view = base[region].
class RegionOf final : public Node {
 public:
  RegionOf(Layout base, Region region) : base_(std::move(base)), region_(std::move(region)) {}
  const char* name() const override { return "AsStridedBackward0"; }
  TensorVec apply(TensorVec grads, Needs) override {
    Tensor out = in_base_order(base_, nullptr, grads[0]);
    region_of(out, region_).add_(grads[0]);
    return {out};
  }

 private:
  Layout base_;
  Region region_;
};

/// base' = base with the region replaced by a value.
class RegionReplaced final : public Node {
 public:
  RegionReplaced(Layout base, Region region) : base_(std::move(base)), region_(std::move(region)) {}
  const char* name() const override { return "CopySlices"; }
  TensorVec apply(TensorVec grads, Needs needs) override {
    Tensor whole = in_base_order(base_, &grads[0], grads[0]);
    Tensor part = region_of(whole, region_);
    Tensor value = needs[1] ? part.clone() : Tensor();
    part.zero_();
    return {whole, value};
  }

 private:
  Layout base_;
  Region region_;
};

bool follows_base(const TensorImpl& impl) {
  return impl.base && impl.view_kind != ViewKind::NoGrad;
}

}  // namespace

NodePtr grad_fn_of(const Tensor& t, uint32_t* output_nr) {
  TensorImpl& impl = *t.unsafe_impl();
  *output_nr = 0;
  if (follows_base(impl) && impl.view_version != impl.storage->version() &&
      is_differentiable(impl.dtype)) {
    const Tensor base(impl.base);
    if (base.requires_grad() && base.dtype() == t.dtype()) {
      NodePtr node(new RegionOf(base.layout(), Region::of(t.layout(), base.layout())));
      node->edges.push_back(gradient_edge(base));
      set_history(t, std::move(node), 0);
    }
  }
  AutogradMeta* meta = find_meta(t);
  if (!meta || !meta->grad_fn) return {};
  *output_nr = meta->output_nr;
  return meta->grad_fn;
}

namespace {

/// retain_grad() asks for the gradient of the tensor as it is now: its hook moves along.
void move_retain_hook(AutogradMeta& meta, const NodePtr& node, uint32_t output_nr) {
  if (!meta.retained_grad) return;
  if (meta.grad_fn) meta.grad_fn->remove_hook(meta.retain_handle);
  meta.retain_handle = node->add_tensor_hook(output_nr, fill_retained(meta.retained_grad));
}

void replace_history(const Tensor& t, NodePtr node, uint32_t output_nr) {
  AutogradMeta& meta = meta_of(t);
  move_retain_hook(meta, node, output_nr);
  if (node->inputs.size() > output_nr) {
    meta.grad_fn = std::move(node);
    meta.output_nr = output_nr;
    t.unsafe_impl()->wants_grad = true;
  } else {
    set_history(t, std::move(node), output_nr);
  }
}

}  // namespace

void rebase_history(const Tensor& self, NodePtr node, uint32_t output_nr) {
  TensorImpl& impl = *self.unsafe_impl();
  if (node->inputs.size() <= output_nr) node->add_input(self);
  if (!follows_base(impl)) {
    replace_history(self, std::move(node), output_nr);
    return;
  }
  const Tensor base(impl.base);
  NodePtr replaced(new RegionReplaced(base.layout(), Region::of(self.layout(), base.layout())));
  replaced->edges.push_back(gradient_edge(base));
  replaced->edges.push_back({std::move(node), output_nr});
  replace_history(base, std::move(replaced), 0);
  // Whatever version the storage has by now, this view's history is older than the base's.
  impl.view_version = impl.storage->version() - 1;
  meta_of(self).grad_fn.reset();
  impl.wants_grad = true;
}

}  // namespace taeda::autograd
