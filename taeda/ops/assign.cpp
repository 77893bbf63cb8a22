#include "taeda/ops/assign.h"

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/tensor/iter.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

Tensor& detail::assign(const char* name, const Tensor& self, bool recorded,
                       const std::function<Tensor(const Tensor&)>& compute) {
  check_inplace(name, self, recorded);
  if (recorded) {
    autograd::assign_inplace(name, self, compute);
  } else {
    NoGradGuard guard;
    const Tensor result = compute(self);
    check_same_device(name, {&result, &self});
    TAEDA_CHECK(result.sizes() == self.sizes(), "output with shape ", self.sizes(),
                " doesn't match the broadcast shape ", result.sizes());
    TAEDA_CHECK(can_cast(result.dtype(), self.dtype()), "result type ", to_string(result.dtype()),
                " can't be cast to the desired output type ", to_string(self.dtype()));
    self.copy_(result);
  }
  return const_cast<Tensor&>(self);
}

}  // namespace taeda
