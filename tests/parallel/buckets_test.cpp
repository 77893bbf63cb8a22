// Tensors that travel together, and gradients that come out of one flat tensor.
#include "taeda/parallel/buckets.h"

#include "common.h"
#include "taeda/autograd/engine.h"
#include "taeda/device/sim_cost.h"
#include "taeda/parallel/comm.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/parts.h"

namespace taeda::nn {
namespace {

using parallel::BucketLimits;
using parallel::FlatLayout;
using parallel::make_buckets;
using ::testing::ElementsAre;

Tensor of_bytes(int64_t bytes, ScalarType dtype = kFloat) {
  return taeda::empty({bytes / element_size(dtype)}, TensorOptions(dtype));
}

TEST(Buckets, HoldNoMoreThanTheirLimitsInTheOrderGiven) {
  const std::vector<Tensor> tensors{of_bytes(40), of_bytes(80), of_bytes(40), of_bytes(200),
                                    of_bytes(40)};
  const std::vector<size_t> alone{0, 1, 2, 3, 4};
  const BucketLimits limits{40, 120};
  EXPECT_THAT(make_buckets(tensors, {4, 2, 1, 3, 0}, alone, limits),
              ElementsAre(ElementsAre(4u), ElementsAre(2u, 1u), ElementsAre(3u), ElementsAre(0u)));
  EXPECT_THAT(make_buckets(tensors, {0, 1}, alone, limits),
              ElementsAre(ElementsAre(0u), ElementsAre(1u)));
  EXPECT_THAT(make_buckets({}, {}, {}, limits), ElementsAre());
  EXPECT_EQ(error_of([&] { make_buckets(tensors, {0}, {0}, limits); }),
            "make_buckets: got 5 tensors and 1 groups");
}

TEST(Buckets, KeepGroupsTogetherAndDtypesApart) {
  const std::vector<Tensor> tensors{of_bytes(40), of_bytes(400), of_bytes(40), of_bytes(64, kLong),
                                    of_bytes(40)};
  EXPECT_THAT(make_buckets(tensors, {0, 1, 2, 3, 4}, {0, 0, 1, 1, 2}, {1, 100}),
              ElementsAre(ElementsAre(0u, 1u), ElementsAre(2u, 4u), ElementsAre(3u)));
}

TEST(FlatLayout, PutsTensorsTogetherInTheOrderOfTheirMemory) {
  const Tensor odd = taeda::arange(3, TensorOptions(kFloat));
  const Tensor even = taeda::arange(32, TensorOptions(kFloat)).reshape({4, 8}).t();
  const Tensor gaps = taeda::arange(8, TensorOptions(kFloat)).reshape({4, 2}).select(1, 1);
  const FlatLayout layout({odd, even, gaps});
  EXPECT_EQ(layout.numel(), 39);
  const Tensor flat = layout.flatten({odd, even, gaps});
  EXPECT_THAT(values(layout.part(flat, 0)), ElementsAre(0, 1, 2));
  EXPECT_EQ(layout.part(flat, 1).strides(), even.strides());
  EXPECT_EQ(layout.part(flat, 1).storage_offset(), 0) << "what is aligned comes first";
  EXPECT_EQ(distance(layout.part(flat, 1), even), 0);
  EXPECT_THAT(values(layout.part(flat, 2)), ElementsAre(1, 3, 5, 7));
  EXPECT_TRUE(layout.fits({odd, even, gaps}));
  EXPECT_FALSE(layout.fits({odd, even.contiguous(), gaps}));
  EXPECT_FALSE(layout.fits({odd, even, gaps.to(kDouble)}));
  EXPECT_EQ(FlatLayout({even}).flatten({even}).data_ptr(), even.data_ptr()) << "copied";
  EXPECT_EQ(error_of([&] {
              FlatLayout({odd, odd.to(kDouble)});
            }),
            "FlatLayout: expected tensors of one dtype, got Float and Double");
}

TEST(FlatLayout, PartsDoNotDisturbEachOther) {
  const std::vector<Tensor> two{taeda::zeros({16}), taeda::zeros({16})};
  const FlatLayout layout(two);
  const Tensor flat = layout.flatten(two);
  const Tensor a = layout.part(flat, 0), b = layout.part(flat, 1);
  const int64_t version = b._version();
  a.add_(1);
  EXPECT_EQ(b._version(), version);
  EXPECT_EQ(holders_of_memory(a), 1u);
  const Tensor view = a.narrow(0, 0, 4);
  EXPECT_EQ(holders_of_memory(a), 2u);
  EXPECT_EQ(holders_of_memory(b), 1u);
  a.set_data(taeda::zeros({2}));
  EXPECT_EQ(holders_of_memory(a), 1u) << "no part any more";
  const Tensor other = a.detach();
  EXPECT_EQ(holders_of_memory(a), 2u);
}

/// Layers of which the second has a parameter that nothing uses.
struct ForkedImpl : Cloneable<ForkedImpl> {
  ForkedImpl() { reset(); }
  void reset() override {
    first = register_module("first", Linear(6, 8));
    second = register_module("second", Linear(8, 4));
    unused = register_parameter("unused", taeda::ones({3}));
  }
  Tensor forward(const Tensor& x) { return second(first(x).tanh()); }
  Linear first{nullptr}, second{nullptr};
  Tensor unused;
};
TAEDA_MODULE(Forked);

struct GradientBuckets : ::testing::Test {
  GradientBuckets() {
    manual_seed(3);
    net->to(sim_device(0));
  }
  std::vector<Tensor> step(DataParallel<ForkedImpl>& model, const Tensor& x) {
    model(x).square().sum().backward();
    return take_gradients(*net);
  }
  Forked net;
};

TEST_F(GradientBuckets, GiveTheSameBitsAsTensorsOneByOne) {
  const Tensor x = batch_of(8);
  // The tree, by hand.
  std::vector<std::vector<Tensor>> parts;
  const std::vector<Tensor> chunks = parallel::scatter_tensor(x, sim_devices(4));
  for (size_t i = 0; i < 4; ++i) {
    Forked alone(
        std::dynamic_pointer_cast<ForkedImpl>(net->clone(sim_device(static_cast<int>(i)))));
    alone(chunks[i]).square().sum().backward();
    parts.push_back(take_gradients(*alone));
  }
  DataParallel<ForkedImpl> model(net, sim_devices(4));
  for (int pass = 0; pass < 3; ++pass) {  // by module at first, then in the order of arrival
    const std::vector<Tensor> gradients = step(model, x);
    for (size_t k = 0; k < gradients.size(); ++k) {
      const Tensor expected =
          parallel::reduce_add({parts[0][k], parts[1][k], parts[2][k], parts[3][k]}, sim_device(0));
      ASSERT_EQ(gradients[k].defined(), expected.defined()) << k;
      if (expected.defined()) {
        EXPECT_EQ(values(gradients[k]), values(expected)) << "pass " << pass << ", number " << k;
      }
    }
  }
}

TEST_F(GradientBuckets, WhatHasNoGradientKeepsNone) {
  DataParallel<ForkedImpl> model(net, sim_devices(3));
  for (int pass = 0; pass < 3; ++pass) {
    net->first->weight.requires_grad_(pass != 1);
    model(batch_of(6)).square().sum().backward();
    EXPECT_FALSE(net->unused.grad().defined());
    EXPECT_EQ(net->first->weight.grad().defined(), pass != 1);
    EXPECT_TRUE(net->first->bias.grad().defined());
    take_gradients(*net);
  }
}

TEST_F(GradientBuckets, AddToGradientsThatAreThere) {
  DataParallel<ForkedImpl> model(net, sim_devices(2));
  const Tensor x = batch_of(6);
  step(model, x);
  const std::vector<Tensor> once = step(model, x);
  model(x).square().sum().backward();
  const Tensor kept = net->first->weight.grad();
  model(x).square().sum().backward();
  EXPECT_TRUE(kept.is_same(net->first->weight.grad()));
  const std::vector<Tensor> twice = take_gradients(*net);
  for (size_t k = 0; k < once.size(); ++k)
    if (once[k].defined()) {
      EXPECT_EQ(distance(twice[k], once[k] * 2), 0) << k;
    }
}

TEST_F(GradientBuckets, SecondDerivativesPassThrough) {
  const Tensor x = batch_of(6);
  const auto second = [&](auto& model) {
    const std::vector<Tensor> leaves{net->first->weight, net->second->bias};
    const auto first = autograd::grad({model(x).square().sum()}, leaves, {}, {}, true);
    return autograd::grad({(first[0].square().sum() + first[1].square().sum())}, leaves);
  };
  const std::vector<Tensor> expected = second(net);
  DataParallel<ForkedImpl> model(net, sim_devices(2));
  step(model, x);
  const std::vector<Tensor> actual = second(model);
  for (size_t k = 0; k < expected.size(); ++k) EXPECT_LT(distance(actual[k], expected[k]), 1e-2);
}

TEST(GradientTransfers, AreFew) {
  sim::configure(4, {.cost = sim::cost_model("h100")});
  {
    manual_seed(3);
    Forked own;
    own->to(sim_device(0));
    DataParallel<ForkedImpl> model(own, sim_devices(4));
    const Tensor x = batch_of(8);
    const auto copies = [] {
      int64_t out = 0;
      for (const Device& d : sim_devices(4)) out += sim::predicted_use(d).copies;
      return out;
    };
    for (int pass = 0; pass < 3; ++pass) {
      const int64_t before = copies();
      const Tensor loss = model(x).square().sum();
      // Inputs, outputs and values.
      EXPECT_LE(copies() - before, 3 + 3 + 3) << pass;
      const int64_t forward = copies();
      loss.backward();
      // Gradients of the outputs, and one bucket for each module, or for all.
      if (pass > 0) {
        EXPECT_LE(copies() - forward, 3 + 3) << pass;
      }
      take_gradients(*own);
    }
  }
  sim::configure(4);
}

/// Large enough for buckets whose halves are added in two directions.
TEST(DataParallel, LargeBucketsHaveTheSameBitsAsATree) {
  manual_seed(3);
  Linear layer(1024, 1100);
  layer->to(sim_device(0));
  const std::vector<Device> devices = sim_devices(4);
  DataParallel<LinearImpl> model(layer.ptr(), devices);
  const Tensor x = taeda::randn({8, 1024}).to(sim_device(0)), w = taeda::randn({8, 1100});
  for (int pass = 0; pass < 2; ++pass) {  // the second has buckets in the order of the first
    model->zero_grad();
    model->forward(x).backward(w.to(sim_device(0)));
    std::vector<Tensor> grads;
    for (int i = 0; i < 4; ++i) {
      Linear one(1024, 1100);
      one->to(sim_device(i));
      const NoGradGuard guard;
      one->weight.copy_(layer->weight);
      one->bias.copy_(layer->bias);
      const AutoGradMode recording(true);
      one->forward(x.narrow(0, 2 * i, 2).to(sim_device(i)))
          .backward(w.narrow(0, 2 * i, 2).to(sim_device(i)));
      grads.push_back(one->weight.grad());
    }
    const Tensor expected = parallel::reduce_add(grads, sim_device(0));
    EXPECT_TRUE(taeda::equal(layer->weight.grad(), expected)) << "pass " << pass;
  }
}

}  // namespace
}  // namespace taeda::nn
