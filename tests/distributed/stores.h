// The kinds of stores, for tests that run on each.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "taeda/distributed/store/store.h"

namespace taeda::distributed {

/// What processes of a test's job know.
inline constexpr const char* kTestSecret = "known to this job alone";

/// One store and the ways to it.
struct StoreWorld {
  virtual ~StoreWorld() = default;
  /// As another process or thread of the job would get it.
  virtual StorePtr open() = 0;
};

struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<StoreWorld>()> make;
  /// Why this build cannot make one; empty if it can.
  std::function<std::string()> missing = [] { return std::string(); };
};
inline std::ostream& operator<<(std::ostream& out, const StoreKind& kind) {
  return out << kind.name;
}

std::vector<StoreKind> store_kinds();

}  // namespace taeda::distributed
