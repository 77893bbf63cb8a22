#include "taeda/cpu/capability.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::cpu {

CapabilityList built_capabilities() {
  static constexpr Capability kBuilt[] = {
#if defined(TAEDA_HAS_BASELINE)
    Capability::Baseline,
#endif
#if defined(TAEDA_HAS_AVX2)
    Capability::Avx2,
#endif
#if defined(TAEDA_HAS_AVX512)
    Capability::Avx512,
#endif
  };
  return kBuilt;
}

Capability best_capability(CapabilityList built, Capability machine) {
  const Capability* best = nullptr;
  for (const Capability& level : built)
    if (level <= machine) best = &level;
  if (!best)
    throw NotImplementedError(detail::concat(
        "Taeda's CPU kernels were built for ", name(built.front()),
        " and better, but this processor has ", name(machine),
        ": build with TAEDA_CPU_KERNELS=AUTO where the library is to run on several machines"));
  return *best;
}

Capability choose_capability(const char* requested, CapabilityList built, Capability machine) {
  const Capability best = best_capability(built, machine);
  const std::string_view text = requested ? requested : "";
  if (text.empty()) return best;
  for (const Capability level : {Capability::Baseline, Capability::Avx2, Capability::Avx512}) {
    if (text != name(level)) continue;
    TAEDA_CHECK_VALUE(level <= best, "TAEDA_CPU_CAPABILITY=", text,
                      ", but the best level of this machine and this build is ", name(best));
    TAEDA_CHECK_VALUE(
        std::find(built.begin(), built.end(), level) != built.end(), "TAEDA_CPU_CAPABILITY=", text,
        ", but this library was built without kernels of that level; its best here is ",
        name(best));
    return level;
  }
  TAEDA_CHECK_VALUE(false, "TAEDA_CPU_CAPABILITY expects baseline, avx2 or avx512, got ", text);
  return best;
}

Capability cpu_capability() {
  static const Capability chosen = choose_capability(std::getenv("TAEDA_CPU_CAPABILITY"),
                                                     built_capabilities(), machine_capability());
  return chosen;
}

}  // namespace taeda::inline v0_2::cpu
