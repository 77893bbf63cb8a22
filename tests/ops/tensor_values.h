// Reading tensors in tests, and comparing them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "taeda/tensor/tensor.h"
#include "tests/values.h"

namespace taeda::testing {

using taeda::values;

inline std::vector<float> floats(const Tensor& t) { return values<float>(t); }
inline std::vector<int64_t> longs(const Tensor& t) { return values<int64_t>(t); }
/// The elements of a bool tensor as 0 and 1.
inline std::vector<int> bools(const Tensor& t) {
  const std::vector<uint8_t> v = values<uint8_t>(t.view(kByte));
  return {v.begin(), v.end()};
}
inline std::vector<int64_t> shape(const Tensor& t) { return t.sizes().vec(); }

inline void expect_same(const Tensor& got, const Tensor& want, double tolerance = 0) {
  ASSERT_EQ(got.sizes(), want.sizes());
  const Tensor g = got.to(kDouble).contiguous(), w = want.to(kDouble).contiguous();
  for (int64_t i = 0; i < g.numel(); ++i) {
    const double a = g.data_ptr<double>()[i], b = w.data_ptr<double>()[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    ASSERT_NEAR(a, b, tolerance) << "element " << i;
  }
}

}  // namespace taeda::testing
