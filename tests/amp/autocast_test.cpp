// The guard: nesting, gradients, the cache of casts, whole trainings.
#include "taeda/amp/autocast.h"

#include <gmock/gmock.h>

#include <thread>

#include "taeda/amp/grad_scaler.h"
#include "taeda/base/error.h"
#include "taeda/device/generator.h"
#include "taeda/device/sim.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda {
namespace {

TEST(Autocast, GuardsNestAndRestore) {
  const Tensor x = randn({3, 3});
  EXPECT_FALSE(amp::is_autocast_enabled("cpu"));
  {
    const amp::autocast outer("cpu");
    EXPECT_TRUE(amp::is_autocast_enabled("cpu"));
    EXPECT_FALSE(amp::is_autocast_enabled("cuda"));
    EXPECT_EQ(x.mm(x).dtype(), kBFloat16);
    {
      const amp::autocast off("cpu", {}, false);
      EXPECT_EQ(x.mm(x).dtype(), kFloat);
      const amp::autocast half("cpu", kHalf);
      EXPECT_EQ(amp::get_autocast_dtype("cpu"), kHalf);
      EXPECT_EQ(x.mm(x).dtype(), kHalf);
      const amp::autocast again("cpu");  // without a dtype: as the guard around it
      EXPECT_EQ(x.mm(x).dtype(), kHalf);
    }
    EXPECT_EQ(x.mm(x).dtype(), kBFloat16);
  }
  EXPECT_EQ(x.mm(x).dtype(), kFloat);
  EXPECT_EQ(amp::get_autocast_dtype("cuda"), kHalf);
}

TEST(Autocast, RefusesOtherDtypes) {
  EXPECT_THROW(amp::autocast("cpu", kDouble), ValueError);
  EXPECT_THROW(amp::autocast("cuda", kFloat), ValueError);
  EXPECT_THROW(amp::autocast("gpu"), Error);
  EXPECT_NO_THROW(amp::autocast("cpu", kFloat, false));
  EXPECT_FALSE(amp::is_autocast_enabled("cpu"));
}

TEST(Autocast, AnErrorRestoresTheMode) {
  const Tensor x = randn({3, 3}), y = randn({2, 2});
  const amp::autocast autocast("cpu");
  EXPECT_THROW(x.mm(y), Error);
  EXPECT_EQ(x.mm(x).dtype(), kBFloat16);
}

TEST(Autocast, BelongsToItsThread) {
  const amp::autocast autocast("cpu");
  const auto state = amp::get_autocast_state();
  bool fresh = true, handed = false;
  std::thread([&] {
    fresh = amp::is_autocast_enabled("cpu");
    const amp::AutocastStateGuard guard(state);
    handed = amp::is_autocast_enabled("cpu");
  }).join();
  EXPECT_FALSE(fresh);
  EXPECT_TRUE(handed);
}

TEST(Autocast, GradientsOfFloat32LeavesAreFloat32) {
  const Tensor w = randn({4, 3}).requires_grad_(), b = randn({4}).requires_grad_();
  const Tensor x = randn({5, 3}).requires_grad_();
  Tensor loss;
  {
    const amp::autocast autocast("cpu");
    const Tensor y = linear(x, w, b);
    EXPECT_EQ(y.dtype(), kBFloat16);
    y.register_hook([](const Tensor& g) {
      EXPECT_EQ(g.dtype(), kBFloat16);
      return Tensor();
    });
    loss = y.to(kFloat).square().sum();
  }
  loss.backward();
  for (const Tensor& t : {w, b, x}) EXPECT_EQ(t.grad().dtype(), kFloat);
  const Tensor exact = 2 * linear(x, w, b).detach().t().mm(x.detach());
  EXPECT_LT((w.grad() - exact).abs().max().item<double>(), 0.02 * exact.abs().max().item<double>());
}

// A product of float32 matrices made outside the region has a float32 gradient inside it, too.
TEST(Autocast, BackwardFollowsForwardWhereverItIsCalled) {
  const Tensor a = randn({4, 4}).requires_grad_(), b = randn({4, 4});
  const Tensor outside = a.mm(b).sum();
  outside.backward({}, true);
  const Tensor expected = a.grad().clone();
  a.mutable_grad().reset();
  const amp::autocast autocast("cpu");
  outside.backward();
  EXPECT_TRUE(a.grad().equal(expected));
  EXPECT_TRUE(amp::is_autocast_enabled("cpu"));
}

class AutocastCache : public testing::Test {
 protected:
  /// How many casts lead from `w` to the product: the number of distinct cast nodes.
  static autograd::Node* cast_node(const Tensor& product) {
    return product.grad_fn()->edges[1].node.get();
  }
  Tensor w_ = randn({3, 3}).requires_grad_(), x_ = randn({2, 3});
};

TEST_F(AutocastCache, CastsALeafOnce) {
  const amp::autocast autocast("cpu");
  const Tensor a = x_.mm(w_), b = x_.mm(w_);
  EXPECT_EQ(cast_node(a), cast_node(b));
  amp::clear_autocast_cache();
  EXPECT_NE(cast_node(a), cast_node(x_.mm(w_)));
  (a + b).sum().backward();  // through the shared cast
  EXPECT_EQ(w_.grad().dtype(), kFloat);
}

TEST_F(AutocastCache, CanBeSwitchedOff) {
  const amp::autocast autocast("cpu", {}, true, false);
  EXPECT_FALSE(amp::is_autocast_cache_enabled());
  const Tensor a = x_.mm(w_), b = x_.mm(w_);
  EXPECT_NE(cast_node(a), cast_node(b));
}

TEST_F(AutocastCache, LivesAsLongAsTheOutermostGuard) {
  const uint32_t before = w_.use_count();
  Tensor a, b;
  {
    const amp::autocast outer("cpu");
    {
      const amp::autocast inner("cpu");
      a = x_.mm(w_);
    }
    b = x_.mm(w_);
    EXPECT_EQ(cast_node(a), cast_node(b));
    EXPECT_GT(w_.use_count(), before);
  }
  EXPECT_EQ(w_.use_count(), before);
}

TEST_F(AutocastCache, CastsAgainWhatAnOptimizerChanged) {
  const amp::autocast autocast("cpu");
  const Tensor before = x_.mm(w_);
  {
    NoGradGuard no_grad;
    w_.mul_(2);
  }
  EXPECT_TRUE(x_.mm(w_).equal(before * 2));
}

// PyTorch keeps a cast made without recording and loses the gradients of what follows.
TEST_F(AutocastCache, ACastWithoutHistoryIsNotReusedWithOne) {
  const amp::autocast autocast("cpu");
  {
    NoGradGuard no_grad;
    x_.mm(w_);
  }
  const Tensor y = x_.mm(w_);
  ASSERT_TRUE(y.requires_grad());
  y.sum().backward();
  EXPECT_TRUE(w_.grad().defined());
}

/// Trains on fixed data and gives the first and the last loss.
template <class MakeModel>
std::pair<double, double> train(MakeModel make_model, const Tensor& inputs, const Tensor& labels,
                                Device device, bool mixed) {
  manual_seed(5);
  auto model = make_model();
  model->to(device);
  const Tensor x = inputs.to(device), y = labels.to(device);
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  amp::GradScaler scaler(device, 1024, 2, 0.5, 10, mixed && !device.is_cpu());
  double first = 0, last = 0;
  for (int step = 0; step < 40; ++step) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const amp::autocast autocast(device, {}, mixed);
      loss = nn::functional::cross_entropy(model->forward(x), y);
      EXPECT_EQ(loss.dtype(), kFloat);
    }
    scaler.scale(loss).backward();
    EXPECT_TRUE(scaler.step(optimizer)) << step;
    scaler.update();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  for (const Tensor& p : model->parameters()) EXPECT_EQ(p.dtype(), kFloat);
  return {first, last};
}

