#include "taeda/cpu/capability.h"

#include <cstdlib>
#include <string_view>

#include "taeda/base/error.h"

#if defined(__x86_64__) && defined(__clang__)
#include <cpuid.h>
#endif

namespace taeda::inline v0_2::cpu {

const char* name(Capability level) {
  switch (level) {
    case Capability::Avx2: return "avx2";
    case Capability::Avx512: return "avx512";
    case Capability::Baseline: break;
  }
  return "baseline";
}

namespace {

#if defined(__x86_64__) && defined(__clang__)
// Older versions of clang know neither the levels by name nor all features that they are made of.
bool has_f16c_movbe_lzcnt() {
  constexpr unsigned kMovbe = 1u << 22, kF16c = 1u << 29, kLzcnt = 1u << 5;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kMovbe) || !(c & kF16c)) return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & kLzcnt);
}
[[maybe_unused]] bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_f16c_movbe_lzcnt();
}
[[maybe_unused]] bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#elif defined(__x86_64__) && defined(__GNUC__)
[[maybe_unused]] bool has_v3() { return __builtin_cpu_supports("x86-64-v3"); }
[[maybe_unused]] bool has_v4() { return __builtin_cpu_supports("x86-64-v4"); }
#endif

}  // namespace

Capability best_capability() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
#if defined(TAEDA_HAS_AVX512)
  if (has_v4()) return Capability::Avx512;
#endif
#if defined(TAEDA_HAS_AVX2)
  if (has_v3()) return Capability::Avx2;
#endif
#endif
  return Capability::Baseline;
}

Capability choose_capability(const char* requested, Capability best) {
  const std::string_view text = requested ? requested : "";
  if (text.empty()) return best;
  for (const Capability level : {Capability::Baseline, Capability::Avx2, Capability::Avx512}) {
    if (text != name(level)) continue;
    TAEDA_CHECK_VALUE(level <= best, "TAEDA_CPU_CAPABILITY=", text,
                      ", but the best level of this machine and this build is ", name(best));
    return level;
  }
  TAEDA_CHECK_VALUE(false, "TAEDA_CPU_CAPABILITY expects baseline, avx2 or avx512, got ", text);
  return best;
}

Capability cpu_capability() {
  static const Capability chosen =
      choose_capability(std::getenv("TAEDA_CPU_CAPABILITY"), best_capability());
  return chosen;
}

}  // namespace taeda::cpu
