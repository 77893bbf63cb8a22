#include "taeda/cpu/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <utility>

namespace taeda::inline v0_2::cpu {

namespace {

/// Above this length, lines side by side leave the cache.
constexpr int64_t kMaxLanesLength = 4096;
/// From this length on, a few lines are transformed one by one.
constexpr int64_t kMinLineLength = 256;
constexpr size_t kKeptPlans = 64;

/// exp(-2 pi i m / n), 0 <= m < n. The angle is brought into the first octant in integers, so that
/// the result is as exact as sin and cos are.
complex<double> unit_root(int64_t m, int64_t n) {
  int64_t eighths = 8 * m;
  const bool lower = eighths > 4 * n;
  if (lower) eighths = 8 * n - eighths;
  const bool left = eighths > 2 * n;
  if (left) eighths = 4 * n - eighths;
  const bool steep = eighths > n;
  if (steep) eighths = 2 * n - eighths;
  const double angle =
      std::numbers::pi / 4 * (static_cast<double>(eighths) / static_cast<double>(n));
  double c = std::cos(angle), s = std::sin(angle);
  if (steep) std::swap(c, s);
  return {left ? -c : c, lower ? s : -s};
}

/// Radices in the order of the passes; empty if a prime factor is too large.
std::vector<int64_t> radices_of(int64_t n) {
  std::vector<int64_t> out;
  const auto divide = [&](int64_t r) {
    for (; n % r == 0; n /= r) out.push_back(r);
  };
  divide(4);
  for (int64_t r = 2; r <= kFftMaxRadix; r += r == 2 ? 1 : 2) divide(r);
  if (n > 1) out.clear();
  return out;
}

bool has_passes(int64_t n) { return n == 1 || !radices_of(n).empty(); }

/// The shortest length without prime factors above 5 that holds Bluestein's convolution.
int64_t convolution_length(int64_t n) {
  const int64_t needed = 2 * n - 1;
  int64_t best = 1;
  while (best < needed) best *= 2;
  for (int64_t fives = 1; fives < best; fives *= 5)
    for (int64_t threes = fives; threes < best; threes *= 3) {
      int64_t length = threes;
      while (length < needed) length *= 2;
      best = std::min(best, length);
    }
  return best;
}

/// The largest divisor that is at most the square root.
int64_t balanced_divisor(int64_t n) {
  for (auto d = static_cast<int64_t>(std::sqrt(static_cast<double>(n))); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

/// Whether a line may be cut into rows and columns that fill vectors.
bool can_cut(int64_t n) { return balanced_divisor(n) >= 8; }

template <class T>
void add_passes(FftPlan<T>& plan) {
  int64_t done = 1;
  const auto add = [&](int64_t m, int64_t n) { plan.table.push_back(complex<T>(unit_root(m, n))); };
  for (const int64_t radix : radices_of(plan.n)) {
    typename FftPlan<T>::Pass pass{radix, done, plan.n / (radix * done), plan.table.size(), 0};
    for (int64_t j = 0; j < done; ++j)
      for (int64_t q = 1; q < radix; ++q) add(q * j, radix * done);
    pass.roots = plan.table.size();
    if (radix > 5)
      for (int64_t m = 0; m < radix; ++m) add(m, radix);
    plan.passes.push_back(pass);
    done *= radix;
  }
}

template <class T>
void add_convolution(FftPlan<T>& plan, FftUse use, FftLine<T> line) {
  const int64_t n = plan.n, length = convolution_length(n);
  plan.convolution = fft_plan<T>(length, can_cut(length) ? use : FftUse::Lanes, line);
  plan.chirp.resize(static_cast<size_t>(n));
  plan.kernel.assign(static_cast<size_t>(length), complex<T>(0));
  int64_t square = 0;  // k^2 modulo 2 n
  for (int64_t k = 0; k < n; ++k) {
    const complex<double> root = unit_root(square, 2 * n);
    plan.chirp[static_cast<size_t>(k)] = complex<T>(root);
    const complex<double> inverse{root.re / static_cast<double>(length),
                                  -root.im / static_cast<double>(length)};
    plan.kernel[static_cast<size_t>(k)] = complex<T>(inverse);
    if (k > 0) plan.kernel[static_cast<size_t>(length - k)] = complex<T>(inverse);
    square = (square + 2 * k + 1) % (2 * n);
  }
  line(*plan.convolution, plan.kernel.data());
}

template <class T>
void add_cut(FftPlan<T>& plan, FftLine<T> line) {
  const int64_t divisor = balanced_divisor(plan.n);
  plan.columns = fft_plan<T>(divisor, FftUse::Lanes, line);
  plan.rows = fft_plan<T>(plan.n / divisor, FftUse::Lanes, line);
  while ((int64_t{1} << (2 * plan.shift)) < plan.n) ++plan.shift;
  const int64_t step = int64_t{1} << plan.shift;
  for (int64_t m = 0; m < plan.n; m += step) plan.coarse.push_back(unit_root(m, plan.n));
  for (int64_t m = 0; m < std::min(step, plan.n); ++m) plan.fine.push_back(unit_root(m, plan.n));
}

template <class T>
FftPlan<T> make_plan(int64_t n, FftUse use, FftLine<T> line) {
  FftPlan<T> plan;
  plan.n = n;
  if (!has_passes(n))
    add_convolution(plan, use, line);
  else if (use == FftUse::Line)
    add_cut(plan, line);
  else
    add_passes(plan);
  return plan;
}

/// What was made last, by key; the entry that was not asked for the longest time makes room.
template <class Key, class Value>
class Kept {
 public:
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, Make&& make) {
    if (auto found = find(key)) return found;
    auto made = std::make_shared<const Value>(make());  // may ask for others meanwhile
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kKeptPlans) entries_.pop_back();
    entries_.insert(entries_.begin(), {key, made});
    return made;
  }

 private:
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const auto& entry) { return entry.first == key; });
    if (at == entries_.end()) return nullptr;
    std::rotate(entries_.begin(), at, at + 1);
    return entries_.front().second;
  }

  std::mutex mutex_;
  std::vector<std::pair<Key, std::shared_ptr<const Value>>> entries_;
};

}  // namespace

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n, FftUse use, FftLine<T> line) {
  static Kept<std::pair<int64_t, FftUse>, FftPlan<T>> kept;
  return kept.get({n, use}, [&] { return make_plan<T>(n, use, line); });
}

template <class T>
std::shared_ptr<const std::vector<complex<T>>> fft_real_roots(int64_t n) {
  static Kept<int64_t, std::vector<complex<T>>> kept;
  return kept.get(n, [&] {
    std::vector<complex<T>> roots;
    for (int64_t k = 0; k <= n / 4; ++k) roots.push_back(complex<T>(unit_root(k, n)));
    return roots;
  });
}

FftUse fft_use(int64_t n, int64_t lines, int64_t lanes) {
  const int64_t length = has_passes(n) ? n : convolution_length(n);
  if (!can_cut(length)) return FftUse::Lanes;
  if (length > kMaxLanesLength) return FftUse::Line;
  return 2 * lines < lanes && length >= kMinLineLength ? FftUse::Line : FftUse::Lanes;
}

template std::shared_ptr<const FftPlan<float>> fft_plan(int64_t, FftUse, FftLine<float>);
template std::shared_ptr<const FftPlan<double>> fft_plan(int64_t, FftUse, FftLine<double>);
template std::shared_ptr<const std::vector<complex<float>>> fft_real_roots(int64_t);
template std::shared_ptr<const std::vector<complex<double>>> fft_real_roots(int64_t);

}  // namespace taeda::cpu
