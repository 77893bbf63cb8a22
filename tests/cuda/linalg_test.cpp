// cuSOLVER and cuBLAS: each way that a decomposition takes, checked by multiplying back. The op
// table compares values and gradients with the CPU's.
#include "taeda/ops/linalg/linalg.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "taeda/device/cuda.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

class CudaLinalg : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::unavailable_reason();
    try {
      linalg::det(ones({1, 1}, device)).item();
    } catch (const NotImplementedError& e) {
      GTEST_SKIP() << e.what();
    }
    manual_seed(3);
  }
  const TensorOptions device = TensorOptions().dtype(kDouble).device(Device("cuda:0"));

  Tensor matrices(IntArrayRef sizes) const { return randn(sizes, device); }
  static void expect_near(const Tensor& got, const Tensor& want) {
    ASSERT_EQ(got.sizes(), want.sizes());
    EXPECT_LT((got - want).abs().max().item<double>(), 1e-9);
  }
};

TEST_F(CudaLinalg, SystemsOfEverySize) {
  for (const DimVector& sizes : {DimVector{7, 7}, {3, 7, 7}, {2, 600, 600}, {40, 1, 1}}) {
    const Tensor a = matrices(sizes) + 3 * eye(sizes.back(), device), b = matrices(sizes);
    expect_near(a.matmul(linalg::solve(a, b)), b);
    expect_near(a.matmul(linalg::inv(a)), eye(sizes.back(), device).expand(sizes));
    const Tensor s = a.matmul(a.mT()), l = linalg::cholesky(s);
    expect_near(l.matmul(l.mT()), s);
    const auto [lu, pivots] = linalg::lu_factor(a);
    expect_near(a.mT().matmul(linalg::lu_solve(lu, pivots, b, true, true)), b);
  }
}

TEST_F(CudaLinalg, DecompositionsMultiplyBack) {
  for (const DimVector& sizes : {DimVector{9, 5}, {4, 5, 9}, {3, 6, 6}, {2, 100, 40}}) {
    const Tensor a = matrices(sizes);
    const int64_t k = std::min(a.size(-1), a.size(-2));
    for (const char* mode : {"reduced", "complete"}) {
      const auto [q, r] = linalg::qr(a, mode);
      expect_near(q.matmul(r), a);
      expect_near(q.mT().matmul(q), eye(q.size(-1), device).expand_as(q.mT().matmul(q)));
    }
    for (const bool full : {false, true}) {
      const auto [u, s, vh] = linalg::svd(a, full);
      expect_near(u.narrow(-1, 0, k).mul(s.unsqueeze(-2)).matmul(vh.narrow(-2, 0, k)), a);
    }
    const auto [p, l, u] = linalg::lu(a);
    expect_near(p.matmul(l).matmul(u), a);
    const Tensor s = a.matmul(a.mT());
    const auto [w, v] = linalg::eigh(s);
    expect_near(v.mul(w.unsqueeze(-2)).matmul(v.mT()), s);
    expect_near(linalg::eigvalsh(s), w);
  }
}

TEST_F(CudaLinalg, WithoutPivoting) {
  for (const DimVector& sizes : {DimVector{6, 6}, {3, 6, 6}, {2, 6, 4}}) {
    const Tensor a = matrices(sizes) + 9 * eye(6, sizes.back(), device);
    const auto [p, l, u] = linalg::lu(a, false);
    expect_near(l.matmul(u), a);
  }
}

TEST_F(CudaLinalg, SingularInputIsNamed) {
  EXPECT_EQ(error_of([&] {
              linalg::inv(zeros({2, 3, 3}, device));
            }),
            "linalg.inv: (Batch element 0): The diagonal element 1 is zero, the inversion could "
            "not be completed because the input matrix is singular.");
  EXPECT_THROW(linalg::cholesky(eye(3, device).neg()), LinAlgError);
}

TEST(CudaLinalgLibrary, SwitchedOffSolverIsNamed) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::unavailable_reason();
  const char* before = std::getenv("TAEDA_CUDA_SOLVER");
  const std::string kept = before ? before : "";
  setenv("TAEDA_CUDA_SOLVER", "0", 1);
  const std::string error = error_of([] { linalg::inv(eye(2, TensorOptions().device("cuda:0"))); });
  if (before)
    setenv("TAEDA_CUDA_SOLVER", kept.c_str(), 1);
  else
    unsetenv("TAEDA_CUDA_SOLVER");
  EXPECT_EQ(error, "linear algebra on CUDA needs cuSOLVER, which TAEDA_CUDA_SOLVER=0 turns off");
}

}  // namespace
}  // namespace taeda
