#include "taeda/distributed/store/file_store.h"

#include <algorithm>
#include <thread>

#include "taeda/distributed/store/file_log.h"

namespace taeda::inline v0_2::distributed {

using Access = detail::FileLog::Access;

namespace {

/// A wait that only looks, with a timeout of zero, may still meet others at the file.
constexpr std::chrono::milliseconds kLockTimeout(1000);

}  // namespace

FileStore::FileStore(std::string path, int64_t world_size, std::chrono::milliseconds timeout)
    : Store(timeout),
      log_(std::make_unique<detail::FileLog>(std::move(path), world_size, timeout)) {}

FileStore::~FileStore() = default;

void FileStore::set(const std::string& key, std::string_view value) {
  Access(*log_, "set", timeout()).set(key, value);
}

std::string FileStore::get(const std::string& key) { return wait_for("get", {key}, timeout()); }

int64_t FileStore::add(const std::string& key, int64_t amount) {
  Access file(*log_, "add", timeout());
  const int64_t sum = file.values().sum(log_->name(), key, amount);
  file.set(key, std::to_string(sum));
  return sum;
}

std::string FileStore::compare_set(const std::string& key, std::string_view expected,
                                   std::string_view desired) {
  Access file(*log_, "compare_set", timeout());
  if (!file.values().matches(key, expected)) return file.values().value_or(key, expected);
  file.set(key, desired);
  return std::string(desired);
}

bool FileStore::delete_key(const std::string& key) {
  Access file(*log_, "delete_key", timeout());
  if (!file.values().find(key)) return false;
  file.erase(key);
  return true;
}

bool FileStore::check(const std::vector<std::string>& keys) {
  return Access(*log_, "check", timeout()).values().has_all(keys);
}

void FileStore::wait(const std::vector<std::string>& keys,
                     std::optional<std::chrono::milliseconds> timeout) {
  wait_for("wait", keys, timeout ? *timeout : this->timeout());
}

int64_t FileStore::num_keys() {
  return static_cast<int64_t>(Access(*log_, "num_keys", timeout()).values().size());
}

const std::string& FileStore::path() const { return log_->path(); }

/// Returns the value of the first key. A file on another machine's disk tells nobody that it
/// changed, so one has to look.
std::string FileStore::wait_for(const char* operation, const std::vector<std::string>& keys,
                                std::chrono::milliseconds timeout) {
  const detail::Clock::time_point deadline = detail::deadline_after(timeout);
  std::chrono::milliseconds pause(1);
  for (;;) {
    {
      const Access file(*log_, operation, std::max(timeout, kLockTimeout));
      const std::vector<std::string> missing = file.values().missing(keys);
      if (missing.empty()) return keys.empty() ? std::string() : *file.values().find(keys[0]);
      if (detail::Clock::now() >= deadline)
        detail::throw_wait_timeout(log_->name(), operation, missing, timeout);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(10));
  }
}

}  // namespace taeda::distributed
