#include "taeda/autograd/meta.h"

#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::autograd {

namespace {

/// Whether nobody else holds the gradient's memory. A view may be all that is left of its base: the
/// sum of a bias, say, that was given another shape.
bool is_held_alone(const Tensor& t) {
  if (t.use_count() != 1 || !t.layout().is_non_overlapping_and_dense()) return false;
  const auto& base = t.unsafe_impl()->base;
  if (!base) return t.storage().use_count() == 1;
  return base->use_count() == 1 && t.storage().use_count() == 2 && base->numel == t.numel();
}

}  // namespace

AutogradMeta* find_meta(const Tensor& t) {
  return static_cast<AutogradMeta*>(t.unsafe_impl()->meta.get());
}

AutogradMeta& meta_of(const Tensor& t) {
  auto& slot = t.unsafe_impl()->meta;
  if (!slot) slot = std::make_unique<AutogradMeta>();
  return static_cast<AutogradMeta&>(*slot);
}

void AutogradMeta::on_destroy(TensorImpl*) noexcept {
  if (accumulator) static_cast<AccumulateGrad*>(accumulator.get())->forget_leaf();
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : leaf_(leaf.unsafe_impl()) {
  set_sequence_nr(UINT64_MAX);
  add_input(leaf);
}

void AccumulateGrad::forget_leaf() noexcept {
  std::lock_guard lock(mutex_);
  leaf_ = nullptr;
}

Tensor AccumulateGrad::leaf() const {
  std::lock_guard lock(mutex_);
  if (!leaf_ || !leaf_->retain_if_alive()) return {};
  return Tensor(IntrusivePtr<TensorImpl>::adopt(leaf_));
}

unsigned AccumulateGrad::add_post_accumulate_hook(std::function<void(const Tensor&)> hook) {
  post_hooks_.push_back(std::move(hook));
  return static_cast<unsigned>(post_hooks_.size() - 1);
}

TensorVec AccumulateGrad::apply(TensorVec grads, Needs) {
  Tensor leaf = this->leaf();
  Tensor fresh = std::move(grads[0]);
  if (!leaf.defined() || !fresh.defined()) return {};
  Tensor& grad = meta_of(leaf).grad;
  if (!grad.defined()) {
    // A gradient that nobody else holds is taken as it is; another is copied.
    if (GradMode::is_enabled())
      grad = fresh.clone();
    else if (!is_held_alone(fresh))
      grad = fresh.detach().clone();
    else
      grad = fresh.unsafe_impl()->base ? make_alias(fresh) : std::move(fresh);
  } else if (GradMode::is_enabled()) {
    grad = grad.add(fresh);
  } else {
    grad.add_(fresh);
  }
  for (const auto& hook : post_hooks_) hook(leaf);
  return {};
}

Edge gradient_edge(const Tensor& t) {
  uint32_t nr = 0;
  if (NodePtr fn = grad_fn_of(t, &nr)) return {std::move(fn), nr};
  // Gradients end at a view that was made without gradients of a base that wants them.
  if (!t.unsafe_impl()->wants_grad) return {};
  AutogradMeta& meta = meta_of(t);
  static std::mutex creation;  // two threads may ask for a shared leaf's sink at once
  std::lock_guard lock(creation);
  if (!meta.accumulator) meta.accumulator = NodePtr(new AccumulateGrad(t));
  return {meta.accumulator, 0};
}

void set_history(const Tensor& out, NodePtr node, uint32_t output_nr) {
  const uint32_t nr = node->add_input(out);
  TAEDA_INTERNAL_ASSERT(nr >= output_nr || node->inputs.size() > output_nr);
  AutogradMeta& meta = meta_of(out);
  if (nr != output_nr) node->inputs.pop_back();  // unpacked outputs join an input that exists
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  out.unsafe_impl()->wants_grad = true;
  out.unsafe_impl()->view_version = static_cast<uint32_t>(out._version());
}

}  // namespace taeda::autograd
