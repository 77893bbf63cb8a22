#include "taeda/distributed/store/hash_store.h"

namespace taeda::inline v0_2::distributed {

HashStore::HashStore(std::chrono::milliseconds timeout) : Store(timeout) {}

void HashStore::set(const std::string& key, std::string_view value) {
  std::lock_guard lock(mutex_);
  values_.set(key, std::string(value));
  changed_.notify_all();
}

std::string HashStore::get(const std::string& key) {
  std::unique_lock lock(mutex_);
  wait_for(lock, "get", {key}, timeout());
  return *values_.find(key);
}

int64_t HashStore::add(const std::string& key, int64_t amount) {
  std::lock_guard lock(mutex_);
  const int64_t sum = values_.sum("HashStore", key, amount);
  values_.set(key, std::to_string(sum));
  changed_.notify_all();
  return sum;
}

std::string HashStore::compare_set(const std::string& key, std::string_view expected,
                                   std::string_view desired) {
  std::lock_guard lock(mutex_);
  if (!values_.matches(key, expected)) return values_.value_or(key, expected);
  values_.set(key, std::string(desired));
  changed_.notify_all();
  return std::string(desired);
}

bool HashStore::delete_key(const std::string& key) {
  std::lock_guard lock(mutex_);
  return values_.erase(key);
}

bool HashStore::check(const std::vector<std::string>& keys) {
  std::lock_guard lock(mutex_);
  return values_.has_all(keys);
}

void HashStore::wait(const std::vector<std::string>& keys,
                     std::optional<std::chrono::milliseconds> timeout) {
  std::unique_lock lock(mutex_);
  wait_for(lock, "wait", keys, timeout ? *timeout : this->timeout());
}

int64_t HashStore::num_keys() {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(values_.size());
}

void HashStore::wait_for(std::unique_lock<std::mutex>& lock, const char* operation,
                         const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  if (!changed_.wait_until(lock, detail::deadline_after(timeout),
                           [&] { return values_.has_all(keys); }))
    detail::throw_wait_timeout("HashStore", operation, values_.missing(keys), timeout);
}

}  // namespace taeda::distributed
