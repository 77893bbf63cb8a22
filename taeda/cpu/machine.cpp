// What this processor has. Nothing but the standard library is needed here: the build asks, too
// (cmake/machine_levels.cpp).
#include "taeda/cpu/capability.h"

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
bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && has_f16c_movbe_lzcnt();
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#elif defined(__x86_64__) && defined(__GNUC__)
bool has_v3() { return __builtin_cpu_supports("x86-64-v3"); }
bool has_v4() { return __builtin_cpu_supports("x86-64-v4"); }
#endif

}  // namespace

Capability machine_capability() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (has_v4()) return Capability::Avx512;
  if (has_v3()) return Capability::Avx2;
#endif
  return Capability::Baseline;
}

}  // namespace taeda::inline v0_2::cpu
