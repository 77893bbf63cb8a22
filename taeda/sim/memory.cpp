#include "taeda/sim/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "taeda/base/error.h"
#include "taeda/sim/fault.h"

namespace taeda::inline v0_2::sim {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kRangePerCapacity = 4;
constexpr size_t kLeastRange = size_t{64} << 20;

constexpr size_t page_round(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// The stretch that `p` lies in, or the end.
template <class Stretches>
auto stretch_of(Stretches& stretches, const void* p) {
  const auto* address = static_cast<const char*>(p);
  auto it = stretches.upper_bound(address);
  if (it == stretches.begin()) return stretches.end();
  --it;
  return address < it->first + it->second ? it : stretches.end();
}

}  // namespace

Memory::Memory(Device device, size_t capacity)
    : device_(device),
      capacity_(capacity),
      range_(kLeastRange + page_round(kRangePerCapacity * capacity)) {
  // Twice the range without rights and without pages: the upper half then becomes the bytes.
  void* p =
      mmap(nullptr, 2 * range_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  TAEDA_CHECK_AS(OutOfMemoryError, p != MAP_FAILED, "no address space for ", device, " with ",
                 capacity, " bytes");
  base_ = static_cast<char*>(p);
  if (mprotect(base_ + range_, range_, PROT_READ | PROT_WRITE) != 0) {
    munmap(base_, 2 * range_);
    throw OutOfMemoryError(
        detail::concat("no host memory for ", device, " with ", capacity, " bytes"));
  }
  free_[base_] = range_;
  watch_range(base_, range_, device);
}

Memory::~Memory() {
  forget_range(base_);
  munmap(base_, 2 * range_);
}

void* Memory::allocate(size_t bytes) {
  const size_t size = page_round(bytes);
  std::lock_guard lock(mutex_);
  if (size > capacity_ - used_) return nullptr;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < size) continue;
    char* address = base_ + (it->first - base_);
    blocks_[address] = bytes;  // first, because it may fail
    auto range = free_.extract(it);
    range.key() += size;
    range.mapped() -= size;
    if (range.mapped() > 0) free_.insert(std::move(range));
    used_ += size;
    return address;
  }
  return nullptr;
}

void Memory::deallocate(void* p, size_t bytes) {
  const size_t size = page_round(bytes);
  char* address = static_cast<char*>(p);
  madvise(address + range_, size, MADV_DONTNEED);
  std::lock_guard lock(mutex_);
  used_ -= size;
  auto block = blocks_.extract(address);  // its entry goes to the others: nothing can fail
  block.mapped() = size;
  auto it = free_.insert(std::move(block)).position;
  if (auto next = std::next(it); next != free_.end() && it->first + it->second == next->first) {
    it->second += next->second;
    free_.erase(next);
  }
  if (it == free_.begin()) return;
  auto before = std::prev(it);
  if (before->first + before->second != it->first) return;
  before->second += it->second;
  free_.erase(it);
}

void* Memory::reserve(size_t bytes) {
  if (bytes > range_) return nullptr;
  // The bytes must be as far off as those of `allocate`: both ends of a longer range are kept.
  void* p =
      mmap(nullptr, range_ + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  if (range_ > bytes) munmap(static_cast<char*>(p) + bytes, range_ - bytes);
  watch_range(p, bytes, device_);
  return p;
}

void Memory::unreserve(void* p, size_t bytes) {
  forget_range(p);
  munmap(p, bytes);
  munmap(static_cast<char*>(p) + range_, bytes);
}

bool Memory::map(void* p, size_t bytes) {
  auto* address = static_cast<char*>(p);
  std::lock_guard lock(mutex_);
  if (bytes > capacity_ - used_) return false;
  if (mprotect(address + range_, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  used_ += bytes;
  auto it = mapped_.emplace(address, bytes).first;
  if (auto next = std::next(it); next != mapped_.end() && next->first == address + bytes) {
    it->second += next->second;
    mapped_.erase(next);
  }
  if (it == mapped_.begin()) return true;
  auto before = std::prev(it);
  if (before->first + before->second != it->first) return true;
  before->second += it->second;
  mapped_.erase(it);
  return true;
}

void Memory::unmap(void* p, size_t bytes) {
  auto* address = static_cast<char*>(p);
  madvise(address + range_, bytes, MADV_DONTNEED);
  mprotect(address + range_, bytes, PROT_NONE);
  std::lock_guard lock(mutex_);
  used_ -= bytes;
  const auto it = stretch_of(mapped_, p);
  if (it == mapped_.end()) return;
  const char* const end = it->first + it->second;
  if (end > address + bytes) mapped_[address + bytes] = static_cast<size_t>(end - address) - bytes;
  it->second = static_cast<size_t>(address - it->first);
  if (it->second == 0) mapped_.erase(it);
}

bool Memory::is_live(const void* p, size_t bytes) const {
  std::lock_guard lock(mutex_);
  const auto& stretches = contains(p) ? blocks_ : mapped_;
  const auto it = stretch_of(stretches, p);
  return it != stretches.end() &&
         bytes <= it->second - static_cast<size_t>(static_cast<const char*>(p) - it->first);
}

size_t Memory::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace taeda::sim
