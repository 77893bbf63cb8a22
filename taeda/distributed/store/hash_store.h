// A store for the threads of one process.
#pragma once

#include <condition_variable>

#include "taeda/distributed/store/store.h"
#include "taeda/distributed/store/values.h"

namespace taeda::inline v0_2::distributed {

/// Keys and values in the memory of this process; threads share the object.
class HashStore final : public Store {
 public:
  explicit HashStore(std::chrono::milliseconds timeout = kDefaultTimeout);

  void set(const std::string& key, std::string_view value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, std::string_view expected,
                          std::string_view desired) override;
  bool delete_key(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            std::optional<std::chrono::milliseconds> timeout = {}) override;
  int64_t num_keys() override;

 private:
  void wait_for(std::unique_lock<std::mutex>& lock, const char* operation,
                const std::vector<std::string>& keys, std::chrono::milliseconds timeout);

  std::mutex mutex_;
  std::condition_variable changed_;
  detail::Values values_;
};

}  // namespace taeda::distributed
