#include "taeda/distributed/store/prefix_store.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

PrefixStore::PrefixStore(std::string prefix, StorePtr store)
    : prefix_(std::move(prefix)), store_(std::move(store)) {
  TAEDA_CHECK_VALUE(store_, "PrefixStore: the store for prefix '", prefix_, "' is null");
}

void PrefixStore::set(const std::string& key, std::string_view value) {
  store_->set(prefixed(key), value);
}

std::string PrefixStore::get(const std::string& key) { return store_->get(prefixed(key)); }

int64_t PrefixStore::add(const std::string& key, int64_t amount) {
  return store_->add(prefixed(key), amount);
}

std::string PrefixStore::compare_set(const std::string& key, std::string_view expected,
                                     std::string_view desired) {
  return store_->compare_set(prefixed(key), expected, desired);
}

bool PrefixStore::delete_key(const std::string& key) { return store_->delete_key(prefixed(key)); }

bool PrefixStore::check(const std::vector<std::string>& keys) {
  return store_->check(prefixed(keys));
}

void PrefixStore::wait(const std::vector<std::string>& keys,
                       std::optional<std::chrono::milliseconds> timeout) {
  store_->wait(prefixed(keys), timeout);
}

int64_t PrefixStore::num_keys() { return store_->num_keys(); }

std::chrono::milliseconds PrefixStore::timeout() const { return store_->timeout(); }

void PrefixStore::set_timeout(std::chrono::milliseconds timeout) { store_->set_timeout(timeout); }

std::string PrefixStore::prefixed(const std::string& key) const { return prefix_ + "/" + key; }

std::vector<std::string> PrefixStore::prefixed(const std::vector<std::string>& keys) const {
  std::vector<std::string> out;
  out.reserve(keys.size());
  for (const std::string& key : keys) out.push_back(prefixed(key));
  return out;
}

}  // namespace taeda::distributed
