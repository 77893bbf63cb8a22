// Address to block: an open-addressing hash table, because the allocator looks up every block it
// frees and device memory cannot hold a header.
#pragma once

#include <cstdint>
#include <vector>

#include "taeda/device/free_lists.h"

namespace taeda::inline v0_2::detail {

class AddressMap {
 public:
  void insert(Block* block) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    size_t i = home(block->address);
    while (slots_[i]) i = (i + 1) & mask();
    slots_[i] = block;
    ++count_;
  }
  Block* find(const void* address) const {
    if (slots_.empty()) return nullptr;
    for (size_t i = home(address); slots_[i]; i = (i + 1) & mask())
      if (slots_[i]->address == address) return slots_[i];
    return nullptr;
  }
  /// The block, removed; nullptr if the address is unknown.
  Block* remove(const void* address) {
    if (slots_.empty()) return nullptr;
    size_t hole = home(address);
    while (slots_[hole] && slots_[hole]->address != address) hole = (hole + 1) & mask();
    Block* found = slots_[hole];
    if (!found) return nullptr;
    // Shifts later entries back, so that no probe sequence is cut.
    for (size_t i = (hole + 1) & mask(); slots_[i]; i = (i + 1) & mask()) {
      const size_t distance = (i - home(slots_[i]->address)) & mask();
      if (distance < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = nullptr;
    --count_;
    return found;
  }
  size_t size() const { return count_; }
  template <class F>
  void for_each(F&& f) const {
    for (Block* b : slots_)
      if (b) f(b);
  }

 private:
  size_t mask() const { return slots_.size() - 1; }
  size_t home(const void* address) const {
    const uint64_t key = reinterpret_cast<uintptr_t>(address) / FreeLists::kUnit;
    return (key * 0x9e3779b97f4a7c15ull >> 32) & mask();
  }
  void grow() {
    std::vector<Block*> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    count_ = 0;
    for (Block* b : old)
      if (b) insert(b);
  }

  std::vector<Block*> slots_;
  size_t count_ = 0;
};

}  // namespace taeda::detail
