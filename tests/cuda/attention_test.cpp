// Attention of 32-bit floats, which tensor cores multiply in parts: sizes that end within tiles,
// rows that are not aligned, and no less accuracy than floats have.
#include "taeda/ops/nn/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "taeda/device/cuda.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"

namespace taeda {
namespace {

struct Sizes {
  int64_t heads, groups, queries, keys, width, value_width;
};

class CudaAttention : public ::testing::Test {
 protected:
  using Tensors = std::vector<Tensor>;

  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::unavailable_reason();
    manual_seed(5);
  }
  /// Result and gradients for the sum of result * weights.
  static Tensors attend(const Tensors& in, const Tensor& weights, const Tensor& mask, bool causal,
                        double dropout) {
    Tensors leaves;
    for (const Tensor& t : in) leaves.push_back(t.detach().set_requires_grad(true));
    manual_seed(4);
    const Tensor y = scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], mask, dropout,
                                                  causal, {}, true);
    y.backward(weights);
    return {y.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
  }
  /// Rows of `heads` heads that begin at every multiple of `shift` behind an aligned address.
  static Tensor rows(int64_t heads, int64_t n, int64_t width, int64_t shift) {
    return randn({1, n, heads, width + shift}).narrow(3, shift, width).transpose(1, 2);
  }
  static Tensors as(const Tensors& in, const TensorOptions& options) {
    Tensors out;
    for (const Tensor& t : in) out.push_back(t.to(options));
    return out;
  }
  /// Largest difference from the same in double, as a part of the largest value.
  static double error(const Tensor& got, const Tensor& want) {
    const Tensor exact = want.to(kDouble);
    return (got.cpu().to(kDouble) - exact).abs().max().item<double>() /
           exact.abs().max().item<double>();
  }
  static void expect_float_accuracy(const Sizes& s, bool causal, int64_t shift, double sharpness,
                                    const Tensor& mask = {}, double dropout = 0) {
    const Tensors in = {rows(s.heads, s.queries, s.width, shift).mul(sharpness),
                        rows(s.groups, s.keys, s.width, shift),
                        rows(s.groups, s.keys, s.value_width, shift)};
    const Tensor weights = randn({1, s.heads, s.queries, s.value_width});
    const auto options = [](const char* device, ScalarType dtype) {
      return TensorOptions(Device(device)).dtype(dtype);
    };
    const Device device("cuda:0");
    const Tensor moved_mask = mask.defined() ? mask.to(device) : Tensor();
    const Tensors want = attend(as(in, options("cuda:0", kDouble)), weights.to(device).to(kDouble),
                                moved_mask, causal, dropout),
                  got = attend(as(in, options("cuda:0", kFloat)), weights.to(device), moved_mask,
                               causal, dropout),
                  again = attend(as(in, options("cuda:0", kFloat)), weights.to(device), moved_mask,
                                 causal, dropout);
    // Scores have errors of their size, and exponentials make them relative ones.
    const double tolerance = 3e-6 * std::max(1.0, sharpness);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_LE(error(got[i], want[i].cpu()), tolerance)
          << i << " of " << s.queries << " x " << s.keys << " x " << s.width;
      EXPECT_TRUE(got[i].equal(again[i]));
    }
  }
};

TEST_F(CudaAttention, OfFloatsHasTheAccuracyOfFloats) {
  for (const bool causal : {false, true})
    for (const double sharpness : {0.1, 4.0}) {
      expect_float_accuracy({2, 1, 70, 100, 64, 64}, causal, 0, sharpness);
      expect_float_accuracy({1, 1, 65, 31, 40, 52}, causal, 0, sharpness);
      expect_float_accuracy({1, 1, 66, 40, 128, 100}, causal, 0, sharpness);
    }
}

TEST_F(CudaAttention, OfFloatsTakesRowsThatAreNotAligned) {
  expect_float_accuracy({2, 1, 20, 40, 33, 64}, false, 1, 1);
  expect_float_accuracy({1, 1, 70, 40, 62, 64}, true, 2, 1);
  expect_float_accuracy({1, 1, 20, 40, 101, 64}, true, 0, 1);
}

TEST_F(CudaAttention, OfFloatsMasksAndDrops) {
  const Sizes sizes{2, 1, 20, 40, 64, 48};
  expect_float_accuracy(sizes, false, 0, 1, rand({1, 1, 20, 40}).lt(0.7));
  expect_float_accuracy(sizes, false, 0, 1, {}, 0.3);
  expect_float_accuracy(sizes, true, 0, 1, {}, 0.3);
}

}  // namespace
}  // namespace taeda
