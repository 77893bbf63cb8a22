// What a test's code warns of.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "taeda/base/warning.h"

namespace taeda {

/// Keeps the warnings of its scope, as "UserWarning: text".
class KeptWarnings : public WarningHandler {
 public:
  KeptWarnings() : guard_(this) {}
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
  WarningHandlerGuard guard_;
};

}  // namespace taeda
