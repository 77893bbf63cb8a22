#include "taeda/device/generator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/device/draws.h"
#include "taeda/device/graph.h"
#include "taeda/device/host_graph.h"
#include "taeda/device/mt19937.h"
#include "taeda/device/random_fill.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2 {

using detail::Mt19937;

struct Generator::State {
  State(Device d, uint64_t s) : device(d) { reseed(s); }
  State(const State& o)
      : device(o.device),
        seed(o.seed),
        offset(o.offset),
        engine(o.engine),
        next_normal(o.next_normal) {}

  void reseed(uint64_t s) {
    seed = s;
    offset = 0;
    next_normal.reset();
    if (device.is_cpu()) engine.emplace(static_cast<uint32_t>(s));
  }
  uint32_t draw() { return (*engine)(); }
  uint64_t draw64() {
    const uint64_t high = draw();
    return high << 32 | draw();
  }
  double uniform() { return static_cast<double>(draw64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53; }
  double normal() {
    if (next_normal) {
      const double kept = *next_normal;
      next_normal.reset();
      return kept;
    }
    const double u1 = uniform(), u2 = uniform();
    const double radius = std::sqrt(-2.0 * std::log1p(-u2)), angle = 6.283185307179586 * u1;
    next_normal = radius * std::sin(angle);
    return radius * std::cos(angle);
  }

  /// While a graph is captured its numbers are not yet known.
  void check_not_capturing(const char* what) const {
    TAEDA_CHECK(!base && !(device.is_cpu() && detail::host_recording()),
                "Cannot call Generator::", what, " during CUDA graph capture.");
  }

  std::mutex mutex;
  std::mutex users;  ///< what programs lock
  const Device device;
  uint64_t seed = 0;
  uint64_t offset = 0;             ///< accelerators
  const uint64_t* base = nullptr;  ///< while a graph is captured
  uint64_t captured = 0;           ///< states given out to it
  std::optional<Mt19937> engine;   ///< the CPU
  std::optional<double> next_normal;
};

namespace {

using Lock = std::lock_guard<std::mutex>;

/// PyTorch's serialised CPU generator: the fields of an older C struct, then two newer ones.
struct CpuStateBytes {
  uint64_t seed;
  int32_t left;  ///< draws until the next refill, plus one
  int32_t seeded;
  uint64_t next;
  uint64_t words[Mt19937::kSize];
  double normal_x, normal_y, normal_rho;
  int32_t normal_is_valid;
  int32_t padding;
  float next_float_normal;
  uint8_t next_float_normal_is_valid;
  uint8_t tail[3];
};
static_assert(sizeof(CpuStateBytes) == 5056);

}  // namespace

std::mutex& Generator::mutex() const { return state_->users; }

Generator::Generator(Device device, uint64_t seed)
    : state_(std::make_shared<State>(device.is_cpu() ? Device(kCPU) : device, seed)) {}

Generator::State& Generator::cpu_state(const char* what) const {
  TAEDA_CHECK(state_->device.is_cpu(), "Generator::", what,
              " draws from the CPU's sequence, but this is a ", state_->device, " generator");
  if (detail::host_recording()) [[unlikely]]
    detail::check_not_recording(detail::concat("Generator::", what).c_str());
  return *state_;
}

Device Generator::device() const { return state_->device; }

const Generator& Generator::manual_seed(uint64_t seed) const {
  Lock lock(state_->mutex);
  state_->check_not_capturing("manual_seed");
  state_->reseed(seed);
  return *this;
}

uint64_t Generator::current_seed() const {
  Lock lock(state_->mutex);
  state_->check_not_capturing("current_seed");
  return state_->seed;
}

uint64_t Generator::seed() const {
  std::random_device entropy;
  // 53 bits, so that the seed survives a double, as PyTorch's does.
  const uint64_t seed = ((uint64_t{entropy()} << 32) | entropy()) & ((uint64_t{1} << 53) - 1);
  manual_seed(seed);
  return seed;
}

std::vector<uint8_t> Generator::get_state() const {
  Lock lock(state_->mutex);
  const State& s = *state_;
  s.check_not_capturing("get_state");
  if (!s.device.is_cpu()) {
    std::vector<uint8_t> out(2 * sizeof(uint64_t));
    std::memcpy(out.data(), &s.seed, sizeof s.seed);
    std::memcpy(out.data() + sizeof s.seed, &s.offset, sizeof s.offset);
    return out;
  }
  CpuStateBytes b{};
  b.seed = s.seed;
  b.seeded = 1;
  b.next = static_cast<uint64_t>(s.engine->position());
  b.left = s.engine->position() == Mt19937::kSize ? 1 : Mt19937::kSize + 1 - s.engine->position();
  std::copy(s.engine->words().begin(), s.engine->words().end(), b.words);
  b.normal_is_valid = s.next_normal.has_value();
  b.normal_y = s.next_normal.value_or(0);
  std::vector<uint8_t> out(sizeof b);
  std::memcpy(out.data(), &b, sizeof b);
  return out;
}

void Generator::set_state(ArrayRef<uint8_t> bytes) const {
  State& s = *state_;
  const size_t expected = s.device.is_cpu() ? sizeof(CpuStateBytes) : 2 * sizeof(uint64_t);
  TAEDA_CHECK(bytes.size() == expected, "RNG state is wrong size: expected ", expected,
              " bytes for a ", s.device, " generator, got ", bytes.size());
  Lock lock(s.mutex);
  s.check_not_capturing("set_state");
  if (!s.device.is_cpu()) {
    std::memcpy(&s.seed, bytes.data(), sizeof s.seed);
    std::memcpy(&s.offset, bytes.data() + sizeof s.seed, sizeof s.offset);
    return;
  }
  CpuStateBytes b;
  std::memcpy(&b, bytes.data(), sizeof b);
  TAEDA_CHECK(b.seeded == 1 && b.left >= 1 && b.left <= Mt19937::kSize && b.next <= Mt19937::kSize,
              "Invalid mt19937 state");
  std::array<uint32_t, Mt19937::kSize> words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>(b.words[i]);
  s.reseed(b.seed);
  s.engine->restore(words, b.left == 1 ? Mt19937::kSize : static_cast<int>(b.next));
  if (b.normal_is_valid) s.next_normal = b.normal_y;
}

Generator Generator::clone() const {
  Lock lock(state_->mutex);
  Generator out = *this;
  out.state_ = std::make_shared<State>(*state_);
  return out;
}

uint32_t Generator::random() const {
  State& s = cpu_state("random");
  Lock lock(s.mutex);
  return s.draw();
}

uint64_t Generator::random64() const {
  State& s = cpu_state("random64");
  Lock lock(s.mutex);
  return s.draw64();
}

double Generator::uniform() const {
  State& s = cpu_state("uniform");
  Lock lock(s.mutex);
  return s.uniform();
}

double Generator::normal() const {
  State& s = cpu_state("normal");
  Lock lock(s.mutex);
  return s.normal();
}

namespace {

/// Calls `f(bits, first, n)` for stretches of `n` 32-bit draws that together make `total`.
template <class F>
void each_stretch(Mt19937& engine, int64_t total, F&& f) {
  for (int64_t done = 0, k = 0; done < total; done += k) {
    const uint32_t* bits = engine.take(total - done, &k);
    f(bits, done, k);
  }
}

}  // namespace

void Generator::fill_random(uint32_t* out, int64_t n) const {
  State& s = cpu_state("fill_random");
  Lock lock(s.mutex);
  each_stretch(*s.engine, n, [&](const uint32_t* bits, int64_t first, int64_t k) {
    std::copy_n(bits, k, out + first);
  });
}

void Generator::fill_random64(uint64_t* out, int64_t n) const {
  State& s = cpu_state("fill_random64");
  Lock lock(s.mutex);
  for (int64_t i = 0; i < n; ++i) out[i] = s.draw64();
}

void Generator::fill_below(uint64_t* bits, int64_t n, double p) const {
  State& s = cpu_state("fill_below");
  Lock lock(s.mutex);
  // A whole number is below p 2^53 if and only if it is below that, rounded up.
  const auto limit = static_cast<int64_t>(std::ceil(p * 0x1p53));
  constexpr int64_t kGroup = 8 * 64;  // numbers, of two draws each
  uint32_t draws[2 * kGroup] = {};
  for (int64_t first = 0; first < n; first += kGroup) {
    const int64_t count = std::min(kGroup, n - first), words = (count + 63) / 64;
    each_stretch(*s.engine, 2 * count, [&](const uint32_t* from, int64_t at, int64_t k) {
      std::copy_n(from, k, draws + at);
    });
    uint64_t* const to = bits + first / 64;
    detail::bits_below(draws, to, words, limit);
    if (count % 64 != 0) to[words - 1] &= (uint64_t{1} << count % 64) - 1;
  }
}

namespace {

template <class T>
void uniform_numbers(Mt19937& engine, T* out, int64_t n, double from, double to) {
  if constexpr (std::is_same_v<T, double>) {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t high = engine(), bits = high << 32 | engine();
      const double u = static_cast<double>(bits & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
      out[i] = from == 0 ? u * to : std::fma(u, to - from, from);
    }
  } else if constexpr (std::is_same_v<T, float>) {
    each_stretch(engine, n, [&](const uint32_t* bits, int64_t first, int64_t k) {
      detail::bits_to_floats(bits, out + first, k, static_cast<float>(from),
                             static_cast<float>(to));
    });
  } else {
    // A float's number, rounded; what rounds to the end becomes the beginning.
    constexpr uint32_t kMask = (1u << 24) - 1;
    const auto low = static_cast<float>(from), high = static_cast<float>(to);
    const double span = high - low, start = low;
    const T end(high);
    each_stretch(engine, n, [&](const uint32_t* bits, int64_t first, int64_t k) {
      for (int64_t i = 0; i < k; ++i) {
        const T x(
            static_cast<float>(static_cast<double>(bits[i] & kMask) * 0x1p-24 * span + start));
        out[first + i] = static_cast<float>(x) < static_cast<float>(end) ? x : T(low);
      }
    });
  }
}

/// 16-bit normal numbers: those of float, rounded, in blocks of 16. What is left is drawn as the
/// last 16, anew.
template <class T>
void rounded_normals(Mt19937& engine, T* out, int64_t n, float mean, float std) {
  const auto block = [&](T* to) {
    float numbers[16];
    uniform_numbers(engine, numbers, 16, 0, 1);
    detail::box_muller_blocks(numbers, 1, mean, std);
    std::transform(numbers, numbers + 16, to, [](float v) { return T(v); });
  };
  for (int64_t i = 0; i + 16 <= n; i += 16) block(out + i);
  if (n % 16) block(out + n - 16);
}

template <class T>
T to_element(double v) {
  if constexpr (std::is_same_v<T, double>)
    return v;
  else
    return T(static_cast<float>(v));
}

}  // namespace

template <class T>
void Generator::fill_uniform(T* out, int64_t n, double from, double to) const {
  State& s = cpu_state("fill_uniform");
  Lock lock(s.mutex);
  uniform_numbers(*s.engine, out, n, from, to);
}

template <class T>
void Generator::fill_normal(T* out, int64_t n, double mean, double std) const {
  State& s = cpu_state("fill_normal");
  Lock lock(s.mutex);
  if (n < 16) {
    for (int64_t i = 0; i < n; ++i) out[i] = to_element<T>(s.normal() * std + mean);
    return;
  }
  if constexpr (sizeof(T) == 2) {
    rounded_normals(*s.engine, out, n, static_cast<float>(mean), static_cast<float>(std));
  } else {
    uniform_numbers(*s.engine, out, n, 0, 1);
    detail::box_muller_blocks(out, n / 16, static_cast<T>(mean), static_cast<T>(std));
    if (n % 16 == 0) return;
    uniform_numbers(*s.engine, out + n - 16, 16, 0, 1);
    detail::box_muller_blocks(out + n - 16, 1, static_cast<T>(mean), static_cast<T>(std));
  }
}

template <class T>
void Generator::fill_randint(T* out, int64_t n, int64_t from, uint64_t range) const {
  State& s = cpu_state("fill_randint");
  const auto number = [base = static_cast<uint64_t>(from)](uint64_t remainder) {
    const auto v = static_cast<int64_t>(remainder + base);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return T(static_cast<float>(v));
    else
      return static_cast<T>(v);
  };
  Lock lock(s.mutex);
  // From 2^28 on, the remainder of 32 bits would prefer some numbers visibly.
  if (range == 0 || range >> 28) {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t bits = s.draw64();
      out[i] = number(range == 0 ? bits : bits % range);
    }
    return;
  }
  const auto range32 = static_cast<uint32_t>(range);
  each_stretch(*s.engine, n, [&](const uint32_t* bits, int64_t first, int64_t k) {
    for (int64_t i = 0; i < k; ++i) out[first + i] = number(bits[i] % range32);
  });
}

