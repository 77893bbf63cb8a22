#include "taeda/distributed/group/own_keys.h"

#include <utility>

namespace taeda::inline v0_2::distributed {

void OwnKeys::note(const std::string& key) {
  std::lock_guard lock(mutex_);
  made_.insert(key);
}

void OwnKeys::clear(const std::set<std::string>& kept) {
  std::set<std::string> made;
  {
    std::lock_guard lock(mutex_);
    made.swap(made_);
  }
  for (const std::string& key : made)
    if (!kept.contains(key)) store_->delete_key(key);
}

void OwnKeys::set(const std::string& key, std::string_view value) {
  note(key);
  store_->set(key, value);
}

int64_t OwnKeys::add(const std::string& key, int64_t amount) {
  note(key);
  return store_->add(key, amount);
}

std::string OwnKeys::compare_set(const std::string& key, std::string_view expected,
                                 std::string_view desired) {
  note(key);
  return store_->compare_set(key, expected, desired);
}

bool OwnKeys::delete_key(const std::string& key) {
  {
    std::lock_guard lock(mutex_);
    made_.erase(key);
  }
  return store_->delete_key(key);
}

}  // namespace taeda::inline v0_2::distributed
