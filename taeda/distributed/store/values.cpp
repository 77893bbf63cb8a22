#include "taeda/distributed/store/values.h"

#include <algorithm>
#include <charconv>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::detail {

Clock::time_point deadline_after(std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);
  return Clock::now() + std::min(timeout, kForever);
}

const std::string* Values::find(const std::string& key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

std::vector<std::string> Values::missing(const std::vector<std::string>& keys) const {
  std::vector<std::string> out;
  for (const std::string& key : keys)
    if (!values_.contains(key)) out.push_back(key);
  return out;
}

void Values::set(const std::string& key, std::string value) {
  const auto [it, added] = values_.try_emplace(key);
  bytes_ += value.size() + (added ? key.size() : 0) - it->second.size();
  it->second = std::move(value);
}

bool Values::erase(const std::string& key) {
  const auto it = values_.find(key);
  if (it == values_.end()) return false;
  bytes_ -= it->first.size() + it->second.size();
  values_.erase(it);
  return true;
}

void Values::clear() {
  values_.clear();
  bytes_ = 0;
}

int64_t Values::sum(const std::string& store, const std::string& key, int64_t amount) const {
  const std::string* text = find(key);
  if (!text) return amount;
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  TAEDA_CHECK_AS(DistributedError, error == std::errc() && stop == end, store, ".add: key '", key,
                 "' holds '", text->substr(0, 40), "', which is no number");
  int64_t out = 0;
  TAEDA_CHECK_AS(DistributedError, !__builtin_add_overflow(value, amount, &out), store,
                 ".add: key '", key, "' holds ", value, ", adding ", amount,
                 " makes a number of more than 64 bits");
  return out;
}

bool Values::matches(const std::string& key, std::string_view expected) const {
  const std::string* value = find(key);
  return value ? *value == expected : expected.empty();
}

std::string Values::value_or(const std::string& key, std::string_view otherwise) const {
  const std::string* value = find(key);
  return value ? *value : std::string(otherwise);
}

std::string list_of(const std::vector<std::string>& keys) {
  constexpr size_t kShown = 10;
  std::string out;
  for (size_t i = 0; i < std::min(keys.size(), kShown); ++i) out += (i ? ", " : "") + keys[i];
  if (keys.size() > kShown) out += " and " + std::to_string(keys.size() - kShown) + " more";
  return out;
}

void throw_wait_timeout(const std::string& store, const char* operation,
                        const std::vector<std::string>& missing,
                        std::chrono::milliseconds timeout) {
  taeda::detail::fail<DistributedError>(
      taeda::detail::concat(store, ".", operation, ": wait timeout after ",
                            static_cast<int64_t>(timeout.count()), "ms, keys: ", list_of(missing)));
}

}  // namespace taeda::distributed::detail
