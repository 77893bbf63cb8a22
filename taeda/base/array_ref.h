// A non-owning view of consecutive values, constructible from braces, vectors and arrays.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <type_traits>
#include <vector>

#include "taeda/base/macros.h"

// Most lists lie inside larger objects, where AddressSanitizer alone sees nothing wrong.
#if defined(__SANITIZE_ADDRESS__)
#define TAEDA_CHECK_LIST(condition) ((condition) ? void() : __builtin_trap())
#else
#define TAEDA_CHECK_LIST(condition) void()
#endif

namespace taeda::inline v0_2 {

namespace detail {
/// Throws IndexError for an element that a list does not have.
[[noreturn]] void fail_access(const char* method, size_t index, size_t size);
}  // namespace detail

/// The argument type for lists (sizes, dims, tensors). It does not own its elements: never store
/// it.
template <class T>
class ArrayRef {
 public:
  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : ArrayRef(list.size() ? list.begin() : nullptr, list.size()) {}
  ArrayRef(const std::vector<T>& v) : data_(v.data()), size_(v.size()) {}
  /// Dimensions that are not named are none: for an operation that takes several, all of them.
  template <std::same_as<std::nullopt_t> N>
  constexpr ArrayRef(N) requires std::same_as<T, int64_t> {}
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& a) : data_(a.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&a)[N]) : data_(a), size_(N) {}

  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](size_t i) const { return TAEDA_CHECK_LIST(i < size_), data_[i]; }
  // These throw IndexError for what is not there.
  constexpr const T& at(size_t i) const { return checked("at()", i); }
  constexpr const T& front() const { return checked("front()", 0); }
  constexpr const T& back() const { return checked("back()", size_ - 1); }
  /// `n` elements from `start` on; the caller sees to it that they are there.
  ArrayRef slice(size_t start, size_t n) const { return {data_ + start, n}; }
  /// Those from `start` on.
  ArrayRef slice(size_t start) const { return slice(start, size_ - start); }
  /// `a == b`.
  bool equals(ArrayRef other) const { return *this == other; }
  std::vector<T> vec() const { return {begin(), end()}; }

  friend bool operator==(ArrayRef a, ArrayRef b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  constexpr const T& checked(const char* method, size_t i) const {
    if (i >= size_) detail::fail_access(method, i, size_);
    return data_[i];
  }
  const T* data_ = nullptr;
  size_t size_ = 0;
};

/// Sizes, strides, dimensions.
using IntArrayRef = ArrayRef<int64_t>;

/// A list of integers that may be missing, which is not the same as empty.
class OptionalIntArrayRef {
 public:
  OptionalIntArrayRef(std::nullopt_t = std::nullopt) {}
  OptionalIntArrayRef(const int64_t& one) : list_(IntArrayRef(one)) {}
  OptionalIntArrayRef(const std::initializer_list<int64_t>& list) : list_(IntArrayRef(list)) {}
  template <class L>
  requires(std::is_convertible_v<const L&, IntArrayRef> && !std::is_arithmetic_v<L>)
  OptionalIntArrayRef(const L& list) : list_(IntArrayRef(list)) {}

  bool has_value() const { return list_.has_value(); }
  IntArrayRef operator*() const { return *list_; }

 private:
  std::optional<IntArrayRef> list_;
};

/// "[2, 3]", as sizes appear in messages.
inline std::ostream& operator<<(std::ostream& out, IntArrayRef list) {
  out << '[';
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  return out << ']';
}

}  // namespace taeda::inline v0_2
