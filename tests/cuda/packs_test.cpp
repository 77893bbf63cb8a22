// Kernels that take four neighbours together: shapes that allow it and that do not, addresses that
// are multiples of a pack and that are not. Results and gradients are compared with the CPU's.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "taeda/autograd/engine.h"
#include "taeda/device/cuda.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/join.h"

namespace taeda {
namespace {

class CudaPacks : public ::testing::Test {
 protected:
  using Function = std::function<Tensor(const Tensor&)>;

  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::unavailable_reason();
    manual_seed(3);
  }
  static void expect_close(const Tensor& got, const Tensor& want, const char* what) {
    ASSERT_EQ(got.sizes(), want.sizes()) << what;
    EXPECT_TRUE(allclose(got.detach().cpu().to(kDouble), want.detach().to(kDouble), 1e-2, 1e-4))
        << what << " of " << want.sizes();
  }
  /// Of `x` where it begins at an aligned address and, with the same bits, where it does not.
  static void expect_same(const Function& f, const Tensor& x, const char* what) {
    const Tensor host = x.detach().clone(MemoryFormat::Preserve).set_requires_grad(true);
    const Tensor moved = x.detach().to("cuda:0").set_requires_grad(true);
    const Tensor want = f(host), got = f(moved), weights = randn(want.sizes()).to(want.dtype());
    expect_close(got, want, what);
    want.backward(weights);
    got.backward(weights.to("cuda:0"));
    expect_close(moved.grad(), host.grad(), what);
    if (!x.is_contiguous()) return;
    const Tensor shifted = zeros({x.numel() + 1}, moved.options().requires_grad(false))
                               .narrow(0, 1, x.numel())
                               .view(x.sizes());
    shifted.copy_(moved.detach());
    EXPECT_TRUE(f(shifted).equal(got.detach())) << what << " of " << x.sizes();
  }
};

TEST_F(CudaPacks, Pools) {
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const int64_t channels : {3, 8})
      for (const int64_t width : {12, 17})
        for (const bool last : {false, true}) {
          Tensor x = randn({2, channels, 13, width}).to(dtype);
          if (last) x = x.contiguous(MemoryFormat::ChannelsLast);
          const auto pools = std::vector<std::pair<const char*, Function>>{
              {"max_pool2d of 3", [](const Tensor& t) { return max_pool2d(t, 3, 2, 1); }},
              {"max_pool2d of 2", [](const Tensor& t) { return max_pool2d(t, 2); }},
              {"max_pool2d of 5 that overlap",
               [](const Tensor& t) { return max_pool2d(t, 5, 1, 2); }},
              {"max_pool2d with dilation",
               [](const Tensor& t) {
                 return max_pool2d(t, {2, 3}, {2, 1}, 1, {3, 2});
               }},
              {"max_pool2d with gaps", [](const Tensor& t) { return max_pool2d(t, 2, 5); }},
              {"avg_pool2d of 3", [](const Tensor& t) { return avg_pool2d(t, 3, 2, 1); }},
              {"avg_pool2d with gaps", [](const Tensor& t) { return avg_pool2d(t, 2, 5); }},
              {"adaptive_avg_pool2d",
               [](const Tensor& t) {
                 return adaptive_avg_pool2d(t, {5, 7});
               }},
              {"adaptive_avg_pool2d that grows", [](const Tensor& t) {
                 return adaptive_avg_pool2d(t, {1, 30});
               }}};
          for (const auto& [name, pool] : pools) expect_same(pool, x, name);
        }
}

TEST_F(CudaPacks, Reductions) {
  for (const ScalarType dtype : {kFloat, kHalf, kDouble})
    for (const DimVector& sizes : {DimVector{64, 100}, DimVector{64, 101}, DimVector{3000, 12},
                                   DimVector{3, 6000}, DimVector{70, 4, 8}}) {
      const Tensor x = randn(sizes).to(dtype);
      expect_same([](const Tensor& t) { return t.sum(); }, x, "sum");
      expect_same([](const Tensor& t) { return t.sum(0); }, x, "sum(0)");
      expect_same([](const Tensor& t) { return t.sum(-1); }, x, "sum(-1)");
      expect_same([](const Tensor& t) { return t.amax(0); }, x, "amax(0)");
      expect_same([](const Tensor& t) { return std::get<0>(t.max(-1)); }, x, "max(-1)");
      if (dtype == kHalf) continue;
      expect_same([](const Tensor& t) { return t.var(0); }, x, "var(0)");
    }
  const Tensor cube = randn({5, 8, 12});
  expect_same([](const Tensor& t) { return t.sum({0, 2}); }, cube, "sum({0, 2})");
  expect_same([](const Tensor& t) { return t.transpose(0, 1).sum(0); }, cube, "sum of rows apart");
}

TEST_F(CudaPacks, Rows) {
  for (const int64_t n : {3, 100, 1001, 1500, 12000}) {
    const Tensor x = randn({9, n}), w = randn({n}), b = randn({n});
    const Tensor target = randint(0, n, {9}, kLong);
    expect_same([](const Tensor& t) { return t.softmax(-1); }, x, "softmax");
    expect_same([](const Tensor& t) { return t.log_softmax(-1); }, x, "log_softmax");
    expect_same(
        [&](const Tensor& t) { return layer_norm(t, {n}, w.to(t.device()), b.to(t.device())); }, x,
        "layer_norm");
    expect_same([&](const Tensor& t) { return cross_entropy(t, target.to(t.device())); }, x,
                "cross_entropy");
    expect_same([&](const Tensor& t) { return nll_loss(t, target.to(t.device())); }, x, "nll_loss");
  }
}

TEST_F(CudaPacks, BatchNorm) {
  for (const int64_t channels : {3, 8})
    for (const int64_t width : {12, 7})
      for (const bool last : {false, true}) {
        Tensor x = randn({4, channels, 7, width});
        if (last) x = x.contiguous(MemoryFormat::ChannelsLast);
        const Tensor w = randn({channels}), b = randn({channels});
        expect_same(
            [&](const Tensor& t) {
              return batch_norm(t, w.to(t.device()), b.to(t.device()), {}, {}, true, 0.1, 1e-5);
            },
            x, "batch_norm");
      }
}

TEST_F(CudaPacks, ConcatenatedRuns) {
  for (const int64_t width : {1, 4, 6, 8})
    expect_same(
        [](const Tensor& t) {
          return cat({t.transpose(0, 1), t.transpose(0, 1), t.transpose(0, 1)}, -1);
        },
        randn({3, 5, width}), "cat");
}

}  // namespace
}  // namespace taeda
