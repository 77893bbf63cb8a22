// Errors of losses, reductions and normalisations, and what a row of the op table cannot say.
#include "taeda/ops/nn/loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/node.h"
#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "tests/ops/tensor_values.h"

namespace taeda::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The message of an E; another type of exception fails the test.
template <class E, class F>
std::string thrown(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

Tensor wave(IntArrayRef sizes) {
  Tensor t = taeda::empty(sizes);
  for (int64_t i = 0; i < t.numel(); ++i) t.data_ptr<float>()[i] = std::sin(static_cast<float>(i));
  return t;
}

TEST(CrossEntropy, ChecksClassesAndShapes) {
  const Tensor x = wave({3, 5});
  EXPECT_EQ(thrown<IndexError>([&] {
              cross_entropy(x, tensor({1, 2, 10}));
            }),
            "Target 10 is out of bounds.");
  EXPECT_EQ(thrown<IndexError>([&] {
              cross_entropy(x, tensor({1, 2, -1}));
            }),
            "Target -1 is out of bounds.");
  EXPECT_EQ(thrown<ValueError>([&] {
              cross_entropy(x, tensor({1, 2}));
            }),
            "Expected input batch_size (3) to match target batch_size (2).");
  EXPECT_EQ(thrown<Error>([&] {
              cross_entropy(x, tensor({1.0, 2.0, 3.0}));
            }),
            "expected target dtype to be Long or Byte, but got Float");
  EXPECT_EQ(thrown<Error>([&] {
              cross_entropy(x, zeros({3, 5}, kLong));
            }),
            "Expected floating point type for target with class probabilities, got Long");
  EXPECT_EQ(thrown<Error>([&] {
              cross_entropy(x, tensor({1, 2, 3}), ones({4}));
            }),
            "weight tensor should be defined either for all 5 classes or no classes but got weight "
            "tensor of shape: [4]");
  EXPECT_EQ(thrown<Error>([&] {
              cross_entropy(wave({3, 5, 2}), zeros({3, 4}, kLong));
            }),
            "Expected target size [3, 2], got [3, 4]");
  EXPECT_EQ(thrown<Error>([&] {
              cross_entropy(x, tensor({1, 2, 3}), {}, Reduction::Mean, -100, 1.5);
            }),
            "label_smoothing must be between 0.0 and 1.0. Got: 1.5");
  EXPECT_EQ(thrown<Error>([&] {
              cross_entropy(x, zeros({3, 4}, kLong));
            }),
            "0D or 1D target tensor expected, multi-target not supported");
}

TEST(CrossEntropy, WeighsClassesAndIgnoresTargets) {
  const Tensor x = wave({4, 3}).requires_grad_(), target = tensor({0, 2, -100, 1}),
               weight = tensor({1.0f, 2.0f, 4.0f});
  const Tensor each = cross_entropy(x, target, {}, Reduction::None).detach();
  EXPECT_EQ(each[2].item<float>(), 0);
  const double want =
      (each[0].item<double>() + 4 * each[1].item<double>() + 2 * each[3].item<double>()) / 7;
  const Tensor loss = cross_entropy(x, target, weight);
  EXPECT_NEAR(loss.item<double>(), want, 1e-6);
  loss.backward();
  EXPECT_THAT(floats(x.grad()[2]), ElementsAre(0, 0, 0));
  EXPECT_NEAR(x.grad().sum().item<double>(), 0, 1e-6);
  EXPECT_TRUE(std::isnan(cross_entropy(x, full({4}, -100, kLong)).item<float>()));
}

TEST(CrossEntropy, TakesBytesAsClasses) {
  const Tensor x = wave({2, 3}).requires_grad_(), bytes = tensor({2, 255}, kByte);
  const Tensor loss = cross_entropy(x, bytes, {}, Reduction::Mean, 255);
  EXPECT_EQ(loss.item<float>(), cross_entropy(x, tensor({2, -100})).item<float>());
  loss.backward();
  EXPECT_THAT(floats(x.grad()[1]), ElementsAre(0, 0, 0));
  EXPECT_EQ(thrown<IndexError>([&] { nll_loss(x, bytes); }), "Target 255 is out of bounds.");
}

TEST(CrossEntropy, TakesOneSampleWithoutABatch) {
  const Tensor x = wave({5});
  EXPECT_NEAR(cross_entropy(x, tensor(2)).item<double>(), -x.log_softmax(0)[2].item<double>(),
              1e-6);
}

TEST(CrossEntropy, IsStableForLargeLogits) {
  EXPECT_EQ(cross_entropy(tensor({{1e4f, 0.0f}}), tensor({0})).item<float>(), 0);
  EXPECT_EQ(cross_entropy(tensor({{1e4f, 0.0f}}), tensor({1})).item<float>(), 1e4f);
}

TEST(Loss, ChecksItsArguments) {
  const Tensor x = wave({3, 5});
  EXPECT_EQ(thrown<Error>([&] { smooth_l1_loss(x, x, Reduction::Mean, -1); }),
            "smooth_l1_loss does not support negative values for beta.");
  EXPECT_EQ(thrown<Error>([&] { huber_loss(x, x, Reduction::Mean, 0); }),
            "huber_loss does not support non-positive values for delta.");
  EXPECT_EQ(thrown<Error>([&] { binary_cross_entropy(full({1}, 1.5), ones({1})); }),
            "all elements of input should be between 0 and 1");
  EXPECT_THAT(thrown<ValueError>([&] { binary_cross_entropy(ones({1}), ones({2})); }),
              HasSubstr("different to the input size"));
  EXPECT_EQ(thrown<ValueError>([&] { binary_cross_entropy_with_logits(ones({1}), ones({2})); }),
            "Target size ([2]) must be the same as input size ([1])");
  EXPECT_THAT(thrown<Error>([&] { margin_ranking_loss(x, x, wave({3})); }),
              HasSubstr("must match the size of tensor b"));
  EXPECT_EQ(thrown<ValueError>([&] { gaussian_nll_loss(x, x, ones({2})); }),
            "var is of incorrect size");
  EXPECT_EQ(thrown<ValueError>([&] {
              gaussian_nll_loss(x, x, full({3, 5}, -1.0));
            }),
            "var has negative entry/entries");
  EXPECT_THAT(thrown<Error>([&] {
                cosine_embedding_loss(x, x, wave({2, 2}));
              }),
              HasSubstr("multi-target not supported"));
  EXPECT_THAT(thrown<Error>([&] { triplet_margin_loss(x, x, x[0]); }), HasSubstr("same dimension"));
}

TEST(Loss, BinaryCrossEntropyIsFiniteAtTheEnds) {
  EXPECT_THAT(
      floats(binary_cross_entropy(tensor({0.0f, 1.0f}), tensor({1.0f, 0.0f}), {}, Reduction::None)),
      ElementsAre(100, 100));
}

TEST(Loss, NodesHavePytorchsNames) {
  const Tensor x = wave({3, 5}).requires_grad_();
  EXPECT_STREQ(mse_loss(x, x).grad_fn()->name(), "MseLossBackward0");
  EXPECT_STREQ(cross_entropy(x, tensor({1, 2, 3})).grad_fn()->name(), "NllLossBackward0");
  EXPECT_STREQ(x.log_softmax(1).grad_fn()->name(), "LogSoftmaxBackward0");
  EXPECT_STREQ(batch_norm(x, {}, {}, {}, {}, true).grad_fn()->name(), "NativeBatchNormBackward0");
}

TEST(Extremes, OfNothingAreErrors) {
  const Tensor e = taeda::empty({0}), e2 = taeda::empty({0, 3});
  EXPECT_EQ(thrown<Error>([&] { e.max(); }),
            "max(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument.");
  EXPECT_EQ(thrown<IndexError>([&] { e2.max(0); }),
            "max(): Expected reduction dim 0 to have non-zero size.");
  EXPECT_EQ(thrown<IndexError>([&] { e2.amin(0); }),
            "amin(): Expected reduction dim 0 to have non-zero size.");
  EXPECT_EQ(thrown<IndexError>([&] { e.argmax(); }),
            "argmax(): Expected reduction dim to be specified for input.numel() == 0.");
  EXPECT_EQ(std::get<0>(e2.max(1)).numel(), 0);
  EXPECT_TRUE(std::isnan(e.median().item<float>()));
}

TEST(Extremes, PropagateNanAndFindTheFirst) {
  Tensor x = zeros({600});
  x.data_ptr<float>()[300] = x.data_ptr<float>()[500] = 2;
  EXPECT_EQ(x.argmax().item<int64_t>(), 300);
  EXPECT_EQ(x.view({200, 3}).argmax(0).sum().item<int64_t>(), 100 + 166);
  x.data_ptr<float>()[400] = NAN;
  EXPECT_TRUE(std::isnan(x.max().item<float>()));
  EXPECT_TRUE(std::isnan(x.min().item<float>()));
  EXPECT_TRUE(std::isnan(x.median().item<float>()));
  EXPECT_EQ(x.argmax().item<int64_t>(), 400);
  EXPECT_EQ(x.argmin().item<int64_t>(), 400);
}

TEST(Extremes, ShareTheGradientEvenly) {
  const Tensor x = tensor({1.0f, 3.0f, 3.0f}).requires_grad_();
  x.max().backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(0, 0.5f, 0.5f));
}

