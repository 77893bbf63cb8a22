// Weights under autocast where products of 16-bit numbers are computed in float32: they are used as
// they are, results and gradients have the dtypes that they have everywhere.
#include <gtest/gtest.h>

#include "taeda/amp/autocast.h"
#include "taeda/autograd/engine.h"
#include "taeda/cpu/onednn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/nn/rnn.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda {
namespace {

/// The CPU's own kernels have no products of 16-bit numbers.
class KeptWeights : public testing::TestWithParam<ScalarType> {
 protected:
  void SetUp() override { cpu::set_onednn_enabled(false); }
  void TearDown() override { cpu::set_onednn_enabled(was_); }

  static double distance(const Tensor& a, const Tensor& b) {
    const Tensor want = b.to(kFloat);
    return (a.to(kFloat) - want).abs().max().item<double>() / want.abs().max().item<double>();
  }

  /// Compares f, which has arguments x, weight and bias, with the same in float32 on a rounded x.
  template <class F>
  void check(F f, const Tensor& x, const Tensor& w, const Tensor& b) {
    const auto run = [&](bool lower) {
      const Tensor in = (lower ? x : x.to(GetParam()).to(kFloat)).detach().requires_grad_();
      const Tensor weight = w.detach().requires_grad_(), bias = b.detach().requires_grad_();
      Tensor y;
      {
        const amp::autocast autocast("cpu", GetParam(), lower);
        y = f(in, weight, bias);
      }
      EXPECT_EQ(y.dtype(), lower ? GetParam() : kFloat);
      std::vector<Tensor> all =
          autograd::grad({y.to(kFloat).square().mean()}, {in, weight, bias}, {}, true, true);
      const Tensor second = all[1].square().mean() + all[0].square().mean();
      for (const Tensor& g : autograd::grad({second}, {in, weight})) all.push_back(g);
      for (const Tensor& g : all) EXPECT_EQ(g.dtype(), kFloat);
      all.push_back(y.detach());
      return all;
    };
    const std::vector<Tensor> got = run(true), want = run(false);
    for (size_t i = 0; i < got.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "result " << i);
      EXPECT_LT(distance(got[i], want[i]), 0.03);
    }
    // What is computed is the float32 result, rounded once.
    const double unit = GetParam() == kHalf ? 0x1p-11 : 0x1p-8;
    EXPECT_LT(distance(got.back(), want.back()), unit * 1.01);
  }

 private:
  const bool was_ = cpu::onednn_enabled();
};

TEST_P(KeptWeights, OfLinear) {
  const auto f = [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); };
  check(f, randn({5, 12}), randn({7, 12}), randn({7}));
  check(f, randn({2, 3, 12}), randn({7, 12}), randn({7}));
}

TEST_P(KeptWeights, OfConvolutions) {
  const auto f = [](const Tensor& x, const Tensor& w, const Tensor& b) {
    return conv2d(x, w, b, 1, 1);
  };
  check(f, randn({3, 4, 6, 5}), randn({5, 4, 3, 3}), randn({5}));
  check(f, randn({20, 40, 2, 2}), randn({48, 40, 3, 3}), randn({48}));
  check(f, randn({20, 40, 1, 1}), randn({48, 40, 3, 3}), randn({48}));
  const auto transposed = [](const Tensor& x, const Tensor& w, const Tensor& b) {
    return conv_transpose2d(x, w, b, 2, 1);
  };
  check(transposed, randn({3, 4, 6, 5}), randn({4, 5, 3, 3}), randn({5}));
}

TEST_P(KeptWeights, HaveNoCastOfTheirOwn) {
  const Tensor w = randn({4, 3}).requires_grad_(), filters = randn({4, 3, 2, 2}).requires_grad_();
  const amp::autocast autocast("cpu", GetParam());
  const uint32_t before = w.use_count();
  const Tensor y = linear(randn({2, 3}), w), images = conv2d(randn({2, 3, 4, 4}), filters);
  EXPECT_EQ(w.use_count(), before);  // the cache would hold it
  EXPECT_STREQ(y.grad_fn()->edges[1].node->name(), "AccumulateGrad");
  EXPECT_STREQ(images.grad_fn()->edges[1].node->name(), "AccumulateGrad");
}

TEST_P(KeptWeights, OfRecurrentNetworks) {
  const auto run = [&](bool lower) {
    manual_seed(1);
    const Tensor x = randn({6, 3, 8}).to(GetParam()).to(kFloat), h = zeros({1, 3, 8});
    const std::vector<Tensor> params{randn({32, 8}).requires_grad_(), randn({32, 8}), randn({32}),
                                     randn({32})};
    const std::vector<Tensor> states{h, h};
    Tensor y;
    {
      const amp::autocast autocast("cpu", GetParam(), lower);
      y = std::get<0>(lstm(x, states, params, true, 1, 0, true, false, false));
    }
    EXPECT_EQ(y.dtype(), lower ? GetParam() : kFloat);
    return std::pair(y.detach(), autograd::grad({y.to(kFloat).square().sum()}, {params[0]})[0]);
  };
  const auto [got, grad] = run(true);
  const auto [want, want_grad] = run(false);
  EXPECT_TRUE(got.equal(want.to(GetParam())));
  EXPECT_EQ(grad.dtype(), kFloat);
  EXPECT_LT(distance(grad, want_grad), 0.02);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, KeptWeights, testing::Values(kBFloat16, kHalf),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace taeda
