#include "taeda/nn/utils.h"

#include <cmath>

#include "taeda/autograd/record.h"
#include "taeda/base/error.h"
#include "taeda/kernels/optim.h"
#include "taeda/nn/clip_rules.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/gradient_lists.h"
#include "taeda/ops/reduce/reduce.h"
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

/// Whether the kernel of norms takes a tensor.
bool is_listed(const Tensor& t, double norm_type) {
  return norm_type > 0 && is_floating_point(t.dtype()) && !t.is_sparse() &&
         t.layout().is_non_overlapping_and_dense();
}

}  // namespace

Tensor norm_of_all(const std::vector<Tensor>& tensors, double norm_type) {
  if (tensors.empty()) return zeros({}, kDouble);
  NoGradGuard no_grad;
  std::vector<ParamList> lists;
  std::vector<Tensor> norms;
  for (const Tensor& t : tensors) {
    if (is_listed(t, norm_type))
      taeda::detail::add_to_lists(lists, t);
    else
      norms.push_back(vector_norm(t.is_sparse() ? t.coalesce()._values() : t.detach(), norm_type));
  }
  if (!lists.empty()) norms.push_back(taeda::detail::gradient_norm(lists, norm_type));
  for (Tensor& norm : norms) norm = norm.to(tensors[0].device(), kDouble);
  return norms.size() == 1 && norm_type > 0 ? norms[0] : vector_norm(stack(norms), norm_type);
}

void check_finite_norm(const Tensor& norm, const std::string& order) {
  TAEDA_CHECK(std::isfinite(norm.item<double>()), "The total norm of order ", order,
              " for gradients from "
              "`parameters` is non-finite, so it cannot be clipped. To disable this error and "
              "scale the gradients by the "
              "non-finite norm anyway, set `error_if_nonfinite=False`");
}

void scale_gradients(const std::vector<Tensor>& parameters, double max_norm, const Tensor& norm) {
  NoGradGuard no_grad;
  if (taeda::detail::clip_gradients(gradient_lists(parameters), norm, max_norm))
    taeda::detail::bump_gradients(parameters);
}

Tensor clip_gradients(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                      const std::string& finite_order) {
  TAEDA_CHECK_VALUE(max_norm >= 0, "clip_grad_norm_: expected max_norm to be at least 0, but got ",
                    max_norm);
  TAEDA_CHECK_VALUE(!std::isnan(norm_type), "clip_grad_norm_: expected a number as norm_type, but ",
                    "got nan");
  std::vector<Tensor> gradients;
  for (const Tensor& p : parameters)
    if (p.grad().defined()) gradients.push_back(p.grad());
  Tensor norm = norm_of_all(gradients, norm_type);
  if (!finite_order.empty()) check_finite_norm(norm, finite_order);
  scale_gradients(parameters, max_norm, norm);
  return norm;
}

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  const std::string order = taeda::detail::concat(norm_type);
  return clip_gradients(parameters, max_norm, norm_type, error_if_nonfinite ? order : "")
      .item<double>();
}

double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  TAEDA_CHECK_VALUE(clip_value >= 0,
                    "clip_grad_value_: expected clip_value to be at least 0, but got ", clip_value);
  for (const Tensor& p : parameters)
    if (p.grad().defined() && p.grad().is_complex())
      taeda::detail::throw_no_dtype("clip_grad_value_", p.grad().dtype());
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
