#include "taeda/cpu/capability.h"

#include <cstdlib>
#include <string_view>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::cpu {

const char* name(Capability level) {
  switch (level) {
    case Capability::Avx2: return "avx2";
    case Capability::Avx512: return "avx512";
    case Capability::Baseline: break;
  }
  return "baseline";
}

Capability best_capability() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
#if defined(TAEDA_HAS_AVX512)
  if (__builtin_cpu_supports("x86-64-v4")) return Capability::Avx512;
#endif
#if defined(TAEDA_HAS_AVX2)
  if (__builtin_cpu_supports("x86-64-v3")) return Capability::Avx2;
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
