#include "taeda/ops/create/tensor_literal.h"

#include <cstring>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

TensorLiteral::TensorLiteral(std::initializer_list<TensorLiteral> entries) {
  set_entries({entries.begin(), entries.end()}, get_default_dtype());
}

void TensorLiteral::set_entries(std::vector<TensorLiteral> entries, ScalarType dtype) {
  entries_ = std::move(entries);
  is_list_ = true;
  sizes_.push_back(static_cast<int64_t>(entries_.size()));
  dtype_ = entries_.empty() ? dtype : entries_[0].dtype_;
  if (entries_.empty()) return;
  const TensorLiteral& first = entries_[0];
  for (int64_t s : first.sizes_) sizes_.push_back(s);
  for (const TensorLiteral& e : entries_) {
    TAEDA_CHECK(e.sizes_ == first.sizes_, "Expected all sub-lists to have sizes: ", first.sizes_,
                " (e.g. ", first, "), but got sub-list ", e, " with sizes: ", e.sizes_);
    dtype_ = promote_types(dtype_, e.dtype_);
  }
}

namespace {

template <class T>
char* put(char* out, const Scalar& value) {
  const T v = value.to<T>();
  std::memcpy(out, &v, sizeof(T));
  return out + sizeof(T);
}

template <class From>
Scalar number_at(const void* array, int64_t i) {
  return Scalar(static_cast<const From*>(array)[i]);
}

Scalar number_at(ScalarType dtype, const void* array, int64_t i) {
  Scalar out;
  dispatch(AllTypes{}, "tensor", dtype, [&]<class T>() { out = number_at<T>(array, i); });
  return out;
}

}  // namespace

char* TensorLiteral::write(char* out, ScalarType dtype) const {
  if (array_) {
    const int64_t n = sizes_[0];
    if (dtype == array_dtype_) {
      const int64_t bytes = n * element_size(dtype);
      std::memcpy(out, array_, static_cast<size_t>(bytes));
      return out + bytes;
    }
    dispatch(AllTypes{}, "tensor", dtype, [&]<class T>() {
      for (int64_t i = 0; i < n; ++i) out = put<T>(out, number_at(array_dtype_, array_, i));
    });
    return out;
  }
  if (is_list_) {
    for (const TensorLiteral& e : entries_) out = e.write(out, dtype);
    return out;
  }
  dispatch(AllTypes{}, "tensor", dtype, [&]<class T>() { out = put<T>(out, number_); });
  return out;
}

void TensorLiteral::print(std::ostream& out) const {
  if (!is_list_) {
    out << number_;
    return;
  }
  out << '{';
  for (int64_t i = 0; i < sizes_[0]; ++i) {
    if (i) out << ", ";
    if (array_)
      out << number_at(array_dtype_, array_, i);
    else
      entries_[static_cast<size_t>(i)].print(out);
  }
  out << '}';
}

std::ostream& operator<<(std::ostream& out, const TensorLiteral& literal) {
  literal.print(out);
  return out;
}

}  // namespace taeda
