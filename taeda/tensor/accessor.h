// Elements of a tensor by C++'s brackets, x[i][j]: a host pointer with sizes and strides.
#pragma once

#include <array>
#include <limits>

#include "taeda/tensor/tensor_base.h"

namespace taeda::inline v0_2 {

template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
/// Promises that the memory is reached by this pointer alone.
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

/// A row of a tensor of N dimensions. It owns nothing and checks no index: the tensor must live as
/// long, and indices lie within `size`.
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits,
          class Index = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename Traits<T>::PtrType;
  TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  /// The element, or the row of N - 1 dimensions, at `i` of the first dimension.
  decltype(auto) operator[](Index i) const {
    if constexpr (N == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1, Traits, Index>(data_ + i * strides_[0], sizes_ + 1,
                                                     strides_ + 1);
  }
  Index size(Index dim) const { return sizes_[dim]; }
  Index stride(Index dim) const { return strides_[dim]; }
  ArrayRef<Index> sizes() const { return {sizes_, N}; }
  ArrayRef<Index> strides() const { return {strides_, N}; }
  PtrType data() const { return data_; }

 private:
  PtrType data_;
  const Index* sizes_;
  const Index* strides_;
};

/// The same with sizes and strides of its own, as kernels of accelerators take it by value.
template <class T, size_t N, template <class> class Traits, class Index>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename Traits<T>::PtrType;
  GenericPackedTensorAccessor(PtrType data, const int64_t* sizes, const int64_t* strides)
      : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<Index>(sizes[i]);
      strides_[i] = static_cast<Index>(strides[i]);
    }
  }

  decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, Traits, Index>(data_, sizes_.data(), strides_.data())[i];
  }
  Index size(Index dim) const { return sizes_[static_cast<size_t>(dim)]; }
  /// In elements, not bytes.
  Index stride(Index dim) const { return strides_[static_cast<size_t>(dim)]; }
  PtrType data() const { return data_; }

 private:
  PtrType data_;
  std::array<Index, N> sizes_, strides_;
};
/// With indices of 32 and of 64 bits.
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;

namespace detail {
/// Throws Error unless the tensor has `want` dimensions, and no more than `most` elements.
void check_accessor(const TensorBase& t, size_t want, int64_t most);
}  // namespace detail

template <class T, size_t N>
TensorAccessor<T, N, DefaultPtrTraits, int64_t> TensorBase::accessor() const& {
  static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
  detail::check_accessor(*this, N, std::numeric_limits<int64_t>::max());
  return {data_ptr<T>(), sizes().data(), strides().data()};
}
template <class T, size_t N, template <class> class Traits>
GenericPackedTensorAccessor<T, N, Traits, int32_t> TensorBase::packed_accessor32() const& {
  detail::check_accessor(*this, N, std::numeric_limits<int32_t>::max());
  return {data_ptr<T>(), sizes().data(), strides().data()};
}
template <class T, size_t N, template <class> class Traits>
GenericPackedTensorAccessor<T, N, Traits, int64_t> TensorBase::packed_accessor64() const& {
  detail::check_accessor(*this, N, std::numeric_limits<int64_t>::max());
  return {data_ptr<T>(), sizes().data(), strides().data()};
}

}  // namespace taeda::inline v0_2
