// A group's store, which it leaves as it found it.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed {

/// Hands everything on to another store, and remembers which keys this process has made there.
class OwnKeys final : public Store {
 public:
  explicit OwnKeys(StorePtr store) : store_(std::move(store)) {}

  /// Deletes them, but for `kept`.
  void clear(const std::set<std::string>& kept);

  void set(const std::string& key, std::string_view value) override;
  std::string get(const std::string& key) override { return store_->get(key); }
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, std::string_view expected,
                          std::string_view desired) override;
  bool delete_key(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override { return store_->check(keys); }
  void wait(const std::vector<std::string>& keys,
            std::optional<std::chrono::milliseconds> timeout = {}) override {
    store_->wait(keys, timeout);
  }
  int64_t num_keys() override { return store_->num_keys(); }
  std::chrono::milliseconds timeout() const override { return store_->timeout(); }
  void set_timeout(std::chrono::milliseconds timeout) override { store_->set_timeout(timeout); }

 private:
  void note(const std::string& key);

  const StorePtr store_;
  std::mutex mutex_;
  std::set<std::string> made_;
};

}  // namespace taeda::inline v0_2::distributed
