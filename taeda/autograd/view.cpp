// In-place changes and views.
//
// Note [Views and in-place changes]
// A view and its base share memory, so a change of one is a change of the other, and both need a
// new history. The base carries the truth: after a change of a view, the base's history becomes
// "old base, with the view's region replaced" (RegionReplaced), and every view finds, by the
// version that it shares with the base, that its own history is out of date, and makes a new one
// from the base (RegionOf).
//
// That is right only where the history of a view says nothing but which elements it shows. The
// views of several that one operation gave have one node together, those of user-defined functions
// have a derivative of their own, and those made without gradients or in inference mode have none
// on purpose: their kind says so, views of them inherit it, and where the algebra above would apply
// to them it is an error instead, when they are changed as well as when their base was.
#include "taeda/autograd/view.h"

#include "taeda/autograd/history.h"
#include "taeda/autograd/meta.h"
#include "taeda/autograd/region.h"
#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2::autograd {

namespace {

/// view = base[region].
class RegionOf final : public Node {
 public:
  explicit RegionOf(const Region& region) : region_(region) {}
  const char* name() const override { return "AsStridedBackward0"; }
  TensorVec apply(TensorVec grads, Needs) override { return {region_.scatter(grads[0])}; }

 private:
  Region region_;
};

/// base' = base with the region replaced by a value.
class RegionReplaced final : public Node {
 public:
  explicit RegionReplaced(const Region& region) : region_(region) {}
  const char* name() const override { return "CopySlices"; }
  TensorVec apply(TensorVec grads, Needs needs) override {
    if (released_) detail::throw_graph_released(name());
    Region::Parts parts = region_.divide(grads[0], needs[1]);
    return {std::move(parts.outside), std::move(parts.inside)};
  }
  void release_saved() override { released_ = true; }

 private:
  Region region_;
  bool released_ = false;
};

/// Throws for a view whose history cannot be made anew. `done` says what happened to it.
[[noreturn]] void refuse(const char* op, const TensorImpl& view, const char* done) {
  std::string what, why;
  const char* const ambiguous =
      " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
      "your code by moving both the view and the inplace either both inside the ";
  const auto clarified = [&](const char* block) {
    return taeda::detail::concat(ambiguous, block,
                                 " block (if you don't want the inplace to be tracked) or both "
                                 "outside (if you want the inplace to be tracked).");
  };
  const auto* meta = static_cast<const AutogradMeta*>(view.meta.get());
  const bool has_fn = meta && meta->grad_fn;
  what = has_fn ? taeda::detail::concat("Output ", meta->output_nr, " of ", meta->grad_fn->name(),
                                        " is a view and ", done, ".")
                : "";
  switch (view.view_kind) {
    case ViewKind::NoGrad:
      what = taeda::detail::concat("A view was created in no_grad mode and ", done,
                                   " with grad mode enabled.");
      why = clarified("no_grad");
      break;
    case ViewKind::Inference:
      what = taeda::detail::concat("A view was created in inference mode and ", done,
                                   " in normal mode.");
      why = clarified("inference_mode");
      break;
    case ViewKind::MultiOutput:
      if (!has_fn) what = taeda::detail::concat("A view ", done, ".");
      why =
          " This view is the output of a function that returns multiple views. Such functions do "
          "not allow the output views to be modified inplace. You should replace the inplace "
          "operation by an out-of-place one.";
      break;
    default:
      why =
          " This view was created inside a custom Function (or because an input was returned "
          "as-is) and the autograd logic to handle view+inplace would override the custom backward "
          "associated with the custom Function, leading to incorrect gradients. This behavior is "
          "forbidden. You can fix this by cloning the output of the custom Function.";
  }
  throw Error(op ? taeda::detail::concat(what, why, " (in ", op, ")")
                 : taeda::detail::concat(what, why));
}

/// Whether the history of a view is not that of the values it shows now, and its base knows better.
bool is_out_of_date(const TensorImpl& view) {
  return view.view_version != view.version() && view.base->wants_grad &&
         is_differentiable(view.dtype) && view.storage == view.base->storage;
}

/// retain_grad() asks for the gradient of the tensor as it is now: its hook moves along.
void move_retain_hook(AutogradMeta& meta, const NodePtr& node, uint32_t output_nr) {
  if (!meta.retained) return;
  if (meta.grad_fn) meta.grad_fn->remove_hook(meta.retained->hook);
  meta.retained->hook = node->add_tensor_hook(output_nr, fill_retained(meta.retained->value));
}

void replace_history(const Tensor& t, NodePtr node, uint32_t output_nr) {
  move_retain_hook(meta_of(t), node, output_nr);
  set_history(t, std::move(node), output_nr);
}

}  // namespace

void check_view(const char* op, const Tensor& view) {
  const TensorImpl& impl = *view.unsafe_impl();
  if (impl.view_kind != ViewKind::Default) refuse(op, impl, "is being modified inplace");
  const Tensor base(impl.base);
  TAEDA_CHECK(
      !(view.requires_grad() && base.is_leaf()),
      "a view of a leaf Variable that requires grad is being used in an in-place operation. (in ",
      op, ")");
  TAEDA_CHECK(!base.layout().has_internal_overlap(),
              "unsupported operation: more than one element of the base of the written-to view "
              "refers to a single memory location. Please clone() the base before performing the "
              "operation. (in ",
              op, ")");
}

NodePtr grad_fn_of(const Tensor& given, uint32_t* output_nr) {
  const Tensor& t = plain_of(given);
  const TensorImpl& impl = *t.unsafe_impl();
  *output_nr = 0;
  if (impl.base && is_out_of_date(impl)) {
    if (impl.view_kind != ViewKind::Default)
      refuse(nullptr, impl, "its base or another view of its base has been modified inplace");
    const Tensor base(impl.base);
    NodePtr node(new RegionOf(Region(base, t)));
    node->edges.push_back(gradient_edge(base));
    node->add_input(t);
    replace_history(t, std::move(node), 0);
  }
  AutogradMeta* meta = find_meta(t);
  if (!meta || !meta->grad_fn) return {};
  *output_nr = meta->output_nr;
  return meta->grad_fn;
}

void rebase_history(const Tensor& self, NodePtr node, uint32_t output_nr) {
  if (node->inputs.size() <= output_nr) node->add_input(self);
  TensorImpl& impl = *self.unsafe_impl();
  if (!impl.base) {
    replace_history(self, std::move(node), output_nr);
    return;
  }
  const Tensor base(impl.base);
  NodePtr replaced(new RegionReplaced(Region(base, self)));
  replaced->edges.push_back(gradient_edge(base));
  replaced->edges.push_back({std::move(node), output_nr});
  replace_history(base, std::move(replaced), 0);
  impl.view_version = impl.version() - 1;  // its own history is older than the base's
  uint32_t ignored = 0;
  grad_fn_of(self, &ignored);
}

}  // namespace taeda::autograd
