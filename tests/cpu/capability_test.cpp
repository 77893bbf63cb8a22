#include "taeda/cpu/capability.h"

#include <gtest/gtest.h>

#include <string>

#include "taeda/base/error.h"

namespace taeda::cpu {
namespace {

std::string error_of(const char* requested, Capability best) {
  try {
    choose_capability(requested, best);
  } catch (const ValueError& error) {
    return error.message();
  }
  return "no error";
}

TEST(Capability, DefaultsToTheBest) {
  EXPECT_EQ(choose_capability(nullptr, Capability::Avx512), Capability::Avx512);
  EXPECT_EQ(choose_capability("", Capability::Avx2), Capability::Avx2);
}

TEST(Capability, LowerLevelMayBeAskedFor) {
  EXPECT_EQ(choose_capability("baseline", Capability::Avx512), Capability::Baseline);
  EXPECT_EQ(choose_capability("avx2", Capability::Avx512), Capability::Avx2);
  EXPECT_EQ(choose_capability("avx512", Capability::Avx512), Capability::Avx512);
}

TEST(Capability, UnknownNameIsNamed) {
  EXPECT_EQ(error_of("sse9", Capability::Avx512),
            "TAEDA_CPU_CAPABILITY expects baseline, avx2 or avx512, got sse9");
}

TEST(Capability, LevelThatTheMachineLacksIsRefused) {
  EXPECT_EQ(
      error_of("avx512", Capability::Avx2),
      "TAEDA_CPU_CAPABILITY=avx512, but the best level of this machine and this build is avx2");
}

TEST(Capability, ChosenLevelRunsHere) { EXPECT_LE(cpu_capability(), best_capability()); }

}  // namespace
}  // namespace taeda::cpu
