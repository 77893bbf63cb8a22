// Small types of c10 and torch: lists that may be absent, expanding arrays, ranges, layouts.
#pragma once

#include <taeda_compat/namespaces.h>

#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <vector>

namespace taeda_compat {

/// A list that may be absent; where Taeda takes a list, an absent one is empty: all dimensions.
template <class T>
class OptionalArrayRef {
 public:
  constexpr OptionalArrayRef(std::nullopt_t = std::nullopt) {}
  constexpr OptionalArrayRef(ArrayRef<T> list) : list_(list) {}
  constexpr OptionalArrayRef(const T& one) : list_(ArrayRef<T>(one)) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) : list_(ArrayRef<T>(list)) {}
  OptionalArrayRef(const std::vector<T>& list) : list_(ArrayRef<T>(list)) {}
  OptionalArrayRef(const std::optional<ArrayRef<T>>& list) : list_(list) {}

  constexpr bool has_value() const { return list_.has_value(); }
  explicit constexpr operator bool() const { return has_value(); }
  constexpr const ArrayRef<T>& value() const { return list_.value(); }
  constexpr const ArrayRef<T>& operator*() const { return *list_; }
  constexpr const ArrayRef<T>* operator->() const { return &*list_; }
  constexpr ArrayRef<T> value_or(ArrayRef<T> other) const { return list_.value_or(other); }
  constexpr operator ArrayRef<T>() const { return value_or({}); }

 private:
  std::optional<ArrayRef<T>> list_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;
/// Its name in older programs.
using IntList = IntArrayRef;
/// A tensor's `dtype()` is a ScalarType already.
constexpr ScalarType typeMetaToScalarType(ScalarType type) { return type; }
constexpr ScalarType scalarTypeToTypeMeta(ScalarType type) { return type; }

template <size_t D, class T = int64_t>
using ExpandingArray = nn::ExpandingArray<D, T>;
template <size_t D>
using ExpandingArrayWithOptionalElem = nn::ExpandingArrayWithOptionalElem<D>;

/// The numbers of [begin, end), for a loop over them.
template <class I>
class IntegerRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    using pointer = const I*;
    using reference = I;

    explicit constexpr Iterator(I at) : at_(at) {}
    constexpr I operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr Iterator operator++(int) { return Iterator(at_++); }
    friend constexpr bool operator==(const Iterator&, const Iterator&) = default;

   private:
    I at_;
  };

  constexpr IntegerRange(I begin, I end) : begin_(begin), end_(end < begin ? begin : end) {}
  constexpr Iterator begin() const { return Iterator(begin_); }
  constexpr Iterator end() const { return Iterator(end_); }

 private:
  I begin_, end_;
};

/// 0, 1, ..., end - 1; empty for a negative end.
template <std::integral I>
constexpr IntegerRange<I> irange(I end) {
  return {I(0), end};
}
/// begin, ..., end - 1, of end's type; empty unless begin < end.
template <std::integral I, std::integral J>
constexpr IntegerRange<J> irange(I begin, J end) {
  return {static_cast<J>(begin), end};
}

}  // namespace taeda_compat
