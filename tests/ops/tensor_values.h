// Reading tensors and errors in tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/tensor/tensor.h"

namespace taeda::testing {

/// The elements in row-major order, from any device; T must be the dtype.
template <class T>
std::vector<T> values(const Tensor& t) {
  const Tensor c = t.detach().cpu().contiguous();
  const T* p = c.data_ptr<T>();
  return {p, p + c.numel()};
}

inline std::vector<float> floats(const Tensor& t) { return values<float>(t); }
inline std::vector<int64_t> longs(const Tensor& t) { return values<int64_t>(t); }
/// The elements of a bool tensor as 0 and 1.
inline std::vector<int> bools(const Tensor& t) {
  const std::vector<uint8_t> v = values<uint8_t>(t.view(kByte));
  return {v.begin(), v.end()};
}
inline std::vector<int64_t> shape(const Tensor& t) { return t.sizes().vec(); }

/// The message of the Error that `f` throws; "no error" if it throws none.
inline std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

}  // namespace taeda::testing
