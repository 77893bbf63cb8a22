// What this machine's CPU allows: multiply-adds a second by dtype, and bytes a second that are
// read, written and copied, from arrays that fit in a core's caches and from arrays that do not.
//
// limits [--threads N] [--seconds S]: one JSON line a limit, the best of the samples. It uses no
// library but the system's threads; device_race.py --limits measures its rows by it.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#define BENCH_X86 1
#endif

namespace {

using Clock = std::chrono::steady_clock;

/// Keeps what was computed.
template <class V>
[[gnu::always_inline]] inline void keep(V& v) {
  asm volatile("" : "+m"(v) : : "memory");
}

constexpr int64_t kRounds = 1 << 16;
constexpr int kChains = 12;  // as many as hide a multiply-add's latency on two ports

/// kRounds times kChains multiply-adds of vectors of T; returns the operations of all.
template <class T, int kBytes>
[[gnu::always_inline]] inline double multiply_add() {
  typedef T V __attribute__((vector_size(kBytes)));
  V sum[kChains] = {}, a = V{} + T(0.999999), b = V{} + T(1e-6);
  keep(a);
  keep(b);
  for (int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 12
    for (int j = 0; j < kChains; ++j) sum[j] = sum[j] * a + b;
  for (V& s : sum) keep(s);
  return 2.0 * kRounds * kChains * (kBytes / static_cast<int>(sizeof(T)));
}

/// The widest way that this machine has, for float and for double; nullptr where there is none.
using Rate = double (*)();
#if BENCH_X86
[[gnu::target("avx512f")]] double float_512() { return multiply_add<float, 64>(); }
[[gnu::target("avx512f")]] double double_512() { return multiply_add<double, 64>(); }
[[gnu::target("avx2,fma")]] double float_256() { return multiply_add<float, 32>(); }
[[gnu::target("avx2,fma")]] double double_256() { return multiply_add<double, 32>(); }
double float_128() { return multiply_add<float, 16>(); }
double double_128() { return multiply_add<double, 16>(); }
[[gnu::target("avx512f,avx512bf16")]] double bfloat16_512() {
  __m512 sum[kChains] = {};
  __m512bh a = (__m512bh)_mm512_set1_epi16(0x3f7f), b = (__m512bh)_mm512_set1_epi16(0x3580);
  keep(a);
  keep(b);
  for (int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 12
    for (int j = 0; j < kChains; ++j) sum[j] = _mm512_dpbf16_ps(sum[j], a, b);
  for (__m512& s : sum) keep(s);
  return 2.0 * kRounds * kChains * 32;
}
Rate rate_of(const char* dtype) {
  const bool is_float = !std::strcmp(dtype, "float"), is_double = !std::strcmp(dtype, "double");
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) {
    if (is_float) return float_512;
    if (is_double) return double_512;
    return __builtin_cpu_supports("avx512bf16") ? bfloat16_512 : nullptr;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return is_float ? float_256 : is_double ? double_256 : nullptr;
  return is_float ? float_128 : is_double ? double_128 : nullptr;
}
#else
double float_128() { return multiply_add<float, 16>(); }
double double_128() { return multiply_add<double, 16>(); }
Rate rate_of(const char* dtype) {
  return !std::strcmp(dtype, "float")    ? float_128
         : !std::strcmp(dtype, "double") ? double_128
                                         : nullptr;
}
#endif

enum class Traffic { Read, Write, Copy };

#if BENCH_X86
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void
read_all(const char* from, int64_t bytes) {
  typedef uint64_t V __attribute__((vector_size(64)));
  V sum[4] = {};
  for (int64_t at = 0; at + 256 <= bytes; at += 256)
    for (int j = 0; j < 4; ++j) {
      V v;
      std::memcpy(&v, from + at + 64 * j, sizeof v);
      sum[j] += v;
    }
  for (V& s : sum) keep(s);
}

/// Passes over memory; the bytes that one moves.
int64_t pass(Traffic kind, char* to, const char* from, int64_t bytes) {
  switch (kind) {
    case Traffic::Read: read_all(from, bytes); return bytes;
    case Traffic::Write: std::memset(to, 1, static_cast<size_t>(bytes)); return bytes;
    default: std::memcpy(to, from, static_cast<size_t>(bytes)); return 2 * bytes;
  }
}

class Probe {
 public:
  Probe(int threads, double seconds) : threads_(threads), seconds_(seconds) {}

  /// The best rate of `work(thread)`, which all threads do at once and which returns an amount.
  void run(const char* name, const std::function<double(int)>& work) const {
    struct Turn {
      Clock::time_point begin, end;
      double amount;
    };
    double best = 0;
    for (double spent = 0; spent < seconds_;) {
      std::vector<Turn> turns(static_cast<size_t>(threads_));
      std::barrier together(threads_);
      std::vector<std::thread> all;
      for (int t = 0; t < threads_; ++t)
        all.emplace_back([&, t] {
          Turn& turn = turns[static_cast<size_t>(t)];
          work(t);
          together.arrive_and_wait();
          turn.begin = Clock::now();  // by the threads: who waits for them may be woken too late
          turn.amount = work(t);
          turn.end = Clock::now();
        });
      for (std::thread& t : all) t.join();
      Turn whole = turns[0];
      for (const Turn& t : turns) {
        whole.begin = std::min(whole.begin, t.begin);
        whole.end = std::max(whole.end, t.end);
        if (&t != &turns[0]) whole.amount += t.amount;
      }
      const double time = std::chrono::duration<double>(whole.end - whole.begin).count();
      best = std::max(best, whole.amount / time);
      spent += 2 * time;
    }
    std::printf("{\"limit\": \"%s\", \"threads\": %d, \"per_second\": %.4g}\n", name, threads_,
                best);
    std::fflush(stdout);
  }

 private:
  int threads_;
  double seconds_;
};

void memory(const Probe& probe, int threads, const char* where, int64_t bytes) {
  std::vector<std::unique_ptr<char[]>> from, to;
  for (int t = 0; t < threads; ++t) {
    from.push_back(std::make_unique<char[]>(static_cast<size_t>(bytes)));
    to.push_back(std::make_unique<char[]>(static_cast<size_t>(bytes)));
  }
  const int64_t passes = std::max<int64_t>(1, (int64_t{1} << 28) / bytes);
  const auto run = [&](const char* what, Traffic kind) {
    const std::string name = std::string(what) + "_" + where;
    probe.run(name.c_str(), [&](int t) {
      double moved = 0;
      for (int64_t i = 0; i < passes; ++i) {
        const auto at = static_cast<size_t>(t);
        moved += static_cast<double>(pass(kind, to[at].get(), from[at].get(), bytes));
        keep(*to[at].get());
      }
      return moved;
    });
  };
  run("read", Traffic::Read);
  run("write", Traffic::Write);
  run("copy", Traffic::Copy);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 1;
  double seconds = 0.2;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--threads")) threads = std::max(1, std::atoi(argv[i + 1]));
    if (!std::strcmp(argv[i], "--seconds")) seconds = std::atof(argv[i + 1]);
  }
  const Probe probe(threads, seconds);
  for (const char* dtype : {"float", "double", "bfloat16"})
    if (const Rate rate = rate_of(dtype)) {
      const std::string name = std::string("flops_") + dtype;
      probe.run(name.c_str(), [rate](int) {
        double done = 0;
        for (int i = 0; i < 8; ++i) done += rate();
        return done;
      });
    }
  memory(probe, threads, "cache", int64_t{256} << 10);
  memory(probe, threads, "memory", int64_t{128} << 20);
}
