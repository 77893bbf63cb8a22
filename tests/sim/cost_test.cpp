// Predicted times against sums done by hand. In the model of these tests a byte and a
// floating-point operation take a nanosecond each.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/attention.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/parallel/workers.h"
#include "tests/sim/devices.h"

namespace taeda {
namespace {

using testing::HasSubstr;

using sim_tests::kDevice, sim_tests::kPeer;

const sim::CostModel kModel = {.name = "by hand",
                               .memory_bandwidth = 1e9,
                               .float64 = 0.5e9,
                               .float32 = 1e9,
                               .half = 4e9,
                               .launch_latency = 1e-6,
                               .shortest_kernel = 5e-6,
                               .host_bandwidth = 1e9,
                               .pageable_bandwidth = 0.5e9,
                               .host_latency = 2e-6,
                               .peer_bandwidth = 2e9,
                               .peer_latency = 3e-6};

struct Prediction : testing::Test {
  Prediction() { sim::configure(2, {.cost = kModel}); }
  ~Prediction() override { sim::configure(2); }

  static void synchronize_all() {
    synchronize(kDevice);
    synchronize(kPeer);
  }
  /// Nanoseconds that the host takes for `work` until all devices are done.
  template <class F>
  static int64_t time(F&& work) {
    synchronize_all();
    const double before = sim::predicted_time();
    work();
    synchronize_all();
    return std::llround((sim::predicted_time() - before) * 1e9);
  }
  static void kernel(const Stream& stream) {
    sim::launch(stream, "work", [] {});
  }
  static Tensor floats(IntArrayRef sizes, ScalarType dtype = kFloat) {
    return zeros(sizes, TensorOptions(dtype).device(kDevice));
  }
};

TEST_F(Prediction, AChainOfKernels) {
  const Tensor a = floats({1000}), b = floats({1000}), out = floats({1000});
  // Launch 1000, three tensors of 4000 bytes; the second launch is over before the first kernel.
  EXPECT_EQ(time([&] { add(a, b); }), 1000 + 12000);
  EXPECT_EQ(time([&] {
              add(a, b);
              add(a, b);
            }),
            1000 + 2 * 12000);
  // The addend of one element is read once; small kernels take the shortest time.
  EXPECT_EQ(time([&] { add(a, b.narrow(0, 0, 1).expand({1000})); }), 1000 + 8004);
  EXPECT_EQ(time([&] { out.narrow(0, 0, 10).fill_(1); }), 1000 + 5000);
}

TEST_F(Prediction, ProductsCountTheirOperations) {
  const Tensor a = floats({100, 200}), b = floats({200, 50});
  EXPECT_EQ(time([&] { mm(a, b); }), 1000 + 2 * 100 * 50 * 200);
  const Tensor ad = a.to(kDouble), bd = b.to(kDouble), ah = a.to(kHalf), bh = b.to(kHalf);
  EXPECT_EQ(time([&] { matmul(ad, bd); }), 1000 + 2 * (2 * 100 * 50 * 200));
  EXPECT_EQ(time([&] { matmul(ah, bh); }), 1000 + 2 * 100 * 50 * 200 / 4);
  const Tensor x = floats({2, 4, 8, 8}), w = floats({6, 2, 3, 3});
  const sim::PredictedUse before = sim::predicted_use(kDevice);
  conv2d(x, w, {}, 1, 1, 1, /*groups=*/2);
  EXPECT_EQ(sim::predicted_use(kDevice).flops - before.flops, 2. * (2 * 6 * 8 * 8) * (2 * 3 * 3));
  const Tensor q = floats({2, 3, 10, 4}).requires_grad_(), v = floats({2, 3, 10, 6});
  for (const bool causal : {false, true}) {
    const double start = sim::predicted_use(kDevice).flops, scores = 2. * 3 * 10 * 10;
    const Tensor y = scaled_dot_product_attention(q, q, v, {}, 0, causal);
    const double forward = sim::predicted_use(kDevice).flops - start;
    EXPECT_EQ(forward, (causal ? 0.5 : 1) * 2 * scores * (4 + 6));
    y.sum().backward();
    EXPECT_EQ(sim::predicted_use(kDevice).flops - start - forward,
              (causal ? 0.5 : 1) * 2 * scores * (3 * 4 + 2 * 6));
  }
}

TEST_F(Prediction, StreamsOverlapUnlessTheyWait) {
  const Stream a = new_stream(kDevice), b = new_stream(kDevice);
  EXPECT_EQ(time([&] {
              kernel(a);
              kernel(b);
            }),
            2000 + 5000);
  EXPECT_EQ(time([&] {
              kernel(a);
              b.wait_stream(a);
              kernel(b);
            }),
            1000 + 5000 + 5000);
  EXPECT_EQ(time([&] {
              kernel(a);
              a.synchronize();  // the host does not launch b's before
              kernel(b);
            }),
            2 * (1000 + 5000));
}

TEST_F(Prediction, AReplayIsOneLaunchOfWhatWasCaptured) {
  const Stream a = new_stream(kDevice), b = new_stream(kDevice);
  sim::CUDAGraph chain, fork, copies;
  {
    const GraphCapture capture(chain, 0, a);
    for (int i = 0; i < 3; ++i) kernel(a);
  }
  EXPECT_EQ(time([&] { chain.replay(); }), 1000 + 3 * 5000);
  EXPECT_EQ(time([&] {
              chain.replay();
              chain.replay();
            }),
            1000 + 6 * 5000);
  {
    const GraphCapture capture(fork, 0, a);
    kernel(a);
    b.wait_stream(a);
    kernel(a);
    kernel(b);
    kernel(b);
    a.wait_stream(b);
    kernel(a);
  }
  const sim::PredictedUse before = sim::predicted_use(kDevice);
  EXPECT_EQ(time([&] { fork.replay(); }), 1000 + (1 + 2 + 1) * 5000);
  EXPECT_EQ(sim::predicted_use(kDevice).kernels - before.kernels, 5);
  const Tensor x = floats({1000}), host = zeros({1000}).pin_memory();
  if (!host.is_pinned()) return;
  {
    const GraphCapture capture(copies, 0, a);
    x.copy_(host, true);
    x.add_(1);
  }
  EXPECT_EQ(time([&] { copies.replay(); }), 1000 + (2000 + 4000) + 8000);
}

TEST_F(Prediction, EventsMeasurePredictedTime) {
  const Stream s = new_stream(kDevice);
  Event start(true), middle(true), end(true);
  start.record(s);
  kernel(s);
  middle.record(s);
  sim::delay_stream(s, 0.5);
  end.record(s);
  const double before = sim::predicted_time();
  middle.synchronize();
  EXPECT_NEAR(sim::predicted_time() - before, 5e-6, 1e-12);
  end.synchronize();
  EXPECT_NEAR(start.elapsed_time(middle), 0.006, 1e-9);
  EXPECT_NEAR(middle.elapsed_time(end), 0.5, 1e-9);
}

TEST_F(Prediction, CopiesOverlapWithComputing) {
  const Tensor a = floats({100, 200}), b = floats({200, 50});
  const Tensor host = zeros({250000}).pin_memory();
  const Tensor there = floats({250000}), elsewhere = floats({250000});
  const int64_t product = 2'000'000, copy = 2000 + 1'000'000;
  const Stream side = new_stream(kDevice);
  EXPECT_EQ(time([&] {
              mm(a, b);
              const StreamGuard guard(side);
              there.copy_(host, true);
            }),
            1000 + product);
  EXPECT_EQ(time([&] {
              mm(a, b);
              there.copy_(host, true);
            }),
            1000 + product + copy);
  // One link into the device: two copies follow each other even on two streams.
  EXPECT_EQ(time([&] {
              there.copy_(host, true);
              const StreamGuard guard(side);
              elsewhere.copy_(host, true);
            }),
            1000 + 2 * copy);
}

TEST_F(Prediction, PageableMemoryHoldsTheHostUp) {
  const Tensor large = zeros({250000}), small = zeros({100});
  const Tensor there = floats({250000});
  EXPECT_EQ(time([&] { there.copy_(large); }), 1000 + 2000 + 2'000'000);
  synchronize_all();
  const double before = sim::predicted_time();
  there.narrow(0, 0, 100).copy_(small);  // staged: the host goes on
  EXPECT_NEAR(sim::predicted_time() - before, 1e-6, 1e-12);
  const sim::PredictedUse use = sim::predicted_use(kDevice);
  there.cpu();
  EXPECT_EQ(sim::predicted_use(kDevice).copied_bytes - use.copied_bytes, 1'000'000);
  EXPECT_EQ(sim::predicted_use(kDevice).copies - use.copies, 1);
}

TEST_F(Prediction, PeersShareTheirLinks) {
  const Tensor a = floats({1000}), b = zeros({1000}, TensorOptions(kFloat).device(kPeer));
  const int64_t copy = 3000 + 2000;
  EXPECT_EQ(time([&] { b.copy_(a); }), 1000 + copy);
  EXPECT_EQ(time([&] {
              b.copy_(a);
              b.copy_(a);
            }),
            1000 + 2 * copy);
  sim::delay_link(kDevice, kPeer, 1.0);
  EXPECT_EQ(time([&] { b.copy_(a); }), 1000 + copy + 1'000'000);
  sim::delay_link(kDevice, kPeer, 0.0);
}

TEST_F(Prediction, ThreadsOfReplicasRunBesideEachOther) {
  const auto work = [](size_t i) {
    for (int k = 0; k < 10; ++k) kernel(default_stream(Device(kSim, static_cast<int>(i))));
  };
  EXPECT_EQ(time([&] { nn::parallel::run_on_devices({kDevice, kPeer}, work); }), 1000 + 10 * 5000);
  EXPECT_EQ(time([&] {
              work(0);
              work(1);
            }),
            10 * 1000 + 1000 + 10 * 5000);
}

TEST(CostModel, PresetsAndErrors) {
  EXPECT_EQ(sim::cost_model("h100").half, 989.5e12);
  EXPECT_EQ(sim::cost_model("a100").float32, 19.5e12);
  EXPECT_EQ(sim::cost_model("t4").memory_bandwidth, 0.32e12);
  for (const char* name : {"RTX 4090", "rtx-4090", "rtx4090"})
    EXPECT_EQ(sim::cost_model(name).name, "rtx4090");
  try {
    sim::cost_model("h1000");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(),
                 "cost model: expected one of b200, h200, h100, a100, l40s, rtx4090, v100, p100, "
                 "t4, got 'h1000'");
  }
}

/// A device that tells times without computing.
struct TimesOnly : Prediction {
  static void compute(bool on) { sim::configure(2, {.cost = kModel, .compute = on}); }
  /// Nanoseconds, and bytes allocated at most, of a product, its gradients and a reduction.
  static std::pair<int64_t, int64_t> step() {
    sim::reset_peak_memory_stats(0);
    const int64_t took = time([] {
      const Tensor a = floats({64, 32}).requires_grad_(), b = floats({32, 16});
      mm(a, b).relu().sum().backward();
    });
    return {took, sim::max_memory_allocated(0)};
  }
};

TEST_F(TimesOnly, CostWhatTheyCostOtherwise) {
  const auto computed = step();
  compute(false);
  EXPECT_EQ(step(), computed);
  EXPECT_GT(computed.first, 2 * 64 * 32 * 16);
}

TEST_F(TimesOnly, TouchNoMemoryOfTheHost) {
  sim::configure(1, {.memory = size_t{64} << 30, .cost = kModel, .compute = false});
  const Tensor large = ones({int64_t{8} << 30}, TensorOptions(kFloat).device(kDevice));
  EXPECT_EQ(sim::memory_allocated(0), int64_t{32} << 30);
  EXPECT_THROW(floats({int64_t{9} << 30}), OutOfMemoryError);
}

TEST_F(TimesOnly, HaveNoValues) {
  compute(false);
  const Tensor a = floats({4});
  for (const auto& read : std::vector<std::function<void()>>{
           [&] { a.sum().item(); }, [&] { a.cpu(); }, [&] { a.nonzero(); }})
    try {
      read();
      FAIL();
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr("it only predicts times (sim::Options::compute is false)"));
    }
  a.copy_(ones({4}));  // to the device is no question about values
  synchronize(kDevice);
}

TEST_F(TimesOnly, AreForgottenByTheNextConfiguration) {
  compute(false);
  floats({4});
  compute(true);
  EXPECT_EQ(floats({4}).add(1).sum().item<float>(), 4);
}

TEST(CostModel, NothingIsPredictedWithoutOne) {
  const double before = sim::predicted_time();
  ones({1000}, TensorOptions(kFloat).device(kDevice)).sum().item();
  EXPECT_EQ(sim::predicted_time(), before);
}

}  // namespace
}  // namespace taeda
