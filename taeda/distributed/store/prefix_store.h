// A part of another store's keys.
#pragma once

#include "taeda/distributed/store/store.h"

namespace taeda::inline v0_2::distributed {

/// Puts "<prefix>/" before every key and hands it to `store`, so that several users of one store do
/// not meet. The timeout is that of `store`, and num_keys() counts all of its keys, as in PyTorch.
/// Errors are those of `store`, and name the whole key.
class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, StorePtr store);

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

  std::chrono::milliseconds timeout() const override;
  void set_timeout(std::chrono::milliseconds timeout) override;

  const std::string& prefix() const { return prefix_; }
  const StorePtr& underlying_store() const { return store_; }

 private:
  std::string prefixed(const std::string& key) const;
  std::vector<std::string> prefixed(const std::vector<std::string>& keys) const;

  std::string prefix_;
  StorePtr store_;
};

}  // namespace taeda::distributed
