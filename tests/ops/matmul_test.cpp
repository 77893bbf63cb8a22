// Matrix products against a reference in double, for every dtype, layout and path.
#include "taeda/ops/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/base/parallel_for.h"
#include "taeda/ops/create.h"

namespace taeda {
namespace {

/// Small integers in a pattern without symmetry: sums are exact in every dtype.
Tensor pattern(IntArrayRef sizes, ScalarType dtype = kFloat, int seed = 0) {
  Tensor t = empty(sizes, kDouble);
  double* p = t.data_ptr<double>();
  for (int64_t i = 0; i < t.numel(); ++i)
    p[i] = static_cast<double>((i * 7 + i / 5 + seed * 3) % 5 - 2);
  return t.to(dtype);
}

/// The product by the definition.
Tensor reference(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(kDouble).contiguous(), y = b.to(kDouble).contiguous();
  const int64_t m = x.size(0), k = x.size(1), n = y.size(1);
  Tensor out = zeros({m, n}, kDouble);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += x.data_ptr<double>()[i * k + p] * y.data_ptr<double>()[p * n + j];
      out.data_ptr<double>()[i * n + j] = sum;
    }
  return out;
}

void expect_same(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.sizes(), want.sizes());
  const Tensor g = got.to(kDouble).contiguous(), w = want.to(kDouble).contiguous();
  for (int64_t i = 0; i < g.numel(); ++i)
    ASSERT_EQ(g.data_ptr<double>()[i], w.data_ptr<double>()[i]) << "element " << i;
}

/// [rows, columns] with the given pattern, stored as named.
Tensor stored(int64_t rows, int64_t columns, ScalarType dtype, int how, int seed) {
  if (how == 0) return pattern({rows, columns}, dtype, seed);
  if (how == 1) return pattern({columns, rows}, dtype, seed).t();
  return pattern({rows, 2 * columns + 1}, dtype, seed).slice(1, 0, 2 * columns, 2);
}

struct Shape {
  int64_t m, n, k;
};

class MatmulShapes : public ::testing::TestWithParam<Shape> {};

TEST_P(MatmulShapes, EveryStorageOrderAgreesWithTheDefinition) {
  const auto [m, n, k] = GetParam();
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf, kLong, kInt, kComplexFloat})
    for (int how = 0; how < 9; ++how) {
      if (m * n * k > 200000 && (dtype != kFloat && dtype != kDouble) && how > 0) continue;
      SCOPED_TRACE(::testing::Message() << dtype << " layout " << how);
      const Tensor a = stored(m, k, dtype, how % 3, 1), b = stored(k, n, dtype, how / 3, 2);
      const Tensor want = reference(a, b);
      expect_same(a.mm(b), want.to(dtype));
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatmulShapes,
                         ::testing::Values(Shape{1, 1, 1}, Shape{2, 3, 4}, Shape{8, 48, 5},
                                           Shape{1, 50, 33}, Shape{50, 1, 33}, Shape{7, 49, 17},
                                           Shape{17, 65, 300}, Shape{33, 31, 257},
                                           Shape{3, 200, 600}, Shape{100, 100, 100},
                                           Shape{150, 220, 300}));

TEST(Matmul, EmptyOperands) {
  expect_same(empty({2, 0}).mm(empty({0, 3})), zeros({2, 3}));
  expect_same(zeros({3}).addmm(empty({2, 0}), empty({0, 3})), zeros({2, 3}));
  EXPECT_EQ(empty({0, 4}).mm(empty({4, 3})).sizes(), IntArrayRef({0, 3}));
}

}  // namespace
}  // namespace taeda
