#include "taeda/optim/muon.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

constexpr std::array kAdjustments = {"original", "match_rms_adamw", "spectral_unclamped"};

enum MuonField : size_t {
  kMLr,
  kMDecay,
  kMMomentum,
  kMNesterov,
  kMA,
  kMB,
  kMC,
  kMEps,
  kMSteps,
  kMAdjustment
};
constexpr RuleField kMuonFields[] = {
    rate_field<&MuonConfig::lr>("Learning rate should be >= 0 but is: "),
    field<&MuonConfig::weight_decay>(
        {"weight_decay", Range::AtLeast0, "weight decay should be >= 0 but is: "}),
    field<&MuonConfig::momentum>({"momentum", Range::AtLeast0, "momentum should be >= 0 but is: "}),
    field<&MuonConfig::nesterov>({"nesterov"}),
    field<&MuonConfig::ns_coefficients, 0>(
        {.name = "ns_coefficients.0", .option = "ns_coefficients"}),
    field<&MuonConfig::ns_coefficients, 1>(
        {.name = "ns_coefficients.1", .option = "ns_coefficients"}),
    field<&MuonConfig::ns_coefficients, 2>(
        {.name = "ns_coefficients.2", .option = "ns_coefficients"}),
    field<&MuonConfig::eps>({"eps", Range::Number, "eps should be >= 0 but is: "}),
    field<&MuonConfig::ns_steps>({"ns_steps"}),
    field<&MuonConfig::adjust_lr_fn>({.name = "adjust_lr_fn",
                                      .refusal = "Adjust learning rate function ",
                                      .words = kAdjustments,
                                      .refusal_end = " is not supported"})};
constexpr RuleState kMuonStates[] = {{"momentum_buffer"}};

void check_steps(double steps) {
  TAEDA_CHECK_VALUE(steps >= 0 && steps < 100,
                    "Number of steps must be less than 100 for computational efficiency, got ",
                    steps);
}

void check_muon(const double* v) {
  TAEDA_CHECK_VALUE(!std::isnan(v[kMA] + v[kMB] + v[kMC]),
                    "ns_coefficients should be numbers but are: ", v[kMA], ", ", v[kMB], ", ",
                    v[kMC]);
  check_steps(v[kMSteps]);
}

void check_muon_param(const Tensor& param, size_t) {
  TAEDA_CHECK_VALUE(
      param.dim() == 2,
      "Muon only supports 2D parameters whereas we found a parameter with size: ", param.sizes());
}

/// What the rate for a matrix of this shape is multiplied by.
double adjusted_by(const double* v, IntArrayRef shape) {
  const auto rows = static_cast<double>(shape[0]), columns = static_cast<double>(shape[1]);
  switch (static_cast<int>(v[kMAdjustment])) {
    case 1: return 0.2 * std::sqrt(std::max(rows, columns));
    case 2: return std::sqrt(rows / columns);
    default: return std::sqrt(std::max(1.0, rows / columns));
  }
}

/// U V^T, about, of a matrix U S V^T: Newton and Schulz' iteration of a quintic polynomial.
Tensor orthogonalized(const double* v, const Tensor& matrix) {
  const bool tall = matrix.size(0) > matrix.size(1);
  Tensor x = (tall ? matrix.t() : matrix).to(kBFloat16);
  x = x / norm(x).clamp_min(v[kMEps]);
  for (double i = 0; i < v[kMSteps]; ++i) {
    const Tensor gram = matmul(x, x.t());
    x = addmm(x, addmm(gram, gram, gram, v[kMB], v[kMC]), x, v[kMA]);
  }
  return tall ? x.t() : x;
}

/// What shrinks the parameter, and the rate.
StepValues muon_numbers(const double* v, StepCount&) {
  return {-1, {1 - v[kMLr] * v[kMDecay], -v[kMLr]}};
}

void muon_update(const double* v, StepTensors& t) {
  check_steps(v[kMSteps]);
  TAEDA_CHECK_VALUE(t.grad.dim() == 2, "Muon.step(): a gradient must be a matrix, got shape ",
                    t.grad.sizes());
  Tensor& momentum = t.states[0];
  momentum.lerp_(t.grad, 1 - v[kMMomentum]);
  const Tensor change =
      orthogonalized(v, v[kMNesterov] != 0 ? lerp(t.grad, momentum, v[kMMomentum]) : momentum);
  t.scale(t.param, 0);
  t.add(t.param, change.to(t.param.dtype()), 1, adjusted_by(v, t.param.sizes()));
}

}  // namespace

constinit const Rule muon_rule = {.name = "Muon",
                                  .fields = kMuonFields,
                                  .states = kMuonStates,
                                  .counts = false,
                                  .complex = false,
                                  .check = check_muon,
                                  .check_param = check_muon_param,
                                  .formula = muon_numbers,
                                  .update = muon_update};

}  // namespace taeda::inline v0_2::optim
