// How much work something is, counted in steps instead of seconds.
#pragma once

#include <cstdint>

namespace taeda {

/// Comparisons of texts (calls of memcmp), allocations, and blocks of 64 bytes that were allocated,
/// by this thread since the object was made. Zero with sanitizers, which have functions of their
/// own.
class CountedSteps {
 public:
  CountedSteps();
  int64_t count() const;

 private:
  int64_t before_;
};

}  // namespace taeda
