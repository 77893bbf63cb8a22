// What every store does with its keys, wherever they lie.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace taeda::inline v0_2::distributed::detail {

using Clock = std::chrono::steady_clock;

/// The time when `timeout` is over, however long it is.
Clock::time_point deadline_after(std::chrono::milliseconds timeout);

/// Keys and their values. Not synchronised: a store holds its lock.
class Values {
 public:
  const std::string* find(const std::string& key) const;
  bool has_all(const std::vector<std::string>& keys) const { return missing(keys).empty(); }
  std::vector<std::string> missing(const std::vector<std::string>& keys) const;
  size_t size() const { return values_.size(); }
  /// Of all keys and values together.
  size_t bytes() const { return bytes_; }

  void set(const std::string& key, std::string value);
  bool erase(const std::string& key);
  void clear();

  /// What add() makes of `key`. Throws DistributedError, with `store` as its subject, when the key
  /// holds no number or the sum has more than 64 bits.
  int64_t sum(const std::string& store, const std::string& key, int64_t amount) const;
  /// Whether compare_set() puts a new value in place of `expected`.
  bool matches(const std::string& key, std::string_view expected) const;
  /// What the key holds, or `otherwise`.
  std::string value_or(const std::string& key, std::string_view otherwise) const;

 private:
  std::unordered_map<std::string, std::string> values_;
  size_t bytes_ = 0;
};

/// Throws the error of a wait that ended without `missing`.
[[noreturn]] void throw_wait_timeout(const std::string& store, const char* operation,
                                     const std::vector<std::string>& missing,
                                     std::chrono::milliseconds timeout);

/// `keys` with commas between, at most ten of them.
std::string list_of(const std::vector<std::string>& keys);

}  // namespace taeda::distributed::detail
