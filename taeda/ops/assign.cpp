#include "taeda/ops/assign.h"

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/ops/destination.h"

namespace taeda::inline v0_2 {

namespace {

/// What can be copied into `self`. Copying would hide another device.
void check_result(const char* name, const Tensor& self, const Tensor& result) {
  check_same_device(name, {&result, &self});
  TAEDA_CHECK(result.sizes() == self.sizes(), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", result.sizes());
  TAEDA_CHECK(can_cast(result.dtype(), self.dtype()), "result type ", to_string(result.dtype()),
              " can't be cast to the desired output type ", to_string(self.dtype()));
}

void assign_unrecorded(const char* name, const Tensor& self,
                       const std::function<Tensor(const Tensor&)>& compute) {
  NoGradGuard guard;
  const detail::Destination to(name, self, false);
  const Tensor result = compute(self);
  if (to.holds(result)) return;
  check_result(name, self, result);
  self.copy_(result);
}

}  // namespace

void detail::warn_of_expansion(const char* name, const Tensor& self) {
  if (self.layout().has_internal_overlap()) [[unlikely]]
    TAEDA_WARN("Use of ", name,
               " on expanded tensors is deprecated. Please clone() the tensor before performing "
               "this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar");
}

void detail::assign_recorded(const char* name, const Tensor& self,
                             const std::function<Tensor(const Tensor&)>& compute) {
  const Tensor before = self.clone();
  Tensor value;
  {
    const Destination to(name, self, true);
    value = compute(before);
    if (!to.holds(value)) {
      check_result(name, self, value);
      value = value.to(self.dtype());
      NoGradGuard guard;
      self.copy_(value);
    }
  }
  uint32_t nr = 0;
  if (autograd::NodePtr fn = autograd::grad_fn_of(value, &nr))
    autograd::rebase_history(self, std::move(fn), nr);
}

Tensor& detail::assign(const char* name, const Tensor& self, bool recorded,
                       const std::function<Tensor(const Tensor&)>& compute) {
  check_inplace(name, self, recorded);
  recorded ? assign_recorded(name, self, compute) : assign_unrecorded(name, self, compute);
  return const_cast<Tensor&>(self);
}

}  // namespace taeda