nn::Sequential make_mlp() {
  return nn::Sequential{nn::Linear(6, 32), nn::ReLU(), nn::LayerNorm(std::vector<int64_t>{32}),
                        nn::Linear(32, 3)};
}
nn::Sequential make_cnn() {
  return nn::Sequential{nn::Conv2d(1, 8, 3), nn::BatchNorm2d(8), nn::ReLU(),
                        nn::MaxPool2d(2),    nn::Flatten(),      nn::Linear(72, 3)};
}

TEST(AutocastTraining, ConvergesAsInFloat32) {
  sim::configure(2);
  manual_seed(1);
  const Tensor labels = randint(0, 3, {48}, TensorOptions(kLong));
  const Tensor vectors = randn({48, 6}) + labels.unsqueeze(1).to(kFloat);
  const Tensor images = randn({48, 1, 8, 8}) + labels.reshape({48, 1, 1, 1}).to(kFloat);
  for (const char* name : {"cpu", "sim:0"}) {
    const Device device(name);
    for (const bool convolutional : {false, true}) {
      const auto run = [&](bool mixed) {
        return convolutional ? train(make_cnn, images, labels, device, mixed)
                             : train(make_mlp, vectors, labels, device, mixed);
      };
      const auto [first, last] = run(true);
      const auto [first32, last32] = run(false);
      EXPECT_NEAR(first, first32, 0.02) << name << convolutional;
      EXPECT_NEAR(last, last32, 0.05) << name << convolutional;
      EXPECT_LT(last, 0.4 * first) << name << convolutional;
    }
  }
}

}  // namespace
}  // namespace taeda
