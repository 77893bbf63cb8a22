// Matrix products against a reference in double, for every dtype, layout and path.
#include "taeda/ops/linalg/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/shape/join.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using testing::expect_same;

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
                                           Shape{150, 220, 300}, Shape{512, 512, 33}));

/// Batches of small squares, which have loops of their own, and of others, in layouts of all kinds.
TEST(Matmul, BatchesOfSmallMatrices) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const auto& [m, k, n] : {Shape{1, 1, 1}, Shape{2, 2, 2}, Shape{3, 3, 3}, Shape{4, 4, 4},
                                  Shape{2, 3, 2}, Shape{5, 5, 5}}) {
      SCOPED_TRACE(::testing::Message() << dtype << " " << m << "x" << k << "x" << n);
      const Tensor a = pattern({9, m, k}, dtype), b = pattern({9, k, n}, dtype, 1);
      const auto product = [](const Tensor& x, const Tensor& y) {
        return x.unsqueeze(-1).mul(y.unsqueeze(-3)).sum({-2});
      };
      const Tensor want = product(a, b);
      expect_same(a.bmm(b), want);
      expect_same(a.mT().contiguous().mT().bmm(b), want);
      expect_same(a.bmm(b.mT().contiguous().mT()), want);
      expect_same(stack({a, a}, 1).select(1, 1).bmm(b), want);
      expect_same(a.bmm(b.narrow(0, 3, 1).expand({9, -1, -1})), product(a, b.narrow(0, 3, 1)));
      expect_same(want.baddbmm(a, b, 2, 3), want.mul(5));
    }
}

TEST(Matmul, EmptyOperands) {
  expect_same(empty({2, 0}).mm(empty({0, 3})), zeros({2, 3}));
  expect_same(zeros({3}).addmm(empty({2, 0}), empty({0, 3})), zeros({2, 3}));
  EXPECT_EQ(empty({0, 4}).mm(empty({4, 3})).sizes(), IntArrayRef({0, 3}));
}

TEST(Matmul, DoesNotDependOnTheNumberOfThreads) {
  const int threads = get_num_threads();
  for (const Shape& s :
       {Shape{100, 100, 100}, Shape{33, 700, 900}, Shape{1, 900, 1200}, Shape{600, 70, 2100}})
    for (const ScalarType dtype : {kFloat, kDouble}) {
      const Tensor a = pattern({s.m, s.k}, dtype).mul(0.37),
                   b = pattern({s.n, s.k}, dtype, 1).mul(0.71).t();
      set_num_threads(1);
      const Tensor one = a.mm(b);
      for (const int n : {2, 3}) {
        set_num_threads(n);
        const Tensor more = a.mm(b);
        EXPECT_EQ(std::memcmp(one.data_ptr(), more.data_ptr(), static_cast<size_t>(one.nbytes())),
                  0)
            << dtype << " " << s.m << "x" << s.n << "x" << s.k << ", " << n << " threads";
      }
    }
  set_num_threads(threads);
}

