// What the tables of wrong calls of operations call them with.
#pragma once

#include <utility>
#include <vector>

#include "taeda/nn/functional/upsampling.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/sparse/sparse.h"
#include "tests/wrong_calls.h"

namespace taeda::wrong {

namespace F = nn::functional;

inline Tensor numbers() { return arange(4.0f); }
inline Tensor longs(std::vector<int64_t> values) { return tensor(values, kLong); }
inline Tensor sparse_vector() {
  return sparse_coo_tensor(longs({0, 1}).view({1, 2}), ones({2}), {4});
}
inline Tensor sparse_matrix() {
  return sparse_coo_tensor(longs({0, 1, 1, 0}).view({2, 2}), ones({2}), {4, 4});
}
inline Tensor square() { return rand({4, 4}); }
inline Tensor image() { return rand({1, 2, 6, 6}); }
inline Tensor kernel() { return rand({3, 2, 3, 3}); }
inline Tensor transposed_kernel() { return rand({2, 3, 3, 3}); }
inline F::InterpolateFuncOptions to_size(std::vector<int64_t> size) {
  return {.size = std::move(size)};
}
inline F::InterpolateFuncOptions by_factor(double factor) {
  return {.scale_factor = std::vector<double>{factor, 1}};
}

}  // namespace taeda::wrong
