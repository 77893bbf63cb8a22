#include "taeda/amp/scaling.h"

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/gradient_lists.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::amp {

std::vector<ParamList> scaled_gradients(const std::vector<Tensor>& parameters, bool allow_half) {
  std::vector<ParamList> lists;
  for (const Tensor& p : parameters) {
    if (!p.grad().defined() || p.grad().numel() == 0) continue;
    TAEDA_CHECK_VALUE(allow_half || p.grad().dtype() != kHalf,
                      "Attempting to unscale FP16 gradients.");
    taeda::detail::add_gradient(lists, p);
  }
  return lists;
}

void multiply_gradients(std::vector<ParamList>& lists, double factor, const Tensor& live,
                        std::vector<Tensor>& found) {
  for (ParamList& list : lists) {
    const Device device = list.device();
    auto here = std::find_if(found.begin(), found.end(),
                             [&](const Tensor& t) { return t.device() == device; });
    if (here == found.end()) {
      here = found.insert(here, make_tensor(IntArrayRef(), kFloat, device));
      here->zero_();
    }
    const Tensor by = live.defined() ? live.detach().to(device, kDouble).contiguous() : Tensor();
    if (by.defined()) list.set_live(Numbers(by), 0);
    unscale_slot(device.type(), list, factor, *here);
  }
}

void move_scale(const Tensor& scale, const Tensor& growth_tracker, const Tensor& found_inf,
                double growth_factor, double backoff_factor, int64_t growth_interval) {
  const auto is_one = [](const Tensor& t, ScalarType dtype) {
    return t.numel() == 1 && t.dtype() == dtype;
  };
  TAEDA_CHECK(is_one(scale, kFloat) && is_one(growth_tracker, kInt) && is_one(found_inf, kFloat),
              "a scale must be one float32 number, its growth tracker one of int32 and found_inf "
              "one of float32, but they are ",
              scale.dtype(), " ", scale.sizes(), ", ", growth_tracker.dtype(), " ",
              growth_tracker.sizes(), " and ", found_inf.dtype(), " ", found_inf.sizes());
  const NoGradGuard no_grad;
  scale_tensors_slot(scale.device().type(), scale, growth_tracker, found_inf,
                     {growth_factor, backoff_factor, static_cast<double>(growth_interval)});
  scale.unsafe_impl()->bump_version();
  growth_tracker.unsafe_impl()->bump_version();
}

}  // namespace taeda::inline v0_2::amp
