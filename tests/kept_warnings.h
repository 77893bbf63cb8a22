// What a test's code warns of.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "taeda/base/warning.h"

namespace taeda {

/// Keeps warnings, as "UserWarning: text".
class KeepingHandler : public WarningHandler {
 public:
  void process(const Warning& warning) override {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::string(warning.category()) + ": " + warning.msg());
  }
  /// Those since the last call.
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

/// Those of the thread whose scope it is in.
class KeptWarnings : public KeepingHandler {
  const WarningHandlerGuard guard_{this};
};

/// Those of all threads that have no scope of their own.
class KeptOfAllThreads : public KeepingHandler {
 public:
  KeptOfAllThreads() { Warning::set_warning_handler(this); }
  ~KeptOfAllThreads() override { Warning::set_warning_handler(nullptr); }
};

}  // namespace taeda