void Generator::fill_permutation(int64_t* out, int64_t n) const {
  State& s = cpu_state("fill_permutation");
  std::iota(out, out + n, int64_t{0});
  Lock lock(s.mutex);
  for (int64_t i = 0; i < n - 1; ++i)
    std::swap(out[i], out[i + static_cast<int64_t>(s.draw() % static_cast<uint64_t>(n - i))]);
}

PhiloxState Generator::next_philox() const {
  State& s = *state_;
  TAEDA_CHECK(!s.device.is_cpu(),
              "Generator::next_philox is for accelerators, but this is a cpu generator");
  Lock lock(s.mutex);
  const bool capturing = captures_under_way() > 0 && is_current_stream_capturing(s.device);
  if (!s.base) {
    TAEDA_CHECK(!capturing, "Attempt to increase offset for a CUDA generator not in capture mode.");
    return {s.seed, s.offset++, nullptr, {}};
  }
  TAEDA_CHECK(capturing, "Offset increment outside graph capture encountered unexpectedly.");
  return {0, s.captured++, s.base, s.device};
}

void Generator::begin_capture(const uint64_t* base) const {
  Lock lock(state_->mutex);
  state_->base = base;
  state_->captured = 0;
}

uint64_t Generator::end_capture() const {
  Lock lock(state_->mutex);
  state_->base = nullptr;
  return state_->captured;
}

