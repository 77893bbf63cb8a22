#include "taeda/sim/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include "taeda/base/error.h"
#include "taeda/sim/fault.h"

namespace taeda::sim {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kRangePerCapacity = 4;
constexpr size_t kLeastRange = size_t{64} << 20;

constexpr size_t page_round(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

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
  free_[0] = range_;
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
    const size_t offset = it->first, rest = it->second - size;
    free_.erase(it);
    if (rest > 0) free_[offset + size] = rest;
    used_ += size;
    return base_ + offset;
  }
  return nullptr;
}

void Memory::deallocate(void* p, size_t bytes) {
  const size_t size = page_round(bytes);
  char* address = static_cast<char*>(p);
  madvise(address + range_, size, MADV_DONTNEED);
  std::lock_guard lock(mutex_);
  used_ -= size;
  auto it = free_.emplace(static_cast<size_t>(address - base_), size).first;
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
  {
    std::lock_guard lock(mutex_);
    if (bytes > capacity_ - used_) return false;
    used_ += bytes;
  }
  if (mprotect(static_cast<char*>(p) + range_, bytes, PROT_READ | PROT_WRITE) == 0) return true;
  std::lock_guard lock(mutex_);
  used_ -= bytes;
  return false;
}

void Memory::unmap(void* p, size_t bytes) {
  char* alias = static_cast<char*>(p) + range_;
  madvise(alias, bytes, MADV_DONTNEED);
  mprotect(alias, bytes, PROT_NONE);
  std::lock_guard lock(mutex_);
  used_ -= bytes;
}

size_t Memory::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace taeda::sim