TEST(Moments, RejectIntegers) {
  EXPECT_EQ(thrown<Error>([] { zeros({2}, kLong).var(); }),
            "std and var only support floating point and complex dtypes");
  EXPECT_EQ(thrown<Error>([] { zeros({2}, kLong).norm(); }),
            "norm(): input dtype should be either floating point or complex. Got Long instead.");
  EXPECT_TRUE(std::isnan(ones({1}).var().item<float>()));
}

TEST(Scan, LongLineOfFloats) {
  const Tensor x = linspace(-1, 1.25, 1003), wide = x.to(kDouble);
  EXPECT_TRUE(x.cumsum(0).equal(wide.cumsum(0).to(kFloat)));
  const Tensor factors = x.mul(0.01).add(1);
  EXPECT_TRUE(factors.cumprod(0).equal(factors.to(kDouble).cumprod(0).to(kFloat)));
  EXPECT_TRUE(x.expand({3, 1003}).cumsum(1).select(0, 2).equal(x.cumsum(0)));
  const float inf = INFINITY;
  EXPECT_THAT(floats(tensor({1.0f, inf, 2.0f, -inf, 1.0f}).cumsum(0).slice(0, 0, 3)),
              ElementsAre(1, inf, inf));
  EXPECT_TRUE(
      std::isnan(tensor({1.0f, inf, 2.0f, -inf, 1.0f}).cumsum(0).select(0, 4).item<float>()));
}

