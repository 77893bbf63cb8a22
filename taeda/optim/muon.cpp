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
    rate_field(1e-3, "Learning rate should be >= 0 but is: "),
    {"weight_decay", "weight_decay", -1, 0.1, Range::AtLeast0,
     "weight decay should be >= 0 but is: "},
    {"momentum", "momentum", -1, 0.95, Range::AtLeast0, "momentum should be >= 0 but is: "},
    {"nesterov", "nesterov", -1, 1},
    {"ns_coefficients.0", "ns_coefficients", 0, 3.4445},
    {"ns_coefficients.1", "ns_coefficients", 1, -4.775},
    {"ns_coefficients.2", "ns_coefficients", 2, 2.0315},
    {"eps", "eps", -1, 1e-7},
    {"ns_steps", "ns_steps", -1, 5},
    {.name = "adjust_lr_fn",
     .option = "adjust_lr_fn",
     .part = -1,
     .fallback = 0,
     .refusal = "Adjust learning rate function ",
     .words = kAdjustments}};
constexpr RuleState kMuonStates[] = {{"momentum_buffer"}};

void check_steps(double steps) {
  TAEDA_CHECK_VALUE(steps >= 0 && steps < 100,
                    "Number of steps must be less than 100 for computational efficiency, got ",
                    steps);
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
                                  .formula = muon_numbers,
                                  .update = muon_update};

void MuonOptions::check() const {
  const bool known = !adjust_lr_fn_ || std::find(kAdjustments.begin(), kAdjustments.end(),
                                                 *adjust_lr_fn_) != kAdjustments.end();
  TAEDA_CHECK_VALUE(known, kMuonFields[kMAdjustment].refusal, *adjust_lr_fn_, " is not supported");
  check_values(muon_rule, *this);
  TAEDA_CHECK_VALUE(eps_ >= 0, "eps should be >= 0 but is: ", eps_);
  const auto [a, b, c] = ns_coefficients_;
  TAEDA_CHECK_VALUE(!std::isnan(a + b + c), "ns_coefficients should be numbers but are: ", a, ", ",
                    b, ", ", c);
  check_steps(static_cast<double>(ns_steps_));
}

void MuonOptions::visit(const NumberVisitor& f) {
  visit_numbers(muon_rule, f, lr_, weight_decay_, momentum_, nesterov_, ns_coefficients_, eps_,
                ns_steps_, adjust_lr_fn_);
}

Muon::Muon(std::vector<OptimizerParamGroup> groups, MuonOptions defaults)
    : RuleOptimizer(std::move(groups), std::move(defaults)) {
  for (const Tensor& p : parameters())
    TAEDA_CHECK_VALUE(
        p.dim() == 2,
        "Muon only supports 2D parameters whereas we found a parameter with size: ", p.sizes());
}

}  // namespace taeda::inline v0_2::optim
