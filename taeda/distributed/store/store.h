// Stores: a map from keys to bytes that the processes of a job share. They meet there, exchange
// addresses and agree on numbers. PyTorch's torch.distributed.Store.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taeda::inline v0_2::distributed {

/// How long a store waits by default: 300 seconds.
inline constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::minutes(5);

/// What all stores can do. Any thread may call any function of one object at any time. A key that
/// does not come within the timeout, a peer that is gone and a call that a store refuses are a
/// DistributedError, which names operation, keys and store.
class Store {
 public:
  virtual ~Store();

  /// Gives `key` a value, in place of an old one, and wakes those who wait for it.
  virtual void set(const std::string& key, std::string_view value) = 0;
  /// The value of `key`; waits for it, and throws Error after timeout().
  virtual std::string get(const std::string& key) = 0;
  /// Adds to the number that `key` holds as decimal text, 0 where there is none; what it is then.
  virtual int64_t add(const std::string& key, int64_t amount) = 0;
  /// Sets `desired` if the key holds `expected`, or does not exist and `expected` is empty. Returns
  /// what the key holds then; `expected` when it does not exist and was not set.
  virtual std::string compare_set(const std::string& key, std::string_view expected,
                                  std::string_view desired) = 0;
  /// Removes a key and says whether there was one; its absence is no error.
  virtual bool delete_key(const std::string& key) = 0;
  /// Whether all of `keys` exist, also true for an empty list; does not wait.
  virtual bool check(const std::vector<std::string>& keys) = 0;
  /// Waits until all of `keys` exist; throws Error after `timeout`, or timeout() where none is
  /// given.
  virtual void wait(const std::vector<std::string>& keys,
                    std::optional<std::chrono::milliseconds> timeout = {}) = 0;
  /// How many keys there are. Unlike in PyTorch, what a store keeps for itself is not counted.
  virtual int64_t num_keys() = 0;

  /// How long `get` and `wait` wait for a key by default.
  virtual std::chrono::milliseconds timeout() const;
  virtual void set_timeout(std::chrono::milliseconds timeout);

 protected:
  explicit Store(std::chrono::milliseconds timeout = kDefaultTimeout);

 private:
  mutable std::mutex timeout_mutex_;
  std::chrono::milliseconds timeout_;
};

/// A store is shared by groups and threads.
using StorePtr = std::shared_ptr<Store>;

}  // namespace taeda::distributed
