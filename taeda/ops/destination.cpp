#include "taeda/ops/destination.h"

#include <cstring>

#include "taeda/autograd/meta.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::detail {

thread_local Destination* Destination::innermost_ = nullptr;

namespace {

/// The bytes from a tensor's first element to its last.
struct Extent {
  int64_t begin, end;
  explicit Extent(const Tensor& t) {
    const int64_t item = t.element_size();
    begin = reinterpret_cast<intptr_t>(t.storage()->address()) + t.storage_offset() * item;
    end = begin + t.layout().extent() * item;
  }
};

/// Whether the addresses of both can be compared: those of one device, or on meta, which has none,
/// offsets in one storage.
bool comparable(const Tensor& a, const Tensor& b) {
  return a.device() == b.device() && (!a.is_meta() || a.is_alias_of(b));
}

bool meet(const Tensor& a, const Tensor& b) {
  if (!comparable(a, b)) return false;
  const Extent x(a), y(b);
  return x.begin < y.end && y.begin < x.end;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return comparable(a, b) && a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         a.strides() == b.strides() && Extent(a).begin == Extent(b).begin;
}

/// Whether the closure may save `t`. What cannot be found out without an error, like a view's
/// history that is no longer valid, is one here: before anything is written.
bool can_be_saved(const Tensor& t) {
  if (t.requires_grad()) (void)autograd::gradient_edge(t);
  return !t.is_inference();
}

DimVector broadcast(ArrayRef<Operand> inputs) {
  DimVector shape;
  for (const Operand& in : inputs)
    if (in.tensor()) shape = broadcast_sizes(shape, in.tensor()->sizes());
  return shape;
}

}  // namespace

Destination::Destination(const char* op, const Tensor& to, bool recorded)
    : op_(op), to_(to), outer_(innermost_), recorded_(recorded) {
  innermost_ = this;
}

bool Destination::is_for(const char* name) const {
  const size_t n = std::strlen(name);
  return std::strncmp(op_, name, n) == 0 && (!op_[n] || (op_[n] == '_' && !op_[n + 1]));
}

bool Destination::accepts(ScalarType result) const {
  return (recorded_ ? result == to_.dtype() : can_cast(result, to_.dtype())) &&
         (!to_.is_inference() || InferenceMode::is_enabled()) &&
         !to_.layout().has_internal_overlap() && to_.is_strided();
}

Tensor Destination::take() {
  taken_ = make_alias(to_);
  to_.unsafe_impl()->bump_version();  // before the closure saves the result
  innermost_ = nullptr;               // whatever else the operation calls has memory of its own
  return taken_;
}

Tensor Destination::take(const char* name, ArrayRef<Operand> inputs, ScalarType result) {
  Destination& d = *innermost_;
  if (!d.is_for(name) || !d.accepts(result)) return {};
  bool at_home = false;
  for (const Operand& in : inputs) {
    const Tensor* t = in.tensor();
    if (!t) continue;
    at_home = at_home || t->device() == d.to_.device();
    if (t->device() != d.to_.device() && !(t->is_cpu() && t->dim() == 0)) return {};
    if (d.recorded_ && !can_be_saved(*t)) return {};
    if (meet(d.to_, *t) && (d.recorded_ || !same_elements(d.to_, *t))) return {};
  }
  if (!at_home || IntArrayRef(broadcast(inputs)) != d.to_.sizes()) return {};
  return d.take();
}

Tensor Destination::take(const char* name, ArrayRef<const Tensor*> inputs, IntArrayRef sizes,
                         ScalarType result, Device device) {
  return take(name, inputs, sizes, result, device, false);
}

Tensor Destination::take(const char* name, ArrayRef<const Tensor*> inputs, IntArrayRef sizes,
                         ScalarType result, Device device, bool in_step) {
  Destination& d = *innermost_;
  if (!d.is_for(name) || !d.accepts(result) || result != d.to_.dtype()) return {};
  if (d.to_.device() != device || sizes != d.to_.sizes() || !d.to_.is_contiguous()) return {};
  in_step = in_step && !d.recorded_;
  for (const Tensor* t : inputs) {
    if (!t->defined()) continue;
    if (d.recorded_ && !can_be_saved(*t)) return {};
    if (meet(d.to_, *t) && !(in_step && same_elements(d.to_, *t))) return {};
  }
  return d.take();
}

}  // namespace taeda::inline v0_2::detail