TEST(Scan, IntegersGiveLong) {
  EXPECT_THAT(longs(ones({3}, kBool).cumsum(0)), ElementsAre(1, 2, 3));
  EXPECT_THAT(longs(std::get<1>(cummax(tensor({1, 1, 0}), 0))), ElementsAre(0, 1, 1));
}

TEST(BatchNorm, UpdatesRunningStatistics) {
  const Tensor x = tensor({{1.0f, 0.0f}, {3.0f, 4.0f}}), mean = zeros({2}), var = ones({2});
  const int64_t version = mean._version();
  batch_norm(x, {}, {}, mean, var, true, 0.1);
  EXPECT_THAT(floats(mean), ElementsAre(0.2f, 0.2f));
  EXPECT_THAT(floats(var), ElementsAre(0.9f + 0.1f * 2, 0.9f + 0.1f * 8));
  EXPECT_GT(mean._version(), version);
}

TEST(BatchNorm, KeepsDigitsFarFromZero) {
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{64, 3}, {20, 3, 5}, {7, 3, 4, 4}, {4, 3, 40, 40}})
    for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
      if (format != MemoryFormat::Contiguous && sizes.size() != 4) continue;
      const Tensor x = wave(sizes).add(1e6).contiguous(format), exact = x.to(kDouble);
      const Tensor mean = zeros({3}), var = ones({3}), wide_mean = zeros({3}, kDouble),
                   wide_var = ones({3}, kDouble);
      const Tensor y = batch_norm(x, {}, {}, mean, var, true, 1.0);
      const Tensor wide = batch_norm(exact, {}, {}, wide_mean, wide_var, true, 1.0);
      EXPECT_LT(y.to(kDouble).sub(wide).abs().max().item<double>(), 1e-5);
      EXPECT_TRUE(var.to(kDouble).allclose(wide_var, 1e-6, 0));
      EXPECT_TRUE(mean.to(kDouble).allclose(wide_mean, 1e-7, 0));
    }
}

