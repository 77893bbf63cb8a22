// The argument of `tensor({{1, 2}, {3, 4}})`.
#pragma once

#include <initializer_list>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A number, a list of numbers or a nested list of them. It may refer to a vector that it was made
/// from: use it as an argument only.
class TensorLiteral {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T>) TensorLiteral(T value)
      : dtype_(literal_dtype<T>()), number_(value) {}
  template <class T>
  requires(std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) TensorLiteral(T value)
      : dtype_(dtype_of<T>()), number_(value) {}
  template <class T>
  TensorLiteral(std::complex<T> value)
      : dtype_(dtype_of<complex<T>>()), number_(value) {}
  template <class T>
  TensorLiteral(complex<T> value) : TensorLiteral(std::complex<T>(value)) {}
  /// Throws Error unless all entries have the same sizes.
  TensorLiteral(std::initializer_list<TensorLiteral> entries);
  template <class T>
  TensorLiteral(ArrayRef<T> values) {
    set_array(values.data(), values.size());
  }
  template <class T>
  TensorLiteral(const std::vector<T>& values) {
    if constexpr (std::is_same_v<T, bool>)
      set_entries({values.begin(), values.end()}, kBool);
    else
      set_array(values.data(), values.size());
  }
  template <class T, size_t N>
  TensorLiteral(const std::array<T, N>& values) {
    set_array(values.data(), N);
  }

  const DimVector& sizes() const { return sizes_; }
  /// What PyTorch makes of it: int64 for int and long, the default dtype for float and double.
  ScalarType dtype() const { return dtype_; }
  /// Writes the elements, row by row, as `dtype` into `out` and returns the end.
  char* write(char* out, ScalarType dtype) const;
  /// "{1, 2}".
  void print(std::ostream& out) const;

 private:
  template <class T>
  static ScalarType literal_dtype() {
    if constexpr (std::is_floating_point_v<T>)
      return get_default_dtype();
    else if constexpr (std::is_same_v<T, bool>)
      return kBool;
    else if constexpr (std::is_integral_v<T>)
      return sizeof(T) == 1 ? dtype_of<T>() : kLong;
    else
      return dtype_of<T>();
  }
  template <class T>
  void set_array(const T* data, size_t n) {
    if constexpr (dtype_of<T>() == ScalarType::Undefined || std::is_same_v<T, TensorLiteral>) {
      set_entries({data, data + n}, literal_dtype<T>());
    } else {
      sizes_.push_back(static_cast<int64_t>(n));
      dtype_ = literal_dtype<T>();
      array_ = data;
      array_dtype_ = dtype_of<T>();
      is_list_ = true;
    }
  }
  void set_entries(std::vector<TensorLiteral> entries, ScalarType dtype);

  DimVector sizes_;
  ScalarType dtype_ = ScalarType::Undefined;
  ScalarType array_dtype_ = ScalarType::Undefined;
  bool is_list_ = false;
  Scalar number_;
  const void* array_ = nullptr;
  std::vector<TensorLiteral> entries_;
};

std::ostream& operator<<(std::ostream& out, const TensorLiteral& literal);

}  // namespace taeda
