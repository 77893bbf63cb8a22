#include "taeda/nn/init.h"

#include <cmath>

#include "taeda/ops/create.h"
#include "taeda/ops/random.h"
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

/// Works on a copy in host memory, in double precision.
template <class F>
void on_host(const Tensor& tensor, F&& f) {
  if (tensor.is_meta()) return;
  Tensor host = tensor.detach().to(Device(kCPU), kDouble).contiguous();
  if (host.storage() == tensor.storage()) host = host.clone();
  f(host.data_ptr<double>());
  tensor.copy_(host);
}

/// The inverse error function: Giles' approximation ("Approximating the erfinv function", 2012),
/// then two Newton steps to full double precision.
double erfinv(double x) {
  if (x <= -1 || x >= 1) return std::copysign(INFINITY, x);
  double w = -std::log((1 - x) * (1 + x));
  const bool is_central = w < 5;
  static constexpr double central[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                       -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                       -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                    -0.00367342844,  0.00573950773,  -0.0076224613,
                                    0.00943887047,   1.00167406,     2.83297682};
  w = is_central ? w - 2.5 : std::sqrt(w) - 3;
  const double* c = is_central ? central : tail;
  double p = c[0];
  for (int i = 1; i < 9; ++i) p = p * w + c[i];
  double y = p * x;
  for (int i = 0; i < 2; ++i) y -= (std::erf(y) - x) / (2 / std::sqrt(M_PI) * std::exp(-y * y));
  return y;
}

/// The orthonormal factor of a tall matrix a[rows][cols], with the signs that make the diagonal of
/// the other factor positive, by Householder reflections.
void orthonormalize(double* a, int64_t rows, int64_t cols) {
  std::vector<double> v(static_cast<size_t>(rows * cols), 0.0), sign(static_cast<size_t>(cols));
  const auto reflect = [&](const double* u, double* m, int64_t from_row, int64_t column) {
    double dot = 0;
    for (int64_t i = from_row; i < rows; ++i) dot += u[i] * m[i * cols + column];
    for (int64_t i = from_row; i < rows; ++i) m[i * cols + column] -= 2 * dot * u[i];
  };
  for (int64_t k = 0; k < cols; ++k) {
    double* u = &v[k * rows];
    double norm = 0;
    for (int64_t i = k; i < rows; ++i) norm += (u[i] = a[i * cols + k]) * a[i * cols + k];
    norm = std::sqrt(norm);
    const double alpha = u[k] > 0 ? -norm : norm;  // the diagonal element of R
    sign[k] = alpha < 0 ? -1 : 1;
    u[k] -= alpha;
    double length = 0;
    for (int64_t i = k; i < rows; ++i) length += u[i] * u[i];
    length = std::sqrt(length);
    for (int64_t i = k; length > 0 && i < rows; ++i) u[i] /= length;
    for (int64_t j = k; j < cols; ++j) reflect(u, a, k, j);
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) a[i * cols + j] = i == j ? sign[j] : 0;
  for (int64_t k = cols - 1; k >= 0; --k)
    for (int64_t j = 0; j < cols; ++j) reflect(&v[k * rows], a, k, j);
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

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a, double b) {
  return fill_without_grad(std::move(tensor), [&](Tensor& t) {
    const auto cdf = [](double x) { return (1 + std::erf(x / std::sqrt(2.0))) / 2; };
    const double low = cdf((a - mean) / std), high = cdf((b - mean) / std);
    t.uniform_(2 * low - 1, 2 * high - 1);
    on_host(t, [&](double* p) {
      for (int64_t i = 0; i < t.numel(); ++i)
        p[i] = std::clamp(erfinv(p[i]) * (std * std::sqrt(2.0)) + mean, a, b);
    });
  });
}

Tensor constant_(Tensor tensor, const Scalar& value) {
  return fill_without_grad(std::move(tensor), [&](Tensor& t) { t.fill_(value); });
}

Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor eye_(Tensor matrix) {
  TAEDA_CHECK_VALUE(matrix.dim() == 2, "Only tensors with 2 dimensions are supported");
  return fill_without_grad(std::move(matrix), [](Tensor& t) {
    t.zero_();
    t.diagonal().fill_(1);
  });
}

Tensor sparse_(Tensor matrix, double sparsity, double std) {
  TAEDA_CHECK_VALUE(matrix.dim() == 2, "Only tensors with 2 dimensions are supported");
  TAEDA_CHECK_VALUE(sparsity >= 0 && sparsity <= 1, "sparse_: expected a part between 0 and 1, ",
                    "but got ", sparsity);
  return fill_without_grad(std::move(matrix), [&](Tensor& t) {
    const int64_t rows = t.size(0);
    const auto count = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
    t.normal_(0, std);
    for (int64_t column = 0; column < t.size(1); ++column) {
      const Tensor order = randperm(rows, TensorOptions(kLong).device(t.device()));
      t.select(1, column).index_fill_(0, order.narrow(0, 0, count), 0);
    }
  });
}

Tensor dirac_(Tensor tensor, int64_t groups) {
  TAEDA_CHECK_VALUE(tensor.dim() >= 3 && tensor.dim() <= 5,
                    "Only tensors with 3, 4, or 5 dimensions are supported");
  TAEDA_CHECK_VALUE(groups > 0 && tensor.size(0) % groups == 0,
                    "dim 0 must be divisible by groups");
  return fill_without_grad(std::move(tensor), [groups](Tensor& t) {
    const int64_t out_per_group = t.size(0) / groups;
    t.zero_();
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t d = 0; d < std::min(out_per_group, t.size(1)); ++d) {
        Tensor kernel = t.select(0, g * out_per_group + d).select(0, d);
        while (kernel.dim() > 0) kernel = kernel.select(0, kernel.size(0) / 2);
        kernel.fill_(1);
      }
  });
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

Tensor orthogonal_(Tensor tensor, double gain) {
  TAEDA_CHECK_VALUE(tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported");
  if (tensor.numel() == 0) return tensor;
  return fill_without_grad(std::move(tensor), [gain](Tensor& t) {
    const int64_t rows = t.size(0), cols = t.numel() / rows;
    Tensor flat = make_tensor({rows, cols}, t.dtype(), t.device());
    flat.normal_(0, 1);
    const bool wide = rows < cols;
    Tensor q = (wide ? flat.t() : flat).contiguous();
    on_host(q, [&](double* p) { orthonormalize(p, std::max(rows, cols), std::min(rows, cols)); });
    t.view(t.sizes()).copy_((wide ? q.t() : q).reshape(t.sizes()));
    t.mul_(gain);
  });
}

}  // namespace taeda::inline v0_2::nn::init
