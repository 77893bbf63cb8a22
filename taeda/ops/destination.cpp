#include "taeda/ops/destination.h"

#include <cstring>

#include "taeda/autograd/meta.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/mapped.h"
#include "taeda/tensor/overlap.h"

namespace taeda::inline v0_2::detail {

thread_local Destination* Destination::innermost_ = nullptr;

namespace {

/// Whether a kernel that writes `out` may read `in`: from other memory or, if it goes through both
/// `in_step`, from the very same elements.
bool may_read(const Tensor& out, const Tensor& in, bool in_step) {
  const Overlap found = overlap_of(out, in);
  return found == Overlap::Apart ||
         (in_step && found == Overlap::Same && out.dtype() == in.dtype());
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
    : op_(op), to_(to), outer_(innermost_), recorded_(recorded), same_dtype_(recorded) {
  innermost_ = this;
}

bool Destination::is_for(const char* name) const {
  const size_t n = std::strlen(name);
  return std::strncmp(op_, name, n) == 0 && (!op_[n] || (op_[n] == '_' && !op_[n + 1]));
}

bool Destination::accepts(ScalarType result) const {
  return (same_dtype_ ? result == to_.dtype() : can_cast(result, to_.dtype())) &&
         (!to_.is_inference() || InferenceMode::is_enabled()) &&
         !to_.layout().has_internal_overlap() && to_.is_strided() &&
         !is_mapped(to_);
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
    if (!may_read(d.to_, *t, !d.recorded_)) return {};
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
    if (!may_read(d.to_, *t, in_step)) return {};
  }
  return d.take();
}

}  // namespace taeda::inline v0_2::detail
