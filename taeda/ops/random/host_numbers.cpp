#include "taeda/ops/random/host_numbers.h"

#include <array>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/device/draws.h"
#include "taeda/kernels/pointwise/special.h"

namespace taeda::inline v0_2::detail {

Generator host_generator(const char* what, Device device, Generator* given) {
  if (device.is_meta()) return Generator(kCPU, 0);  // for numbers that are not kept
  check_draws();
  Generator& generator = given ? *given : default_generator(device);
  TAEDA_CHECK(generator.device().type() == device.type(), "Expected a '", device,
              "' device type for generator but found '", generator.device(), "'");
  if (device.is_cpu()) return generator;
  const PhiloxState state = generator.next_philox();
  TAEDA_CHECK(!state.base, what, ": its numbers are made on the host, which a graph cannot record");
  constexpr uint64_t kSpread =
      0x9E3779B97F4A7C15;  // so that neighbouring counters give unlike seeds
  return Generator(kCPU, ((state.key() + state.counter()) * kSpread) >> 32);
}

bool every(const Tensor& t) { return t.is_meta() || t.all().item<bool>(); }

Tensor in_double(const Tensor& t) { return t.to(kCPU).to(kDouble).contiguous(); }

namespace {

double poisson_by_rejection(double rate, const Generator& generator) {
  const double root = std::sqrt(rate), log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), inner = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = generator.uniform() - 0.5, v = generator.uniform();
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + rate + 0.43);
    if (edge >= 0.07 && v <= inner) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    const double height = std::log(v) + std::log(inverse_alpha) - std::log(a / (edge * edge) + b);
    if (height <= k * log_rate - rate - Lgamma()(k + 1)) return k;
  }
}

/// log k! less Stirling's approximation of it.
double stirling_rest(double k) {
  static constexpr std::array<double, 10> kFirst = {
      0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
      0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
      0.00925546218271273, 0.00833056343336287};
  if (k < static_cast<double>(kFirst.size())) return kFirst[static_cast<size_t>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

double binomial_by_rejection(double n, double p, const Generator& generator) {
  const double deviation = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
  const double inner = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((n + 1) * p);
  while (true) {
    const double u = generator.uniform() - 0.5, v = generator.uniform();
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + c);
    if (edge >= 0.07 && v <= inner) return k;
    if (k < 0 || k > n) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (n - m + 1))) +
                         (n + 1) * std::log((n - m + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_rest(m) +
                         stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k);
    if (std::log(v * alpha / (a / (edge * edge) + b)) <= bound) return k;
  }
}

double binomial_by_gaps(double n, double p, const Generator& generator) {
  const double log_failure = std::log1p(-p);
  double at = 0, successes = 0;
  while (true) {
    at += std::ceil(std::log(generator.uniform()) / log_failure);
    if (at > n) return successes;
    ++successes;
  }
}

}  // namespace

double poisson_number(double rate, const Generator& generator) {
  TAEDA_CHECK(rate >= 0, "invalid Poisson rate, expected rate to be non-negative, but got ", rate);
  if (rate == 0) return 0;
  if (rate >= 10) return poisson_by_rejection(rate, generator);
  const double end = std::exp(-rate);
  double product = generator.uniform(), count = 0;
  for (; product > end; product *= generator.uniform()) ++count;
  return count;
}

double binomial_number(double n, double p, const Generator& generator) {
  TAEDA_CHECK(n >= 0 && p >= 0 && p <= 1,
              "binomial expects counts of at least 0 and probabilities in ", "[0, 1], but got ", n,
              " and ", p);
  if (n == 0 || p == 0) return 0;
  if (p == 1) return n;
  if (p > 0.5) return n - binomial_number(n, 1 - p, generator);
  return n * p >= 10 ? binomial_by_rejection(n, p, generator) : binomial_by_gaps(n, p, generator);
}

}  // namespace taeda::inline v0_2::detail