PhiloxState Generator::advance(uint64_t count) const {
  Lock lock(state_->mutex);
  state_->check_not_capturing("advance");
  const uint64_t first = state_->offset;
  state_->offset += count;
  return {state_->seed, first, nullptr, {}};
}

#define TAEDA_INSTANTIATE(T)                                                   \
  template void Generator::fill_uniform<T>(T*, int64_t, double, double) const; \
  template void Generator::fill_normal<T>(T*, int64_t, double, double) const;  \
  template void Generator::fill_randint<T>(T*, int64_t, int64_t, uint64_t) const;
TAEDA_INSTANTIATE(float)
TAEDA_INSTANTIATE(double)
TAEDA_INSTANTIATE(Half)
TAEDA_INSTANTIATE(BFloat16)
#undef TAEDA_INSTANTIATE
template void Generator::fill_randint<int64_t>(int64_t*, int64_t, int64_t, uint64_t) const;
template void Generator::fill_randint<int32_t>(int32_t*, int64_t, int64_t, uint64_t) const;
template void Generator::fill_randint<int16_t>(int16_t*, int64_t, int64_t, uint64_t) const;
template void Generator::fill_randint<int8_t>(int8_t*, int64_t, int64_t, uint64_t) const;
template void Generator::fill_randint<uint8_t>(uint8_t*, int64_t, int64_t, uint64_t) const;
template void Generator::fill_randint<bool>(bool*, int64_t, int64_t, uint64_t) const;

namespace {

/// Never destroyed, like the devices themselves.
struct Defaults {
  std::mutex mutex;
  uint64_t seed = kDefaultSeed;
  Generator* generator[kDeviceTypes][kMaxDeviceIndex] = {};
};

Defaults& defaults() {
  static auto* d = new Defaults;
  return *d;
}

}  // namespace

Generator& default_generator(Device device) {
  const int index = device.is_cpu()      ? 0
                    : device.has_index() ? device.index()
                                         : current_device(device.type());
  Defaults& d = defaults();
  Lock lock(d.mutex);
  Generator*& g = d.generator[static_cast<int>(device.type())][index];
  if (!g) g = new Generator(Device(device.type(), index), d.seed);
  return *g;
}

void manual_seed(uint64_t seed) {
  Defaults& d = defaults();
  Lock lock(d.mutex);
  d.seed = seed;
  for (auto& of_type : d.generator)
    for (Generator* g : of_type)
      if (g) g->manual_seed(seed);
}

namespace {
thread_local std::string refusal;
}

std::string refuse_draws(std::string why) { return std::exchange(refusal, std::move(why)); }

void check_draws() { TAEDA_CHECK(refusal.empty(), refusal); }

}  // namespace taeda::inline v0_2
