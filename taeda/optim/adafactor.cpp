#include "taeda/optim/adafactor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

/// The distance from 1 to the next number of a dtype.
double epsilon(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return std::numeric_limits<double>::epsilon();
    case kHalf: return 0x1p-10;
    case kBFloat16: return 0x1p-7;
    default: return std::numeric_limits<float>::epsilon();
  }
}

/// Means of squares along a dimension, which stays.
Tensor mean_square(const Tensor& t, int64_t dim) {
  return norm(t, 2, {dim}, /*keepdim=*/true).square_().div_(static_cast<double>(t.size(dim)));
}

enum AdafactorField : size_t { kFLr, kFBeta2Decay, kFEps1, kFEps2, kFD, kFDecay, kFMaximize };
constexpr double kOfDtype = -1;  // eps1 is the dtype's
constexpr RuleField kAdafactorFields[] = {
    rate_field<&AdafactorConfig::lr>("Learning rate should be >= 0 but is: "),
    field<&AdafactorConfig::beta2_decay>(
        {"beta2_decay", Range::AtMost0, "beta2_decay should be <= 0 but is: "}),
    field<&AdafactorConfig::eps, 0>(
        {"eps1", Range::AtLeast0, "epsilon1 should be >= 0 but is: ", "eps", kOfDtype}),
    field<&AdafactorConfig::eps, 1>(
        {"eps2", Range::AtLeast0, "epsilon2 should be >= 0 but is: ", "eps"}),
    field<&AdafactorConfig::d>(
        {"d", Range::AtLeast1, "Clipping threshold d should be >= 1 but is: "}),
    field<&AdafactorConfig::weight_decay>(
        {"weight_decay", Range::AtLeast0, "weight_decay should be >= 0 but is: "}),
    field<&AdafactorConfig::maximize>({"maximize"})};

/// Those of a parameter with two dimensions or more: its sizes with 1 for the `reduced` last one.
template <size_t reduced>
std::optional<DimVector> factor_sizes(IntArrayRef param) {
  if (param.size() < 2) return std::nullopt;
  DimVector sizes(param);
  sizes[sizes.size() - reduced] = 1;
  return sizes;
}
constexpr RuleState kAdafactorStates[] = {
    {"row_var", nullptr, nullptr, factor_sizes<1>},
    {"col_var", nullptr, nullptr, factor_sizes<2>},
    {"variance", nullptr, nullptr, [](IntArrayRef param) -> std::optional<DimVector> {
       if (param.size() > 1) return std::nullopt;
       return DimVector(param);
     }}};

/// What shrinks the parameter, the weight of a squared gradient, and the pace.
StepValues adafactor_numbers(const double* v, StepCount& count) {
  return {-1,
          {1 - v[kFLr] * v[kFDecay], std::pow(count.step, v[kFBeta2Decay]),
           -std::min(v[kFLr], 1 / std::sqrt(count.step)) * v[kFD]}};
}

void adafactor_update(const double* v, StepTensors& t) {
  const double least = v[kFEps1] == kOfDtype ? epsilon(t.param.dtype()) : v[kFEps1];
  const double root_numel = std::sqrt(static_cast<double>(t.param.numel()));
  const Tensor size = norm(t.param);
  const Tensor grad = v[kFMaximize] != 0 ? t.grad.neg() : t.grad;
  if (v[kFDecay] != 0) t.scale(t.param, 0);
  Tensor square;
  if (grad.dim() > 1) {
    Tensor &rows = t.states[0], &columns = t.states[1];
    t.approach(rows, mean_square(grad, -1), 1);
    t.approach(columns, mean_square(grad, -2), 1);
    square = matmul(rows, columns).div_(rows.mean(-2, /*keepdim=*/true).clamp_min_(least));
  } else {
    t.approach(t.states[2], grad * grad, 1);
    square = t.states[2].clone();
  }
  const Tensor change = square.clamp_min_(least * least).rsqrt_().mul_(grad);
  const Tensor length = norm(change);
  const double least_size = v[kFEps2] * root_numel, most_length = v[kFD] * root_numel;
  if (t.param.device().is_cpu() && !t.live.defined()) {  // where reading a number is free
    const double scale =
        std::max(least_size, size.item<double>()) / std::max(most_length, length.item<double>());
    t.add(t.param, change, 2, scale);
    return;
  }
  Tensor scale =
      size.to(kDouble).clamp_min(least_size).div_(length.to(kDouble).clamp_min(most_length));
  t.scale(scale, 2);
  StepTensors::add(t.param, change, scale);
}

}  // namespace

constinit const Rule adafactor_rule = {.name = "Adafactor",
                                       .fields = kAdafactorFields,
                                       .states = kAdafactorStates,
                                       .waits = true,
                                       .complex = false,
                                       .formula = adafactor_numbers,
                                       .update = adafactor_update};

}  // namespace taeda::inline v0_2::optim
