// Host memory that a kernel uses while it runs: packed operands, partial sums, transposed tiles.
#pragma once

#include <cstddef>
#include <cstdint>

namespace taeda::inline v0_2::cpu {

/// Uninitialised memory aligned to 64 bytes for one scope. Small blocks come from a stack that each
/// thread keeps, large ones from the CPU's caching allocator.
class Scratch {
 public:
  explicit Scratch(size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  size_t taken_;  // bytes of the thread's stack; 0 for a block of the allocator
};

/// Scratch for `count` elements.
template <class T>
struct ScratchArray : Scratch {
  explicit ScratchArray(int64_t count) : Scratch(static_cast<size_t>(count) * sizeof(T)) {}
  T* get() const { return this->template as<T>(); }
};

}  // namespace taeda::cpu
