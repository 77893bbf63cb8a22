#include "tests/autograd/programs/twin.h"

#include "taeda/autograd/record.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::programs {

namespace {

Tensor as_reals(const Tensor& t) { return t.is_complex() ? view_as_real(t) : t; }

/// Where the elements of a tensor lie in its storage, in real numbers.
Tensor positions_of(const Tensor& t) {
  const int64_t unit = t.is_complex() ? 2 : 1;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t rest = i, at = t.storage_offset();
    for (int64_t d = t.dim() - 1; d >= 0; --d) {
      at += rest % t.size(d) * t.stride(d);
      rest /= t.size(d);
    }
    for (int64_t k = 0; k < unit; ++k) out.push_back(at * unit + k);
  }
  DimVector sizes = t.sizes();
  if (unit == 2) sizes.push_back(2);
  return tensor(out, kLong).reshape(sizes);
}

/// What was computed, and recorded, from views without gradients alone has a node all the same.
void give_node(Base& base) {
  if (base.requires_grad && !base.expression.requires_grad()) base.expression.requires_grad_();
}

bool restricted(ViewKind kind) { return kind != ViewKind::None && kind != ViewKind::Default; }

}  // namespace

Var fresh(const Tensor& shown, bool requires_grad, bool leaf) {
  Var v;
  v.base = std::make_shared<Base>();
  v.base->memory = std::make_shared<Memory>();
  v.base->memory->bases.push_back(v.base);
  v.base->requires_grad = requires_grad;
  v.base->leaf = leaf;
  v.complex = shown.is_complex();
  v.positions = positions_of(shown);
  const auto count = static_cast<int64_t>(shown.storage()->nbytes() / sizeof(double));
  v.base->expression = zeros({count}, kDouble);
  return v;
}

void set_value(Var& v, const Tensor& value) {
  v.base->expression =
      v.base->expression.index_copy(0, v.positions.reshape({-1}), as_reals(value).reshape({-1}));
  give_node(*v.base);
}

Var view_of(const Var& of, const Tensor& shown, ViewKind made) {
  Var v;
  v.base = of.base;
  v.view = true;
  v.kind = restricted(made) || of.kind == ViewKind::None ? made : of.kind;
  const bool without = made == ViewKind::NoGrad || made == ViewKind::Inference;
  v.is_end = of.is_end || without;
  v.has_node = !without && of.requires_grad();
  v.complex = shown.is_complex();
  v.positions = positions_of(shown);
  v.version = of.base->memory->version;
  return v;
}

Var detached(const Var& of, const Tensor& shown) {
  Var v = of;
  v.complex = shown.is_complex();
  v.positions = positions_of(shown);
  v.base = std::make_shared<Base>();
  v.base->memory = of.base->memory;
  v.base->memory->bases.push_back(v.base);
  v.base->expression = of.base->expression.detach();
  v.view = false;
  v.kind = ViewKind::None;
  v.is_end = v.has_node = false;
  v.own.reset();
  return v;
}

std::string stale(const Var& v) {
  if (!v.view || !restricted(v.kind) || v.version == v.base->memory->version) return "";
  return v.base->requires_grad ? "its base or another view of its base has been modified inplace"
                               : "";
}

std::string unchangeable(const Var& v, bool recorded) {
  if (!recorded) return "";
  if (v.view && restricted(v.kind)) return "is being modified inplace";
  if (v.requires_grad() && v.base->leaf)
    return v.view ? "a view of a leaf Variable that requires grad is being used in an in-place"
                  : "a leaf Variable that requires grad is being used in an in-place";
  return "";
}

Tensor read(const Var& v) {
  if (v.own.defined() && v.version == v.base->memory->version) return v.own;
  // Of a view that was made without gradients nothing goes on; of a view of such a one it goes to
  // that view's own operation and ends there.
  Tensor all = v.is_end ? v.base->expression.detach() : v.base->expression;
  if (v.is_end && v.has_node) all.requires_grad_();
  const Tensor numbers =
      all.index_select(0, v.positions.reshape({-1})).reshape(v.positions.sizes());
  return v.complex ? view_as_complex(numbers) : numbers;
}

void write(Var& v, const Tensor& value, bool recorded) {
  const Tensor numbers = as_reals(value).reshape({-1}), where = v.positions.reshape({-1});
  Base& self = *v.base;
  ++self.memory->version;
  for (const std::weak_ptr<Base>& held : self.memory->bases) {
    const std::shared_ptr<Base> base = held.lock();
    if (!base) continue;
    const AutoGradMode with_history(true);
    const Tensor changed = base->expression.index_copy(0, where, numbers);
    base->expression = recorded && base.get() == &self
                           ? changed
                           : base->expression + (changed - base->expression).detach();
  }
  if (!recorded) return;
  self.requires_grad = true;
  self.leaf = false;
  give_node(self);
}

Tensor watch(const Tensor& value, std::vector<Kept> kept, std::vector<Kept>* ran) {
  if (!wants_grad(value)) return value;
  Tensor out = make_alias(value);
  record("Watch", out, {value}, [kept = std::move(kept), ran](const Tensor& g) {
    ran->insert(ran->end(), kept.begin(), kept.end());
    return g;
  });
  return out;
}

}  // namespace taeda::programs
