#include "taeda/nn/utils.h"

#include <cmath>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/gradient_lists.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn::utils {

namespace {

std::vector<ParamList> gradient_lists(const std::vector<Tensor>& parameters) {
  std::vector<ParamList> lists;
  for (const Tensor& p : parameters)
    if (p.grad().defined()) taeda::detail::add_gradient(lists, p);
  return lists;
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  TAEDA_CHECK_VALUE(!std::isnan(max_norm) && !std::isnan(norm_type),
                    "clip_grad_norm_: expected numbers as max_norm and norm_type, but got ",
                    max_norm, " and ", norm_type);
  NoGradGuard no_grad;
  const std::vector<ParamList> lists = gradient_lists(parameters);
  if (lists.empty()) return 0;
  const double total = taeda::detail::gradient_norm(lists, norm_type);
  TAEDA_CHECK(!error_if_nonfinite || std::isfinite(total), "The total norm of order ", norm_type,
              " for gradients from "
              "`parameters` is non-finite, so it cannot be clipped. To disable this error and "
              "scale the gradients by the "
              "non-finite norm anyway, set `error_if_nonfinite=False`");
  if (taeda::detail::clip_gradients(lists, total, max_norm))
    taeda::detail::bump_gradients(parameters);
  return total;
}

double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  TAEDA_CHECK_VALUE(!std::isnan(clip_value),
                    "clip_grad_value_: expected a number as clip_value, but got ", clip_value);
  NoGradGuard no_grad;
  for (const ParamList& list : gradient_lists(parameters))
    grad_clamp_slot(list.device().type(), list, clip_value);
  taeda::detail::bump_gradients(parameters);
}

void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{parameter}, clip_value);
}

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& p : parameters) flat.push_back(p.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters) {
  int64_t wanted = 0;
  for (const Tensor& p : parameters) wanted += p.numel();
  TAEDA_CHECK(vector.dim() == 1 && vector.numel() == wanted,
              "vector_to_parameters(): expected a vector of ", wanted,
              " elements, but got a tensor of shape ", vector.sizes());
  NoGradGuard no_grad;
  int64_t at = 0;
  for (const Tensor& p : parameters) {
    p.copy_(vector.narrow(0, at, p.numel()).view(p.sizes()));
    at += p.numel();
  }
}

}  // namespace taeda::inline v0_2::nn::utils