TEST(LayerNorm, KeepsDigitsFarFromZero) {
  const Tensor x = wave({6, 4, 50}).add(1e6), exact = x.to(kDouble);
  const Tensor rows = layer_norm(x, {50}), wide_rows = layer_norm(exact, {50}),
               groups = group_norm(x, 2), wide_groups = group_norm(exact, 2);
  EXPECT_LT(rows.to(kDouble).sub(wide_rows).abs().max().item<double>(), 1e-5);
  EXPECT_LT(groups.to(kDouble).sub(wide_groups).abs().max().item<double>(), 1e-5);
}

TEST(BatchNorm, FirstNumbersThatAreNotFiniteOrAlone) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor mean = zeros({2}), var = ones({2});
  const Tensor x = tensor({{inf, 1e30f}, {1.0f, -1e30f}, {2.0f, 0.0f}});
  batch_norm(x, {}, {}, mean, var, true, 1.0);
  EXPECT_EQ(floats(mean)[0], inf);
  EXPECT_EQ(floats(mean)[1], 0.0f);
  EXPECT_TRUE(std::isnan(floats(var)[0]));
}

TEST(BatchNorm, NoExamplesLeaveStatisticsAndGiveGradientsOfZero) {
  const std::vector<std::vector<int64_t>> shapes = {{0, 2}, {0, 2, 3, 3}, {4, 2, 0, 3}};
  for (const auto& sizes : shapes) {
    const Tensor x = zeros(sizes, TensorOptions().requires_grad(true));
    const Tensor weight = ones({2}, TensorOptions().requires_grad(true)),
                 bias = zeros({2}, TensorOptions().requires_grad(true));
    const Tensor mean = tensor({3.0, 4.0}), var = tensor({5.0, 6.0});
    const Tensor y = batch_norm(x, weight, bias, mean, var, true, 0.1, 1e-5);
    EXPECT_EQ(y.sizes(), IntArrayRef(sizes));
    y.sum().backward();
    EXPECT_EQ(x.grad().sizes(), IntArrayRef(sizes));
    EXPECT_TRUE(weight.grad().equal(zeros({2})));
    EXPECT_TRUE(bias.grad().equal(zeros({2})));
    EXPECT_TRUE(mean.equal(tensor({3.0, 4.0})) && var.equal(tensor({5.0, 6.0})));
  }
}

