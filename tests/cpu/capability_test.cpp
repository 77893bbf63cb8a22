#include "taeda/cpu/capability.h"

#include <gtest/gtest.h>

#include <string>

#include "taeda/base/error.h"

namespace taeda::cpu {
namespace {

constexpr Capability kAll[] = {Capability::Baseline, Capability::Avx2, Capability::Avx512};
constexpr Capability kAvx2Alone[] = {Capability::Avx2};

std::string error_of(const char* requested, CapabilityList built, Capability machine) {
  try {
    choose_capability(requested, built, machine);
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

TEST(Capability, DefaultsToTheBest) {
  EXPECT_EQ(choose_capability(nullptr, kAll, Capability::Avx512), Capability::Avx512);
  EXPECT_EQ(choose_capability("", kAll, Capability::Avx2), Capability::Avx2);
  EXPECT_EQ(choose_capability("", kAvx2Alone, Capability::Avx512), Capability::Avx2);
}

TEST(Capability, LowerLevelMayBeAskedFor) {
  EXPECT_EQ(choose_capability("baseline", kAll, Capability::Avx512), Capability::Baseline);
  EXPECT_EQ(choose_capability("avx2", kAll, Capability::Avx512), Capability::Avx2);
  EXPECT_EQ(choose_capability("avx512", kAll, Capability::Avx512), Capability::Avx512);
}

TEST(Capability, UnknownNameIsNamed) {
  EXPECT_EQ(error_of("sse9", kAll, Capability::Avx512),
            "TAEDA_CPU_CAPABILITY expects baseline, avx2 or avx512, got sse9");
}

TEST(Capability, LevelThatTheMachineLacksIsRefused) {
  EXPECT_EQ(
      error_of("avx512", kAll, Capability::Avx2),
      "TAEDA_CPU_CAPABILITY=avx512, but the best level of this machine and this build is avx2");
}

TEST(Capability, LevelThatTheLibraryLacksIsRefused) {
  EXPECT_EQ(error_of("baseline", kAvx2Alone, Capability::Avx512),
            "TAEDA_CPU_CAPABILITY=baseline, but this library was built without kernels of that "
            "level; its best here is avx2");
}

TEST(Capability, LibraryOfABetterMachineSaysSo) {
  EXPECT_EQ(error_of(nullptr, kAvx2Alone, Capability::Baseline),
            "Taeda's CPU kernels were built for avx2 and better, but this processor has baseline: "
            "build with TAEDA_CPU_KERNELS=AUTO where the library is to run on several machines");
}

TEST(Capability, ChosenLevelRunsHere) {
  EXPECT_LE(cpu_capability(), machine_capability());
  EXPECT_LE(cpu_capability(), best_capability(built_capabilities(), machine_capability()));
}

}  // namespace
}  // namespace taeda::cpu
