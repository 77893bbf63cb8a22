#include "taeda/nn/init.h"

#include <algorithm>
#include <cmath>

#include "taeda/nn/init_rules.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/random/random.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::nn::init {

namespace {

thread_local bool skip_init = false;

/// Runs `fill` without recording, unless initialisation is skipped.
template <class F>
Tensor fill_without_grad(Tensor tensor, F&& fill) {
  if (skip_init) return tensor;
  NoGradGuard no_grad;
  fill(tensor);
  return tensor;
}

/// A number as a dtype has it.
double rounded_to(ScalarType dtype, double value) {
  return full({}, value, TensorOptions(dtype)).item<double>();
}

/// Draws anew what falls outside.
void draw_inside(Tensor& t, double mean, double std, double a, double b,
                 const std::optional<Generator>& generator) {
  const double low = rounded_to(t.dtype(), a), high = rounded_to(t.dtype(), b);
  t.normal_(mean, std, generator);
  for (;;) {
    const Tensor outside = t.lt(low).logical_or(t.gt(high));
    if (!outside.any().item<bool>()) return;
    t.copy_(where(outside, empty_like(t).normal_(mean, std, generator), t));
  }
}

/// Draws uniform numbers, and keeps each with a probability in proportion to its density.
void draw_by_density(Tensor& t, double mean, double std, double a, double b,
                     const std::optional<Generator>& generator) {
  const double peak = (std::max(a, std::min(mean, b)) - mean) / std, log_peak = -0.5 * peak * peak;
  const auto rejected = [&](const Tensor& drawn) {
    const Tensor log_share = drawn.sub(mean).div_(std).square_().mul_(-0.5).sub_(log_peak);
    return empty_like(t).uniform_(0, 1, generator).log_().gt(log_share);
  };
  t.uniform_(a, b, generator);
  Tensor missing = rejected(t);
  while (missing.any().item<bool>()) {
    const Tensor drawn = empty_like(t).uniform_(a, b, generator);
    t.copy_(where(missing, drawn, t));
    missing = missing.logical_and(rejected(drawn));
  }
}

double fan_of(const Tensor& tensor, FanMode mode) {
  const auto [in, out] = calculate_fans(tensor);
  return static_cast<double>(mode == kFanIn ? in : out);
}

}  // namespace

SkipInitGuard::SkipInitGuard() : previous_(skip_init) { skip_init = true; }
SkipInitGuard::~SkipInitGuard() { skip_init = previous_; }
bool SkipInitGuard::is_active() { return skip_init; }

double calculate_gain(Nonlinearity nonlinearity, double param) {
  switch (nonlinearity) {
    case Nonlinearity::Tanh: return 5.0 / 3.0;
    case Nonlinearity::ReLU: return std::sqrt(2.0);
    case Nonlinearity::LeakyReLU: return std::sqrt(2.0 / (1 + param * param));
    case Nonlinearity::SELU: return 3.0 / 4.0;
    case Nonlinearity::GELU: throw ValueError("Unsupported nonlinearity gelu");
    default: return 1;
  }
}

std::pair<int64_t, int64_t> calculate_fans(const Tensor& tensor) {
  TAEDA_CHECK_VALUE(
      tensor.dim() >= 2,
      "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
  int64_t field = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) field *= tensor.size(d);
  return {tensor.size(1) * field, tensor.size(0) * field};
}

Tensor uniform_(Tensor tensor, double low, double high) {
  return fill_without_grad(std::move(tensor), [&](Tensor& t) { t.uniform_(low, high); });
}

Tensor normal_(Tensor tensor, double mean, double std) {
  return fill_without_grad(std::move(tensor), [&](Tensor& t) { t.normal_(mean, std); });
}

void draw_trunc_normal(Tensor& tensor, double mean, double std, double a, double b,
                       const std::optional<Generator>& generator) {
  if (tensor.is_meta()) return;
  const NoGradGuard no_grad;
  const auto below = [&](double x) {
    return (1 + std::erf((x - mean) / std / std::sqrt(2.0))) / 2;
  };
  (below(b) - below(a) > 0.3 ? draw_inside : draw_by_density)(tensor, mean, std, a, b, generator);
}

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a, double b) {
  return fill_without_grad(std::move(tensor),
                           [&](Tensor& t) { draw_trunc_normal(t, mean, std, a, b); });
}

