#include "taeda/optim/sparse_adam.h"

#include <cmath>

#include "taeda/base/error.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum SparseAdamField : size_t { kSLr, kSBeta1, kSBeta2, kSEps, kSMaximize };
constexpr RuleField kSparseAdamFields[] = {
    field<&SparseAdamConfig::lr>({"lr", Range::Above0, "Invalid learning rate: "}),
    beta_field<&SparseAdamConfig::betas, 0>(), beta_field<&SparseAdamConfig::betas, 1>(),
    field<&SparseAdamConfig::eps>({"eps", Range::Above0, "Invalid epsilon value: "}),
    field<&SparseAdamConfig::maximize>({"maximize"})};
constexpr RuleState kSparseAdamStates[] = {{"exp_avg"}, {"exp_avg_sq"}};

void check_sparse_adam_param(const Tensor& param, size_t index) {
  TAEDA_CHECK_VALUE(!param.is_sparse(), "Sparse params at indices [", index,
                    "]: SparseAdam requires dense parameter tensors");
}

void sparse_adam_rows(const double* v, StepTensors& t) {
  const Tensor grad = v[kSMaximize] != 0 ? t.grad.neg() : t.grad;
  Tensor &mean = t.states[0], &square = t.states[1];
  mean.add_(grad.sub(mean).mul_(1 - v[kSBeta1]));
  square.add_(grad.square().sub_(square).mul_(1 - v[kSBeta2]));
  const double rate =
      v[kSLr] * std::sqrt(correction(v[kSBeta2], t.step)) / correction(v[kSBeta1], t.step);
  t.param.add_(mean.div(square.sqrt().add_(v[kSEps])), -rate);
}

}  // namespace

constinit const Rule sparse_adam_rule = {.name = "SparseAdam",
                                         .fields = kSparseAdamFields,
                                         .states = kSparseAdamStates,
                                         .check_param = check_sparse_adam_param,
                                         .rows = sparse_adam_rows,
                                         .dense = false};

}  // namespace taeda::inline v0_2::optim
