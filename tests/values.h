// The elements of a tensor.
#pragma once

#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda {

/// In row-major order, from any device; T must be the dtype.
template <class T>
std::vector<T> values(const Tensor& t) {
  const Tensor c = t.detach().cpu().contiguous();
  const T* p = c.data_ptr<T>();
  return std::vector<T>(p, p + c.numel());
}

}  // namespace taeda