Tensor constant_(Tensor tensor, const Scalar& value) {
  return fill_without_grad(std::move(tensor), [&](Tensor& t) { t.fill_(value); });
}

Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

void fill_eye(Tensor& matrix) {
  TAEDA_CHECK_VALUE(matrix.dim() == 2, "Only tensors with 2 dimensions are supported");
  const NoGradGuard no_grad;
  matrix.zero_();
  matrix.diagonal().fill_(1);
}

Tensor eye_(Tensor matrix) { return fill_without_grad(std::move(matrix), fill_eye); }

void draw_sparse(Tensor& matrix, double sparsity, double std,
                 const std::optional<Generator>& generator) {
  TAEDA_CHECK_VALUE(matrix.dim() == 2, "Only tensors with 2 dimensions are supported");
  TAEDA_CHECK_VALUE(sparsity >= 0 && sparsity <= 1, "sparse_: expected a part between 0 and 1, ",
                    "but got ", sparsity);
  const NoGradGuard no_grad;
  const int64_t rows = matrix.size(0);
  const auto count = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  matrix.normal_(0, std, generator);
  for (int64_t column = 0; column < matrix.size(1); ++column) {
    const Tensor order = randperm(rows, TensorOptions(kLong).device(matrix.device()));
    matrix.select(1, column).index_fill_(0, order.narrow(0, 0, count), 0);
  }
}

Tensor sparse_(Tensor matrix, double sparsity, double std) {
  return fill_without_grad(std::move(matrix), [&](Tensor& t) { draw_sparse(t, sparsity, std); });
}

void fill_dirac(Tensor& tensor, int64_t groups) {
  TAEDA_CHECK_VALUE(tensor.dim() >= 3 && tensor.dim() <= 5,
                    "Only tensors with 3, 4, or 5 dimensions are supported");
  TAEDA_CHECK_VALUE(groups > 0 && tensor.size(0) % groups == 0,
                    "dim 0 must be divisible by groups");
  const NoGradGuard no_grad;
  const int64_t out_per_group = tensor.size(0) / groups;
  tensor.zero_();
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t d = 0; d < std::min(out_per_group, tensor.size(1)); ++d) {
      Tensor kernel = tensor.select(0, g * out_per_group + d).select(0, d);
      while (kernel.dim() > 0) kernel = kernel.select(0, kernel.size(0) / 2);
      kernel.fill_(1);
    }
}

Tensor dirac_(Tensor tensor, int64_t groups) {
  return fill_without_grad(std::move(tensor), [&](Tensor& t) { fill_dirac(t, groups); });
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  const auto [in, out] = calculate_fans(tensor);
  const double std = gain * std::sqrt(2.0 / static_cast<double>(in + out));
  const double bound = std::sqrt(3.0) * std;
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor xavier_normal_(Tensor tensor, double gain) {
  const auto [in, out] = calculate_fans(tensor);
  return normal_(std::move(tensor), 0, gain * std::sqrt(2.0 / static_cast<double>(in + out)));
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  const double bound =
      std::sqrt(3.0) * (calculate_gain(nonlinearity, a) / std::sqrt(fan_of(tensor, mode)));
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor kaiming_normal_(Tensor tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  return normal_(tensor, 0, calculate_gain(nonlinearity, a) / std::sqrt(fan_of(tensor, mode)));
}

void draw_orthogonal(Tensor& tensor, double gain, const std::optional<Generator>& generator) {
  TAEDA_CHECK_VALUE(tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported");
  if (tensor.numel() == 0) return;
  const NoGradGuard no_grad;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor drawn = make_tensor({rows, columns}, tensor.dtype(), tensor.device());
  drawn.normal_(0, 1, generator);
  if (is_reduced_floating(drawn.dtype())) drawn = drawn.to(kFloat);
  const bool wide = rows < columns;
  auto [q, r] = linalg::qr(wide ? drawn.t() : drawn);
  q = q.mul(r.diagonal().sign()).mul_(gain);
  tensor.copy_((wide ? q.t() : q).reshape(tensor.sizes()));
}

Tensor orthogonal_(Tensor tensor, double gain) {
  return fill_without_grad(std::move(tensor), [gain](Tensor& t) { draw_orthogonal(t, gain); });
}

}  // namespace taeda::inline v0_2::nn::init
