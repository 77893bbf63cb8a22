#include "taeda/cpu/scratch.h"

#include <memory>

#include "taeda/device/allocator.h"

namespace taeda::inline v0_2::cpu {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kStackBytes = size_t{512} << 10;

/// Scopes end in the opposite order to that in which they began, so a bump pointer is enough.
struct Stack {
  std::unique_ptr<char[]> memory;
  size_t used = 0;

  char* base() {
    if (!memory) memory.reset(new char[kStackBytes + kAlignment]);
    const auto address = reinterpret_cast<uintptr_t>(memory.get());
    return memory.get() + (kAlignment - address % kAlignment) % kAlignment;
  }
};

thread_local Stack stack;

}  // namespace

Scratch::Scratch(size_t bytes) {
  taken_ = (bytes + kAlignment) / kAlignment * kAlignment;
  if (taken_ <= kStackBytes - stack.used) {
    data_ = stack.base() + stack.used;
    stack.used += taken_;
  } else {
    data_ = allocator::allocate(Device(kCPU), bytes);
    taken_ = 0;
  }
}

Scratch::~Scratch() {
  if (taken_ > 0)
    stack.used -= taken_;
  else
    allocator::deallocate(Device(kCPU), data_);
}

}  // namespace taeda::cpu
