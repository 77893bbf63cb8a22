// How much work something is, counted in steps instead of seconds, and memory of `new` that runs
// out.
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

/// While it lives, the n-th allocation of this thread by `new` - texts, containers, JSON - throws
/// std::bad_alloc, once. Nothing fails with sanitizers.
class FailingNew {
 public:
  explicit FailingNew(int64_t n);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
};

}  // namespace taeda
