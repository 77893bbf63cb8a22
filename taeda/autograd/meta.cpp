#include "taeda/autograd/meta.h"

#include "taeda/autograd/pass.h"
#include "taeda/autograd/sum.h"
#include "taeda/base/error.h"
#include "taeda/base/rethrow.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/mapped.h"
#include "taeda/tensor/parts.h"
#include "taeda/tensor/sparse.h"

namespace taeda::inline v0_2::autograd {

namespace {

/// Whether nobody else holds the gradient's memory. A view may be all that is left of its base: the
/// sum of a bias, say, that was given another shape.
bool is_held_alone(const Tensor& t) {
  if (t.use_count() != 1 || !t.layout().is_non_overlapping_and_dense()) return false;
  const auto& base = t.unsafe_impl()->base;
  if (!base) return holders_of_memory(t) == 1;
  return base->use_count() == 1 && holders_of_memory(t) == 2 && base->numel == t.numel();
}

/// Whether a gradient has the strides that one of the leaf is to have. Those of dimensions of size
/// 1 mean nothing.
bool follows_layout(const Layout& grad, const Layout& leaf) {
  if (!leaf.is_non_overlapping_and_dense()) return grad.is_contiguous();
  for (size_t d = 0; d < leaf.sizes.size(); ++d)
    if (leaf.sizes[d] != 1 && grad.strides[d] != leaf.strides[d]) return false;
  return true;
}

/// A copy with the strides that a gradient of the leaf is to have.
Tensor copied(const Tensor& grad, const Tensor& leaf) {
  const Layout& l = leaf.layout();
  if (!l.is_non_overlapping_and_dense()) return grad.clone(MemoryFormat::Contiguous);
  const Tensor out = make_tensor(Layout{l.sizes, l.strides, 0}, grad.dtype(), grad.device());
  out.copy_(grad);
  return out;
}

/// The first gradient of a leaf.
Tensor first_gradient(Tensor fresh, const Tensor& leaf) {
  if (fresh.is_sparse()) {
    const SparseParts& parts = sparse_parts(fresh);
    const bool alone = !GradMode::is_enabled() && fresh.use_count() == 1 &&
                       fresh.storage().use_count() == 1 && parts.indices.storage().unique() &&
                       parts.values.storage().unique();
    return alone                    ? std::move(fresh)
           : GradMode::is_enabled() ? fresh.clone()
                                    : fresh.detach().clone();
  }
  if (fresh.is_sparse_csr()) return GradMode::is_enabled() ? fresh.clone() : fresh.detach().clone();
  if (GradMode::is_enabled()) return copied(fresh, leaf);
  if (is_held_alone(fresh) && follows_layout(fresh.layout(), leaf.layout()))
    return fresh.unsafe_impl()->base ? make_alias(fresh) : std::move(fresh);
  return copied(fresh.detach(), leaf);
}

/// In place where the sum has the kind of what is there.
void accumulate(Tensor& grad, const Tensor& fresh) {
  if (GradMode::is_enabled() || (!grad.is_strided() && fresh.is_strided()))
    grad = sum_of(grad, fresh);
  else
    grad.add_(fresh);
}

}  // namespace

AutogradMeta* find_meta(const Tensor& t) {
  return static_cast<AutogradMeta*>(plain_of(t).unsafe_impl()->meta.get());
}

AutogradMeta& meta_of(const Tensor& t) {
  auto& slot = plain_of(t).unsafe_impl()->meta;
  if (!slot) slot = std::make_unique<AutogradMeta>();
  return static_cast<AutogradMeta&>(*slot);
}

void AutogradMeta::on_destroy(TensorImpl*) noexcept {
  if (AccumulateGrad* s = sink.load(std::memory_order_acquire)) s->forget_leaf();
}

AutogradMeta::~AutogradMeta() {
  if (AccumulateGrad* s = sink.load(std::memory_order_acquire)) NodePtr::adopt(s);
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : leaf_(leaf.unsafe_impl()) {
  set_sequence_nr(UINT64_MAX);
  add_input(leaf);
}

void AccumulateGrad::forget_leaf() noexcept {
  std::lock_guard lock(mutex_);
  leaf_ = nullptr;
}

Tensor AccumulateGrad::locked_leaf() const {
  if (!leaf_ || !leaf_->retain_if_alive()) return {};
  return Tensor(IntrusivePtr<TensorImpl>::adopt(leaf_));
}

HookHandle AccumulateGrad::add_post_accumulate_hook(PostAccumulateHook hook) {
  return ensure_hooks().post_accumulate.add(std::move(hook), "register_post_accumulate_grad_hook");
}

Tensor AccumulateGrad::leaf() const {
  std::lock_guard lock(mutex_);
  return locked_leaf();
}

Tensor AccumulateGrad::gradient() const {
  Tensor leaf;  // dies without the lock, if it does
  std::lock_guard lock(mutex_);
  leaf = locked_leaf();
  return leaf.defined() ? meta_of(leaf).grad : Tensor();
}

TensorVec AccumulateGrad::apply(TensorVec grads, Needs) {
  Tensor fresh = std::move(grads[0]);
  if (!fresh.defined()) return {};
  Tensor leaf;
  std::lock_guard lock(mutex_);
  leaf = locked_leaf();
  if (!leaf.defined()) return {};
  Tensor& grad = meta_of(leaf).grad;
  if (grad.defined())
    accumulate(grad, fresh);
  else
    grad = first_gradient(std::move(fresh), leaf);
  if (const NodeHooks* h = hooks())
    if (const auto all = h->post_accumulate.snapshot()) {
      const LeafHooks here;
      for (const auto& entry : *all)
        run_hook(
            "post-accumulate-grad hook",
            [&] { return taeda::detail::concat("a leaf of shape ", leaf.sizes()); },
            [&] { entry.hook(leaf); });
    }
  return {};
}

TensorHook fill_retained(std::shared_ptr<Tensor> cell) {
  return [cell = std::move(cell)](const Tensor& g) {
    static std::mutex filling;  // passes of several threads may reach the tensor
    std::lock_guard lock(filling);
    *cell = cell->defined() ? sum_of(*cell, g) : g;
    return Tensor();
  };
}

Edge gradient_edge(const Tensor& given) {
  const Tensor& t = plain_of(given);
  uint32_t nr = 0;
  if (NodePtr fn = grad_fn_of(t, &nr)) return {std::move(fn), nr};
  // Gradients end at a view that was made without gradients of a base that wants them.
  if (!t.unsafe_impl()->wants_grad) return {};
  AutogradMeta& meta = meta_of(t);
  if (Node* sink = meta.sink.load(std::memory_order_acquire); sink && t.is_cpu())
    return {NodePtr(sink), 0};
  static std::mutex creation;  // two threads may ask for a shared leaf's sink at once
  std::lock_guard lock(creation);
  AccumulateGrad* sink = meta.sink.load(std::memory_order_relaxed);
  if (!sink) {
    t.unsafe_impl()->allow_promotion();
    sink = make_intrusive<AccumulateGrad>(t).detach();
    meta.sink.store(sink, std::memory_order_release);
  } else if (sink->use_count() == 1 && !t.is_cpu()) {
    // No graph uses it: its stream is that of the graph which is made now, as if it were new. A
    // capture could not wait for the stream of an earlier one.
    sink->stream = current_stream(t.device());
  }
  return {NodePtr(sink), 0};
}

void set_history(const Tensor& out, NodePtr node, uint32_t output_nr) {
  if (out.is_inference()) return;  // a view of one, or a result in inference mode
  // An output that is unpacked takes the place of one that the node knows, which may be running: it
  // is only read then.
  if (node->inputs.size() <= output_nr) {
    const uint32_t nr = node->add_input(out);
    TAEDA_INTERNAL_ASSERT(nr == output_nr);
  }
  AutogradMeta& meta = meta_of(out);
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  out.unsafe_impl()->wants_grad = true;
  out.unsafe_impl()->view_version = static_cast<uint32_t>(out.unsafe_impl()->version());
}

}  // namespace taeda::inline v0_2::autograd
