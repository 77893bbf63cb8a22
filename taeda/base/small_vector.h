// A vector that keeps its first N elements inside itself: sizes, strides and short lists of tensors
// without the heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "taeda/base/array_ref.h"

namespace taeda::inline v0_2 {

/// Up to N elements are stored inline; the interface is std::vector's.
template <class T, size_t N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() : data_(inline_data()) {}
  explicit SmallVector(size_t n, const T& value = T()) : SmallVector() { resize(n, value); }
  SmallVector(std::initializer_list<T> list) : SmallVector(list.begin(), list.end()) {}
  SmallVector(ArrayRef<T> list) : SmallVector(list.begin(), list.end()) {}
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  SmallVector(It first, It last) : SmallVector() {
    const auto n = static_cast<size_t>(std::distance(first, last));
    reserve(n);
    std::uninitialized_copy(first, last, data_);
    size_ = static_cast<uint32_t>(n);
  }
  SmallVector(const SmallVector& o) : SmallVector(o.begin(), o.end()) {}
  SmallVector(SmallVector&& o) noexcept : SmallVector() { take(std::move(o)); }
  ~SmallVector() { release(); }
  SmallVector& operator=(const SmallVector& o) {
    if (this == &o) return *this;
    clear();
    reserve(o.size_);
    std::uninitialized_copy(o.begin(), o.end(), data_);
    size_ = o.size_;
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this == &o) return *this;
    release();
    data_ = inline_data(), capacity_ = N, size_ = 0;
    take(std::move(o));
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return TAEDA_CHECK_LIST(i < size_), data_[i]; }
  const T& operator[](size_t i) const { return TAEDA_CHECK_LIST(i < size_), data_[i]; }
  T& back() { return const_cast<T&>(ArrayRef<T>(*this).back()); }
  const T& back() const { return ArrayRef<T>(*this).back(); }
  T& front() { return const_cast<T&>(ArrayRef<T>(*this).front()); }
  const T& front() const { return ArrayRef<T>(*this).front(); }

  void push_back(T value) {
    if (size_ == capacity_) reserve(size_t{capacity_} * 2);
    std::construct_at(data_ + size_, std::move(value));
    ++size_;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    push_back(T(std::forward<Args>(args)...));
    return back();
  }
  void pop_back() { std::destroy_at(data_ + --size_); }
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }
  void resize(size_t n, const T& value = T()) {
    reserve(n);
    if (n > size_)
      std::uninitialized_fill_n(data_ + size_, n - size_, value);
    else
      std::destroy_n(data_ + n, size_ - n);
    size_ = static_cast<uint32_t>(n);
  }
  void insert(size_t position, T value) {
    push_back(std::move(value));
    std::rotate(data_ + position, data_ + size_ - 1, data_ + size_);
  }
  void erase(size_t position) {
    std::move(data_ + position + 1, data_ + size_, data_ + position);
    pop_back();
  }
  void reserve(size_t n) {
    if (n <= capacity_) return;
    if (n > std::numeric_limits<uint32_t>::max()) throw std::length_error("SmallVector::reserve");
    T* fresh = std::allocator<T>().allocate(n);
    std::uninitialized_move_n(data_, size_, fresh);
    const uint32_t size = size_;
    release();
    data_ = fresh, capacity_ = static_cast<uint32_t>(n), size_ = size;
  }

  operator ArrayRef<T>() const { return {data_, size_}; }
  std::vector<T> vec() const { return {begin(), end()}; }
  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return ArrayRef<T>(a) == ArrayRef<T>(b);
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  bool is_inline() const { return data_ == reinterpret_cast<const T*>(inline_); }
  void release() {
    std::destroy_n(data_, size_);
    if (!is_inline()) std::allocator<T>().deallocate(data_, capacity_);
    size_ = 0;
  }
  /// Moves the content out of `o`; this vector is empty and inline.
  void take(SmallVector&& o) noexcept {
    if (o.is_inline()) {
      if constexpr (std::is_trivially_copyable_v<T>)
        std::memcpy(inline_, o.inline_, sizeof inline_);  // of fixed size: no loop
      else
        std::uninitialized_move_n(o.data_, o.size_, data_);
      size_ = o.size_;
      o.clear();
    } else {
      data_ = o.data_, size_ = o.size_, capacity_ = o.capacity_;
      o.data_ = o.inline_data(), o.size_ = 0, o.capacity_ = N;
    }
  }

  T* data_;
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

/// Sizes, strides and lists of dimensions; inline up to five.
using DimVector = SmallVector<int64_t, 5>;

inline std::ostream& operator<<(std::ostream& out, const DimVector& list) {
  return out << IntArrayRef(list);
}

}  // namespace taeda::inline v0_2
