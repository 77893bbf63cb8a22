// The autograd methods of class Tensor.
#include "taeda/autograd/engine.h"
#include "taeda/autograd/meta.h"
#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/mapped.h"
#include "taeda/tensor/parts.h"
#include "taeda/tensor/tensor_bodies.h"

namespace taeda::inline v0_2 {

using autograd::AutogradMeta;
using autograd::find_meta;
using autograd::meta_of;

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<std::vector<Tensor>> inputs) const {
  TAEDA_CHECK(!inputs || !inputs->empty(), "'inputs' argument to backward cannot be empty");
  autograd::backward({*this}, {gradient}, retain_graph, create_graph,
                     inputs.value_or(std::vector<Tensor>()));
}

const Tensor& Tensor::requires_grad_(bool on) const {
  TensorImpl& t = *plain_of(*this).unsafe_impl();
  TAEDA_CHECK(
      is_leaf() || on,
      "you can only change requires_grad flags of leaf variables. If you want to use a computed "
      "variable in a subgraph that doesn't require differentiation use var_no_grad = "
      "var.detach().");
  TAEDA_CHECK(!on || is_differentiable(t.dtype),
              "only Tensors of floating point and complex dtype can require gradients, "
              "but got ",
              to_string(t.dtype));
  TAEDA_CHECK(
      !on || !t.inference || InferenceMode::is_enabled(),
      "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (!is_leaf()) return *this;
  if (on)
    meta_of(*this).requires_grad = true;
  else if (AutogradMeta* meta = find_meta(*this))
    meta->requires_grad = false;
  t.wants_grad = on;
  return *this;
}

namespace {

/// Nobody puts a gradient into a tensor with a history that does not retain it.
void warn_if_inner(const Tensor& t) {
  if (t.is_leaf()) [[likely]]
    return;
  TAEDA_WARN(
      "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
      "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
      "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
      "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead.");
}

/// What a tensor of a map was given as its gradient is its own, no part of the plain one's.
Tensor& own_grad(const Tensor& t) {
  auto& slot = t.unsafe_impl()->meta;
  if (!slot) slot = std::make_unique<AutogradMeta>();
  return static_cast<AutogradMeta&>(*slot).grad;
}

}  // namespace

const Tensor& Tensor::grad() const {
  static const Tensor undefined;
  impl();
  if (is_mapped(*this)) return own_grad(*this);
  const AutogradMeta* meta = find_meta(*this);
  if (!meta) {
    warn_if_inner(*this);
    return undefined;
  }
  const Tensor& grad = meta->retained ? *meta->retained->value : meta->grad;
  if (!grad.defined() && !meta->retained) warn_if_inner(*this);
  return grad;
}

Tensor& Tensor::mutable_grad() const {
  impl();
  if (is_mapped(*this)) return own_grad(*this);
  AutogradMeta& meta = meta_of(*this);
  return meta.retained ? *meta.retained->value : meta.grad;
}

IntrusivePtr<autograd::Node> Tensor::grad_fn() const {
  impl();
  uint32_t nr = 0;
  return autograd::grad_fn_of(*this, &nr);
}

bool Tensor::is_leaf() const { return !requires_grad() || !grad_fn(); }

int64_t Tensor::output_nr() const {
  impl();
  uint32_t nr = 0;
  autograd::grad_fn_of(*this, &nr);
  return nr;
}

void Tensor::retain_grad() const {
  TAEDA_CHECK(requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  if (is_leaf()) return;
  uint32_t nr = 0;
  const autograd::NodePtr fn = autograd::grad_fn_of(*this, &nr);
  AutogradMeta& meta = meta_of(*this);
  if (meta.retained) return;
  std::unique_ptr<autograd::RetainedGrad> retained(
      new autograd::RetainedGrad{std::make_shared<Tensor>()});
  retained->hook = fn->add_tensor_hook(nr, autograd::fill_retained(retained->value));
  meta.retained = std::move(retained);
}

bool Tensor::retains_grad() const {
  impl();
  const AutogradMeta* meta = find_meta(*this);
  return meta && meta->retained;
}

Tensor do_detach(const Tensor& self) {
  if (!self.defined()) [[unlikely]]
    detail::throw_undefined_tensor();
  return make_alias(self);
}

Tensor Tensor::variable_data() const {
  Tensor out = detach();
  out.impl().own_version = make_intrusive<VersionCounter>(0);
  return out;
}

std::string Tensor::name() const {
  const IntrusivePtr<autograd::Node> fn = grad_fn();
  TAEDA_CHECK(fn, "name: a tensor without a function has no name");
  return fn->name();
}

Tensor& Tensor::detach_() const {
  TAEDA_CHECK(
      !is_view(),
      "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
      "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
      "buckets, and "
      "hence detach_() cannot be called on these gradients.");
  if (AutogradMeta* meta = find_meta(*this)) {
    meta->grad_fn.reset();
    meta->output_nr = 0;
    meta->requires_grad = false;
  }
  impl().wants_grad = false;
  return const_cast<Tensor&>(*this);
}

void Tensor::set_data(const Tensor& source) const {
  TAEDA_CHECK(source.defined(), "set_data expects a defined tensor");
  TensorImpl& to = impl();
  const TensorImpl& from = *source.unsafe_impl();
  TAEDA_CHECK(!to.wants_grad || is_differentiable(from.dtype),
              "data set to a tensor that requires gradients must be "
              "floating point or complex dtype, but got ",
              to_string(from.dtype));
  if (!(to.storage == from.storage)) {  // no view any more, and not changed by others' changes
    to.base.reset();
    to.view_kind = ViewKind::None;
  }
  to.own_version = make_intrusive<VersionCounter>(version_after(to.version()));
  to.storage = from.storage;
  to.dtype = from.dtype;
  to.set_layout(from.layout);
  AutogradMeta* const meta = find_meta(*this);
  if (autograd::AccumulateGrad* const sink = meta ? meta->sink.load() : nullptr) {
    sink->inputs[0] = {from.layout.sizes, from.dtype, source.device()};
    sink->stream = source.is_cpu() ? Stream() : current_stream(source.device());
  }
}

Tensor Tensor::_base() const {
  TAEDA_CHECK(is_view() && impl().base, "Can't get base of non-view Tensor");
  return Tensor(impl().base);
}

unsigned Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  TAEDA_CHECK(requires_grad(),
              "cannot register a hook on a variable that doesn't require gradient");
  const autograd::Edge edge = autograd::gradient_edge(*this);
  const unsigned handle = edge.node->add_tensor_hook(edge.input_nr, std::move(hook));
  // What is retained is what hooks made of the gradient, whoever came first.
  if (AutogradMeta* meta = find_meta(*this); meta && meta->retained) {
    edge.node->remove_hook(meta->retained->hook);
    meta->retained->hook =
        edge.node->add_tensor_hook(edge.input_nr, autograd::fill_retained(meta->retained->value));
  }
  return handle;
}

void Tensor::remove_hook(unsigned handle) const {
  const autograd::Edge edge = autograd::gradient_edge(*this);
  TAEDA_CHECK(edge && edge.node->remove_hook(handle), "Invalid index, no hook at position ",
              handle);
}

unsigned Tensor::register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) const {
  TAEDA_CHECK(requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
  TAEDA_CHECK(is_leaf(), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  const autograd::Edge edge = autograd::gradient_edge(*this);
  return static_cast<autograd::AccumulateGrad&>(*edge.node)
      .add_post_accumulate_hook(std::move(hook));
}

}  // namespace taeda::inline v0_2
