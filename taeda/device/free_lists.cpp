#include "taeda/device/free_lists.h"

namespace taeda::inline v0_2::detail {

size_t FreeLists::first_from(size_t c) const {
  if (c >= kClasses) return kClasses;
  size_t word = c / 64;
  uint64_t bits = filled_[word] & (~uint64_t{0} << (c % 64));
  while (bits == 0) {
    if (++word == kWords) return kClasses;
    bits = filled_[word];
  }
  return word * 64 + static_cast<size_t>(std::countr_zero(bits));
}

Block* FreeLists::take(size_t bytes) {
  const size_t c = class_of(bytes);
  if (c >= kClasses) return nullptr;
  Block* block = head_[c];
  while (block && block->bytes < bytes) block = block->next;
  if (!block) {
    const size_t larger = first_from(c + 1);
    if (larger == kClasses) return nullptr;
    block = head_[larger];
  }
  remove(block);
  return block;
}

void FreeLists::insert(Block* block) {
  const size_t c = class_of(block->bytes);
  Block* previous = nullptr;
  Block* next = head_[c];
  while (next && next->bytes < block->bytes) previous = next, next = next->next;
  block->free = true;
  block->previous = previous;
  block->next = next;
  (previous ? previous->next : head_[c]) = block;
  if (next) next->previous = block;
  filled_[c / 64] |= uint64_t{1} << (c % 64);
}

void FreeLists::remove(Block* block) {
  const size_t c = class_of(block->bytes);
  (block->previous ? block->previous->next : head_[c]) = block->next;
  if (block->next) block->next->previous = block->previous;
  if (!head_[c]) filled_[c / 64] &= ~(uint64_t{1} << (c % 64));
  block->free = false;
  block->next = block->previous = nullptr;
}

Block* FreeLists::largest() const {
  for (size_t word = kWords; word-- > 0;) {
    if (!filled_[word]) continue;
    const size_t c = word * 64 + 63 - static_cast<size_t>(std::countl_zero(filled_[word]));
    Block* block = head_[c];
    while (block->next) block = block->next;
    return block;
  }
  return nullptr;
}

}  // namespace taeda::detail
