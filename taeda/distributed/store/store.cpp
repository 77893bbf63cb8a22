#include "taeda/distributed/store/store.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

namespace {

std::chrono::milliseconds checked_timeout(std::chrono::milliseconds timeout) {
  TAEDA_CHECK_VALUE(timeout.count() > 0, "Store: a timeout must be positive, but got ",
                    static_cast<int64_t>(timeout.count()), "ms");
  return timeout;
}

}  // namespace

Store::Store(std::chrono::milliseconds timeout) : timeout_(checked_timeout(timeout)) {}

Store::~Store() = default;

std::chrono::milliseconds Store::timeout() const {
  std::lock_guard lock(timeout_mutex_);
  return timeout_;
}

void Store::set_timeout(std::chrono::milliseconds timeout) {
  checked_timeout(timeout);
  std::lock_guard lock(timeout_mutex_);
  timeout_ = timeout;
}

}  // namespace taeda::distributed
