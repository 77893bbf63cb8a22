// The tests, or one rank of a test (tests/distributed/process.h).

#include <gtest/gtest.h>

#include "tests/distributed/process.h"

int main(int argc, char** argv) {
  if (const auto status = taeda::run_role()) return *status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
