// Activations that are computed again in backward: the same gradients from less memory.
#include "taeda/nn/checkpoint.h"

#include "common.h"
#include "taeda/amp/autocast.h"
#include "taeda/autograd/engine.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::nn {
namespace {

using taeda::utils::checkpoint::checkpoint;
using taeda::utils::checkpoint::checkpoint_sequential;
using taeda::utils::checkpoint::CheckpointOptions;
using ::testing::HasSubstr;

/// Layers whose activations are much larger than their parameters.
Sequential make_layers(Device device, int n = 8) {
  manual_seed(3);
  Sequential out;
  for (int i = 0; i < n; ++i) {
    out->push_back(Linear(16, 16));
    out->push_back(Tanh());
  }
  out->to(device);
  return out;
}

TEST(Checkpoint, TheSameGradientsFromLessMemory) {
  Sequential layers = make_layers(sim_device(0), 24);
  const Tensor x = batch_of(2048, 16).requires_grad_();
  const auto step = [&](int segments) {
    sim::synchronize(0);
    sim::reset_peak_memory_stats(0);
    const int64_t before = sim::memory_allocated(0);
    const Tensor y = segments ? checkpoint_sequential(layers, segments, x) : layers(x);
    y.square().sum().backward();
    const int64_t peak = sim::max_memory_allocated(0) - before;
    std::vector<Tensor> gradients = take_gradients(*layers);
    gradients.push_back(x.grad());
    x.mutable_grad().reset();
    return std::pair(peak, gradients);
  };
  const auto [plain_peak, plain] = step(0);
  const auto [peak, gradients] = step(6);
  ASSERT_EQ(gradients.size(), plain.size());
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(distance(gradients[i], plain[i]), 0) << i;
  EXPECT_LT(peak, plain_peak * 2 / 3);
  EXPECT_THAT(error_of([&] { checkpoint_sequential(layers, 49, x); }),
              "checkpoint_sequential: expected between 1 and 48 segments (the number of modules), "
              "but got 49");
}

TEST(Checkpoint, TakesAndGivesAnything) {
  const Tensor a = taeda::full({3}, 2.0).requires_grad_(), b = taeda::full({3}, 5.0);
  const Tensor weight = taeda::full({3}, 3.0).requires_grad_();
  int calls = 0;
  const auto f = [&calls, weight](const Tensor& x, int power, const std::vector<Tensor>& list) {
    ++calls;
    return std::tuple(x.pow(power) * list[0] * weight, power + 1, list[1]);
  };
  const auto [y, number, same] = checkpoint(f, a, 2, std::vector<Tensor>{b, b});
  EXPECT_EQ(number, 3);
  EXPECT_FALSE(same.requires_grad());
  EXPECT_EQ(calls, 1);
  y.sum().backward({}, true);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(values(a.grad()), (std::vector<double>{60, 60, 60}));  // 2 a b w
  EXPECT_EQ(values(weight.grad()), (std::vector<double>{20, 20, 20}));
  y.sum().backward();  // a kept graph computes again
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(values(a.grad()), (std::vector<double>{120, 120, 120}));
  EXPECT_THAT(error_of([&, y = y] { y.sum().backward(); }),
              HasSubstr("Trying to backward through the graph a second time"));
  {
    const NoGradGuard guard;
    EXPECT_FALSE(std::get<0>(checkpoint(f, a, 2, std::vector<Tensor>{b, b})).requires_grad());
  }
}

TEST(Checkpoint, ParametersAloneAreEnough) {
  Net net = make_net();
  const Tensor x = batch_of(4);
  net(x).square().sum().backward();
  const std::vector<Tensor> expected = take_gradients(*net);
  int hooked = 0;
  net->scale.register_hook([&](const Tensor& g) {
    ++hooked;
    return g * 2;
  });
  checkpoint(net, x).square().sum().backward();
  EXPECT_EQ(hooked, 1);
  const std::vector<Tensor> actual = take_gradients(*net);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LT(distance(actual[i], expected[i] * (i == 0 ? 2 : 1)), 1e-5) << i;
}

TEST(Checkpoint, NestsAndHasSecondDerivatives) {
  const Tensor x = taeda::full({2}, 0.7, kDouble).requires_grad_();
  const Tensor w = taeda::full({2}, 1.3, kDouble).requires_grad_();
  const auto inner = [w](const Tensor& t) { return (t * w).sin() * t; };
  const auto outer = [inner](const Tensor& t) {
    return checkpoint(inner, checkpoint(inner, t)).exp();
  };
  const auto second = [&](const Tensor& y) {
    const auto first = autograd::grad({y.sum()}, {x, w}, {}, {}, true);
    return autograd::grad({(first[0] * first[1]).sum()}, {x, w});
  };
  const auto actual = second(checkpoint(outer, x));
  const auto expected = second(inner(inner(x)).exp());
  EXPECT_LT(distance(actual[0], expected[0]), 1e-12);
  EXPECT_LT(distance(actual[1], expected[1]), 1e-12);
  // Arguments of which one is made from the other.
  const Tensor y = x + 3;
  const auto product = [](const Tensor& a, const Tensor& b) { return a * b; };
  EXPECT_EQ(values(autograd::grad({checkpoint(product, x, y).sum()}, {x})[0]),
            values(autograd::grad({(x * y).sum()}, {x})[0]));
}

TEST(Checkpoint, RandomNumbersAreDrawnAgain) {
  for (const Device device : {Device(kCPU), sim_device(1)}) {
    manual_seed(7);
    const Tensor x = taeda::ones({1000}).to(device).requires_grad_();
    Dropout dropout(0.5);
    const auto noisy = [dropout](const Tensor& t) mutable {
      return dropout(t) * taeda::rand_like(t.detach());
    };
    const Tensor y = checkpoint(noisy, x);
    const Tensor next = taeda::rand({4}).to(device);
    const auto state = default_generator(device).get_state();
    y.sum().backward();
    EXPECT_EQ(distance(x.grad(), y), 0) << device;
    EXPECT_EQ(default_generator(device).get_state(), state);
    x.mutable_grad().reset();
    const Tensor z = checkpoint(CheckpointOptions{.preserve_rng_state = false}, noisy, x);
    z.sum().backward();
    EXPECT_GT(distance(x.grad(), z), 0) << device;
  }
}

TEST(Checkpoint, AutocastIsAsInTheFirstRun) {
  Sequential layers = make_layers(kCPU, 2);
  const Tensor x = taeda::rand({8, 16});
  std::vector<std::vector<Tensor>> gradients;
  for (const bool saving : {false, true}) {
    Tensor y;
    {
      const amp::autocast lower(kCPU, kBFloat16);
      y = saving ? checkpoint(layers, x) : layers(x);
      y = saving ? checkpoint(layers, y.to(kFloat)) : layers(y.to(kFloat));  // weights used twice
    }
    EXPECT_EQ(y.dtype(), kBFloat16);
    y.to(kFloat).square().sum().backward();
    gradients.push_back(take_gradients(*layers));
  }
  for (size_t i = 0; i < gradients[0].size(); ++i)
    EXPECT_LT(distance(gradients[0][i], gradients[1][i]), 0.05) << i;
}

TEST(Checkpoint, ARunThatDiffersIsAnError) {
  const Tensor x = taeda::ones({2, 3}).requires_grad_();
  const auto error = [&](const std::function<Tensor(const Tensor&, bool again)>& f) {
    auto calls = std::make_shared<int>(0);
    const Tensor y = checkpoint([f, calls](const Tensor& t) { return f(t, (*calls)++ > 0); }, x);
    return error_of([&] { y.sum().backward(); });
  };
  using taeda::utils::checkpoint::CheckpointError;
  EXPECT_EQ(error([](const Tensor& t, bool again) { return (again ? t.sum(0) : t).exp(); }),
            "taeda::utils::checkpoint: Recomputed values for the following tensors have different "
            "metadata than during the forward pass.\ntensor at position 0:\n"
            "saved metadata: {shape: [2, 3], dtype: Float, device: cpu}\n"
            "recomputed metadata: {shape: [3], dtype: Float, device: cpu}\n.");
  EXPECT_EQ(error([](const Tensor& t, bool again) { return again ? t * 2 : t.exp(); }),
            "taeda::utils::checkpoint: A different number of tensors was saved during the original "
            "forward and recomputation.\nNumber of tensors saved during forward: 1\n"
            "Number of tensors saved during recomputation: 0.");
  const auto longer = [calls = std::make_shared<int>(0)](const Tensor& t) {
    return (*calls)++ > 0 ? t.exp().exp() : t.exp();
  };
  EXPECT_THROW(checkpoint(CheckpointOptions{.early_stop = false}, longer, x).sum().backward(),
               CheckpointError);
  const Tensor changed = x * 1;
  const Tensor y = checkpoint([](const Tensor& t) { return t.tanh(); }, changed);
  {
    const NoGradGuard guard;
    changed.add_(1);
  }
  EXPECT_THAT(error_of([&] { y.sum().backward(); }),
              HasSubstr("has been modified by an inplace operation"));
}

TEST(Checkpoint, EndsEarlyAndReachesWhatTheFunctionPutElsewhere) {
  const Tensor x = taeda::full({3}, 0.5).requires_grad_();
  for (const bool early : {true, false}) {
    int ends = 0;
    Tensor aside;
    const auto f = [&](const Tensor& t) {
      const Tensor y = t.exp(), other = y.sin();
      if (!aside.defined()) aside = other;
      ++ends;
      return y;
    };
    const Tensor y = checkpoint(CheckpointOptions{.early_stop = early}, f, x);
    EXPECT_STREQ(y.grad_fn()->name(), x.exp().grad_fn()->name());
    (y.sum() + aside.sum()).backward();
    EXPECT_EQ(ends, early ? 1 : 2);
    EXPECT_LT(distance(x.grad(), x.exp() * (x.exp().cos() + 1)), 1e-6);
    x.mutable_grad().reset();
  }
  // A value that is made within the function, changed after it was saved.
  const Tensor z = checkpoint(
      CheckpointOptions{.early_stop = false},
      [](const Tensor& t) {
        Tensor a = t * 1;
        const Tensor b = a.square();
        const NoGradGuard guard;
        a.add_(1);
        return b;
      },
      x);
  EXPECT_THAT(error_of([&] { z.sum().backward(); }),
              HasSubstr("has been modified by an inplace operation"));
}

TEST(Checkpoint, AGradientWithinTheFunction) {
  const Tensor x = taeda::full({3}, 0.5).requires_grad_();
  const auto f = [](const Tensor& t) {
    const Tensor a = t.detach().requires_grad_();
    const Tensor slope = autograd::grad({a.tanh().sum()}, {a})[0];
    return t.sin() * slope;
  };
  f(x).sum().backward();
  const Tensor expected = x.grad();
  x.mutable_grad() = {};
  for (const bool early : {true, false}) {
    checkpoint(CheckpointOptions{.early_stop = early}, f, x).sum().backward();
    EXPECT_EQ(distance(x.grad(), expected), 0);
    x.mutable_grad().reset();
  }
}

TEST(Checkpoint, BatchNormCountsABatchOnce) {
  manual_seed(1);
  BatchNorm1d norm(4), other(4);
  const Tensor x = taeda::rand({8, 4});
  other(x).square().sum().backward();
  checkpoint(norm, x).square().sum().backward();
  EXPECT_EQ(norm->num_batches_tracked.item<int64_t>(), 1);
  EXPECT_EQ(distance(norm->running_mean, other->running_mean), 0);
  EXPECT_EQ(distance(norm->running_var, other->running_var), 0);
  EXPECT_EQ(distance(norm->weight.grad(), other->weight.grad()), 0);
}

/// A module that checkpoints its inner one.
struct SavingImpl : Cloneable<SavingImpl> {
  SavingImpl() { reset(); }
  void reset() override { net = register_module("net", Net()); }
  Tensor forward(const Tensor& x) { return checkpoint(net, x); }
  Net net{nullptr};
};
TAEDA_MODULE(Saving);

TEST(Checkpoint, WorksInReplicasAndRecoversFromALackOfMemory) {
  manual_seed(3);
  Saving model;
  model->to(sim_device(0));
  const Tensor x = batch_of(8);
  const auto step = [&](auto&& run) {
    run(x).square().sum().backward();
    return take_gradients(*model);
  };
  const std::vector<Tensor> expected = step([&](const Tensor& t) { return model->net(t); });
  DataParallel<SavingImpl> parallel(model, sim_devices(3));
  std::vector<Tensor> actual = step(parallel);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_LT(distance(actual[i], expected[i]), 1e-5);
  {
    const Tensor loss = model(x).square().sum();
    sim::fail_allocation(sim_device(0), 3);
    EXPECT_THAT(error_of([&] { loss.backward(); }), HasSubstr("SIM out of memory"));
    EXPECT_FALSE(taeda::utils::checkpoint::is_recomputing());
    take_gradients(*model);
  }
  actual = step(model);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_LT(distance(actual[i], expected[i]), 1e-5);
}

}  // namespace
}  // namespace taeda::nn