TEST(BatchNorm, ChannelsLastAgreesWithContiguous) {
  const Tensor x = wave({3, 5, 4, 4}).requires_grad_(),
               y = x.detach().contiguous(MemoryFormat::ChannelsLast).requires_grad_();
  const Tensor a = batch_norm(x, {}, {}, {}, {}, true), b = batch_norm(y, {}, {}, {}, {}, true);
  EXPECT_TRUE(b.is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_TRUE(a.allclose(b, 1e-4, 1e-5));
  const Tensor g = wave({3, 5, 4, 4}).mul(0.5).add(x.detach().square());
  a.backward(g);
  b.backward(g);
  EXPECT_TRUE(x.grad().allclose(y.grad(), 1e-4, 1e-5));
}

TEST(Norm, ChecksItsArguments) {
  const Tensor x = wave({2, 3});
  EXPECT_THAT(thrown<ValueError>([] {
                batch_norm(ones({1, 3}), {}, {}, {}, {}, true);
              }),
              HasSubstr("Expected more than 1 value per channel when training"));
  EXPECT_EQ(thrown<Error>([&] { batch_norm(x, {}, {}, {}, {}, false); }),
            "running_mean must be defined in evaluation mode");
  EXPECT_EQ(thrown<Error>([&] { batch_norm(x, {}, {}, zeros({4}), ones({4}), false); }),
            "running_mean should contain 3 elements not 4");
  EXPECT_EQ(thrown<Error>([&] { batch_norm(x, ones({2}), {}, {}, {}, true); }),
            "weight should contain 3 elements not 2");
  EXPECT_EQ(
      thrown<Error>([&] { layer_norm(x, {4}); }),
      "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]");
  EXPECT_THAT(thrown<Error>([&] { layer_norm(x, {3}, ones({2})); }),
              HasSubstr("Expected weight to be of same shape"));
  EXPECT_THAT(thrown<Error>([&] { layer_norm(x, IntArrayRef()); }),
              HasSubstr("at least 1-dimensional"));
  EXPECT_THAT(thrown<Error>([&] { group_norm(x, 2); }), HasSubstr("divisible by num_groups"));
  EXPECT_THAT(thrown<Error>([&] {
                group_norm(wave({2, 4}), 2, ones({3}));
              }),
              HasSubstr("vector of size equal"));
  EXPECT_THAT(thrown<ValueError>([&] {
                instance_norm(wave({2, 3, 1}));
              }),
              HasSubstr("more than 1 spatial element"));
  EXPECT_THAT(thrown<ValueError>([&] { local_response_norm(x, 3); }), HasSubstr("3D or higher"));
}

TEST(Softmax, RejectsIntegers) {
  EXPECT_THROW(zeros({3}, kLong).softmax(0), NotImplementedError);
  EXPECT_THROW(zeros({3}, kLong).log_softmax(0), NotImplementedError);
}

TEST(ThreadCount, DoesNotChangeResults) {
  const int before = get_num_threads();
  const Tensor x = wave({300, 700}), target = zeros({300}, kLong);
  const auto run = [&] {
    const Tensor leaf = x.detach().clone().requires_grad_(), weight = ones({700}).requires_grad_();
    const Tensor y = batch_norm(layer_norm(leaf, {700}, weight), {}, {}, {}, {}, true);
    cross_entropy(y, target).backward();
    std::vector<float> all = floats(leaf.grad());
    for (const float v : floats(weight.grad())) all.push_back(v);
    for (const float v : floats(x.var(0))) all.push_back(v);
    for (const float v : floats(x.softmax(0))) all.push_back(v);
    return all;
  };
  set_num_threads(1);
  const auto one = run();
  for (const int n : {2, 3}) {
    set_num_threads(n);
    EXPECT_EQ(run(), one);
  }
  set_num_threads(before);
}

TEST(CrossEntropy, NothingIsLearntWhereEveryTargetIsIgnored) {
  const Tensor target = full({3}, -100, kLong);
  for (const Reduction reduction : {Reduction::None, Reduction::Mean, Reduction::Sum})
    for (const double smoothing : {0.0, 0.1})
      for (const bool create_graph : {false, true}) {
        const Tensor x = randn({3, 4}).requires_grad_();
        const Tensor loss = cross_entropy(x, target, {}, reduction, -100, smoothing).sum();
        EXPECT_EQ(std::isnan(loss.item<float>()), reduction == Reduction::Mean);
        const Tensor g = autograd::grad({loss}, {x}, {}, true, create_graph)[0];
        EXPECT_TRUE(g.equal(zeros({3, 4}))) << create_graph;
        if (!create_graph) continue;
        const Tensor second = autograd::grad({g.square().sum()}, {x})[0];
        EXPECT_TRUE(second.equal(zeros({3, 4})));
      }
  const Tensor x = randn({3, 4}).requires_grad_();
  const Tensor g = autograd::grad({nll_loss(x, target)}, {x}, {}, true, true)[0];
  EXPECT_TRUE(g.equal(zeros({3, 4})));
}

}  // namespace
}  // namespace taeda::testing
