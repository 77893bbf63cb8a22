// Pinned host memory: blocks of a power of two bytes, kept when freed. A block is handed out again
// only when the asynchronous copies that used it are done.
#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/device/allocator.h"
#include "taeda/device/caching_allocator.h"
#include "taeda/device/graph.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2::allocator {

namespace {

constexpr size_t kSmallest = 512;
constexpr size_t kSizeClasses = 64;

struct User {
  int device;
  StreamId stream;
  friend bool operator==(const User&, const User&) = default;
};

struct PinnedBlock {
  char* address;
  size_t bytes;
  std::vector<User> users;
};

class PinnedAllocator {
 public:
  explicit PinnedAllocator(DeviceType type) : backend_(backend_of(type)) {}

  void* allocate(size_t bytes) {
    const size_t rounded = std::bit_ceil(std::max(bytes, kSmallest));
    std::lock_guard lock(mutex_);
    collect_finished();
    auto& free = free_[static_cast<size_t>(std::countr_zero(rounded))];
    PinnedBlock block{nullptr, rounded, {}};
    if (!free.empty()) {
      block.address = free.back();
      free.pop_back();
    } else {
      block.address = static_cast<char*>(backend_.allocate_pinned(rounded));
      TAEDA_CHECK_AS(OutOfMemoryError, block.address,
                     "out of pinned host memory: tried to allocate ",
                     detail::format_bytes(static_cast<int64_t>(rounded)));
    }
    char* address = block.address;
    live_.emplace(address, std::move(block));
    return address;
  }

  void deallocate(void* p) {
    std::lock_guard lock(mutex_);
    auto it = live_.find(static_cast<char*>(p));
    TAEDA_INTERNAL_ASSERT(it != live_.end(), "a pinned address was freed that is not in use");
    PinnedBlock block = std::move(it->second);
    live_.erase(it);
    if (block.users.empty()) {
      keep(block.address, block.bytes);
      return;
    }
    pending_.push_back({block.address, block.bytes, std::move(block.users), {}});
    try {
      record_events(pending_.back());
    } catch (const Error&) {  // of a device that has failed: the block is not used again
      pending_.pop_back();
    }
  }

  bool contains(const void* p) {
    std::lock_guard lock(mutex_);
    return find(p) != nullptr;
  }

  bool record_use(const void* p, User user) {
    std::lock_guard lock(mutex_);
    PinnedBlock* block = find(p);
    if (!block) return false;
    if (std::find(block->users.begin(), block->users.end(), user) == block->users.end())
      block->users.push_back(user);
    return true;
  }

 private:
  struct Pending {
    char* address;
    size_t bytes;
    std::vector<User> users;  ///< for whom no event was recorded yet
    std::vector<std::pair<User, EventHandle>> events;
  };

  /// During a capture an event would be part of the graph: it is recorded afterwards.
  void record_events(Pending& p) {
    if (captures_under_way() > 0) return;
    for (const User& user : p.users) {
      p.events.emplace_back(user, backend_.new_event(user.device, false));
      backend_.record_event(p.events.back().second, user.device, user.stream);
    }
    p.users.clear();
  }

  PinnedBlock* find(const void* p) {
    auto it = live_.upper_bound(static_cast<char*>(const_cast<void*>(p)));
    if (it == live_.begin()) return nullptr;
    --it;
    const bool inside = static_cast<const char*>(p) < it->first + it->second.bytes;
    return inside ? &it->second : nullptr;
  }
  void keep(char* address, size_t bytes) {
    free_[static_cast<size_t>(std::countr_zero(bytes))].push_back(address);
  }
  void collect_finished() {
    if (captures_under_way() > 0) return;
    std::vector<User> busy;  // streams that have not reached an event: nor have they later ones
    std::erase_if(pending_, [&](Pending& p) {
      record_events(p);
      std::erase_if(p.events, [&](const std::pair<User, EventHandle>& e) {
        if (std::find(busy.begin(), busy.end(), e.first) != busy.end()) return false;
        if (!backend_.event_query(e.second)) {
          busy.push_back(e.first);
          return false;
        }
        backend_.delete_event(e.second);
        return true;
      });
      if (!p.events.empty()) return false;
      keep(p.address, p.bytes);
      return true;
    });
  }

  Backend& backend_;
  std::mutex mutex_;
  std::map<char*, PinnedBlock> live_;
  std::vector<char*> free_[kSizeClasses];
  std::deque<Pending> pending_;
};

/// Never destroyed: pinned tensors may outlive static destruction.
PinnedAllocator& pinned(DeviceType type) {
  TAEDA_CHECK(type != kCPU, "pinned memory belongs to an accelerator, not to the CPU");
  static std::mutex mutex;
  static PinnedAllocator* all[kDeviceTypes] = {};
  std::lock_guard lock(mutex);
  PinnedAllocator*& one = all[static_cast<int>(type)];
  if (!one) one = new PinnedAllocator(type);
  return *one;
}

}  // namespace

void* allocate_pinned(DeviceType type, size_t bytes) { return pinned(type).allocate(bytes); }

void deallocate_pinned(DeviceType type, void* p) noexcept { pinned(type).deallocate(p); }

bool record_pinned_use(const void* p, Device device, StreamId stream) {
  return pinned(device.type()).record_use(p, {device.index(), stream});
}

bool is_pinned(DeviceType type, const void* p) { return pinned(type).contains(p); }

}  // namespace taeda::allocator
