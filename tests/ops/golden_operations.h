// What PyTorch gives for drawn counts, eigenvalues and bins (tests/golden/operations.py).
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/tensor.h"

namespace taeda::testing {

#include "operations_golden.inc"

/// The elements of tensors one behind the other; complex ones as their two parts.
inline std::vector<double> all_numbers(const std::vector<Tensor>& tensors) {
  std::vector<double> out;
  for (const Tensor& t : tensors) {
    const Tensor plain = t.is_complex() ? view_as_real(t.detach()) : t.detach();
    const Tensor c = plain.to(Device(kCPU), kDouble).contiguous();
    out.insert(out.end(), c.data_ptr<double>(), c.data_ptr<double>() + c.numel());
  }
  return out;
}

/// The numbers are PyTorch's, to so many parts of the largest one.
inline void expect_golden(const char* name, const std::vector<Tensor>& tensors,
                          double tolerance = 1e-6) {
  const std::vector<double>& expected = golden_operations.at(name);
  double largest = 1;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  EXPECT_THAT(all_numbers(tensors),
              ::testing::Pointwise(::testing::DoubleNear(tolerance * largest), expected))
      << name;
}

}  // namespace taeda::testing
