// The process that something belongs to.
#pragma once

#include <cstdint>
#include <string>

namespace taeda::inline v0_2::distributed {

/// Remembers in which process it was made. A copy of that process, which fork() makes, has neither
/// its threads nor connections of its own: what is written there arrives in the midst of what the
/// process itself says. So whatever has threads or connections asks this first. Neither making one
/// nor asking costs a system call.
class OwnProcess {
 public:
  OwnProcess();

  /// Whether the calling process is it.
  bool here() const { return copies_ == copies(); }
  /// Throws DistributedError where it is not: `what`, which the operation `op` is for, is of
  /// another process.
  void check(const char* op, const std::string& what) const {
    if (!here()) refuse(op, what);
  }

 private:
  /// How many times fork() was called on the way from the first process to the calling one.
  static uint64_t copies();
  [[noreturn]] void refuse(const char* op, const std::string& what) const;

  uint64_t copies_;
};

}  // namespace taeda::inline v0_2::distributed