TEST(Matmul, ErrorsNameWhatIsWrong) {
  const Tensor a = zeros({2, 3}), v = zeros({3});
  EXPECT_EQ(error_of([&] {
              a.mm(zeros({4, 5}));
            }),
            "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  EXPECT_EQ(error_of([&] { a.mm(v); }), "mm: mat2 must be a matrix, got 1-D tensor");
  EXPECT_EQ(error_of([&] { v.mm(a); }), "mm: self must be a matrix, got 1-D tensor");
  EXPECT_EQ(error_of([&] {
              a.mm(zeros({3, 5}, kDouble));
            }),
            "expected m1 and m2 to have the same dtype, but got: float != double");
  EXPECT_EQ(error_of([&] {
              a.to(kBool).mm(zeros({3, 2}, kBool));
            }),
            "\"addmm_impl_cpu_\" not implemented for 'Bool'");
  EXPECT_EQ(error_of([&] { a.mv(zeros({4})); }),
            "size mismatch, got input (2), mat (2x3), vec (4)");
  EXPECT_EQ(error_of([&] {
              a.mv(zeros({4, 1}));
            }),
            "vector + matrix @ vector expected, got 1, 2, 2");
  EXPECT_EQ(error_of([&] { a.mv(v.to(kDouble)); }), "expected scalar type Float but found Double");
  EXPECT_EQ(error_of([&] { a.bmm(a); }), "batch1 must be a 3D tensor");
  EXPECT_EQ(error_of([&] { zeros({2, 3, 4}).bmm(a); }), "batch2 must be a 3D tensor");
  EXPECT_EQ(
      error_of([&] {
        zeros({2, 3, 4}).bmm(zeros({2, 3, 4}));
      }),
      "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3].");
  EXPECT_EQ(error_of([&] { v.dot(zeros({4})); }),
            "inconsistent tensor size, expected tensor [3] and src [4] to have the same number of "
            "elements, but got 3 and 4 elements respectively");
  EXPECT_EQ(error_of([&] { a.dot(v); }), "1D tensors expected, but got 2D and 1D tensors");
  EXPECT_EQ(error_of([&] { v.dot(v.to(kDouble)); }),
            "dot : expected both vectors to have same dtype, but found Float and Double");
  EXPECT_EQ(error_of([&] { zeros({}).matmul(v); }),
            "both arguments to matmul need to be at least 1D, but they are 0D and 1D");
  EXPECT_EQ(
      error_of([&] {
        zeros({2, 3, 4, 5}).matmul(zeros({3, 3, 5, 4}));
      }),
      "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0");
  EXPECT_EQ(error_of([&] { a.outer(v); }), "outer: Expected 1-D argument self, but got 2-D");
  EXPECT_EQ(error_of([&] {
              linear(zeros({2, 2, 3}), zeros({5, 4}));
            }),
            "mm: mat1 and mat2 shapes cannot be multiplied (4x3 and 4x5)");
  EXPECT_THAT(
      error_of([&] {
        linear(a, zeros({5, 3}), zeros({4}));
      }),
      ::testing::HasSubstr("must match the existing size (4) at non-singleton dimension 1"));
  EXPECT_EQ(error_of([&] {
              zeros({2, 2}, kLong).addr(zeros({2}, kLong), zeros({2}, kLong), 1, 0.5);
            }),
            "For integral input tensors, argument alpha must not be a floating point number.");
  EXPECT_THAT(error_of([&] {
                zeros({5}).addmm_(a, zeros({3, 5}));
              }),
              ::testing::HasSubstr("should match"));
}

TEST(Einsum, SumsOfIntegersHave64Bits) {
  const Tensor x = full({3, 200}, 2, kByte), row = ones({3}, kByte), truth = ones({2}, kBool);
  EXPECT_TRUE(einsum("ij->i", {x}).equal(full({3}, 400, kLong)));
  EXPECT_TRUE(einsum("ij,k->k", {x, row}).equal(full({3}, 1200, kLong)));
  EXPECT_EQ(einsum("ij,i->j", {x, row}).dtype(), kByte);
  EXPECT_TRUE(einsum("i,j->ij", {truth, truth}).equal(ones({2, 2}, kBool)));
}

TEST(Einsum, ErrorsNameWhatIsWrong) {
  const Tensor a = zeros({2, 3});
  const auto error = [](const char* equation, std::vector<Tensor> operands) {
    return error_of([&] { einsum(equation, operands); });
  };
  EXPECT_EQ(error("ij,jk", {a, zeros({4, 5})}),
            "einsum(): subscript j has size 4 for operand 1 which does not broadcast with "
            "previously seen size 3");
  EXPECT_EQ(error("ij->iz", {a}),
            "einsum(): output subscript z does not appear in the equation for any input operand");
  EXPECT_EQ(error("ijk->i", {a}),
            "einsum(): the number of subscripts in the equation (3) does not match the number of "
            "dimensions (2) for operand 0 and no ellipsis was given");
  EXPECT_EQ(error("ij", {a, a}),
            "einsum(): more operands were provided than specified in the equation");
  EXPECT_EQ(error("ij,", {a}),
            "einsum(): fewer operands were provided than specified in the equation");
  EXPECT_EQ(error("i1", {a}),
            "einsum(): invalid subscript given at index 1 in the equation string, subscripts must "
            "be in [a-zA-Z]");
  EXPECT_EQ(error("ij->ii", {a}),
            "einsum(): output subscript i appears more than once in the output");
  EXPECT_EQ(error("ii", {a}),
            "einsum(): subscript i is repeated for operand 0 but the sizes don't match, 3 != 2");
  EXPECT_EQ(error("...i...", {a}),
            "einsum(): found '.' for operand 0 for which an ellipsis was already found");
  EXPECT_EQ(error("i.", {a}), "einsum(): found '.' for operand 0 that is not part of any ellipsis");
  EXPECT_EQ(error("ij", {}), "einsum(): must provide at least one operand");
  EXPECT_EQ(error_of([&] {
              tensordot(a, zeros({4, 5}), 1);
            }),
            "contracted dimensions need to match, but first has size 3 in dim -1 and second has "
            "size 4 in dim 0");
  EXPECT_EQ(error_of([&] {
              tensordot(a, a, {0}, {0, 1});
            }),
            "both dimension lists should have same length");
}

TEST(Tensordot, OneNumberIsContractedWithSeveral) {
  const Tensor few = ones({1, 2}, kInt), many = arange(6, kInt).view({3, 2});
  const Tensor want = tensor({6, 9, 6, 9}, kInt).view({2, 2});
  EXPECT_TRUE(tensordot(few, many, {0}, {0}).equal(want));
  EXPECT_TRUE(tensordot(many, few, {0}, {0}).equal(want.t()));
  const Tensor x = ones({3, 2}).requires_grad_();
  tensordot(few.to(kFloat), x, {0}, {0}).sum().backward();
  EXPECT_TRUE(x.grad().equal(full({3, 2}, 2)));
}

}  // namespace
}  // namespace taeda
