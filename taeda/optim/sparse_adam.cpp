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
    {"lr", "lr", -1, 1e-3, Range::Above0, "Invalid learning rate: ", "learning rate"},
    beta_field(0, 0.9),
    beta_field(1, 0.999),
    {"eps", "eps", -1, 1e-8, Range::Above0, "Invalid epsilon value: ", "keeps divisors from 0"},
    flag_field("maximize")};
constexpr RuleState kSparseAdamStates[] = {{"exp_avg"}, {"exp_avg_sq"}};

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
                                         .rows = sparse_adam_rows,
                                         .dense = false};

void SparseAdamOptions::visit(const NumberVisitor& f) {
  visit_numbers(sparse_adam_rule, f, lr_, betas_, eps_, maximize_);
}

SparseAdam::SparseAdam(std::vector<OptimizerParamGroup> groups, SparseAdamOptions defaults)
    : RuleOptimizer(std::move(groups), std::move(defaults)) {
  size_t i = 0;
  for (const Tensor& p : parameters()) {
    TAEDA_CHECK_VALUE(!p.is_sparse(), "Sparse params at indices [", i,
                      "]: SparseAdam requires dense parameter tensors");
    ++i;
  }
}

}  // namespace taeda::inline v0_2::optim
