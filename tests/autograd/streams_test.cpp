// Backward passes over graphs that were made on several streams, devices and threads. Gates hold a
// stream back until the test has queued everything, so that a missing wait gives a wrong result
// every time.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/function.h"
#include "taeda/autograd/sequence.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/random.h"

namespace taeda {
namespace {

const Device kDevice("sim:0"), kOther("sim:1");

Tensor filled(double value, Device device = kDevice) {
  return full({64}, value, device).requires_grad_();
}
/// The value that all elements have; nan if they differ.
double value_of(const Tensor& t) {
  const Tensor host = t.detach().cpu();
  const double first = host.select(0, 0).item<double>();
  return host.eq(first).all().item<bool>() ? first : std::nan("");
}

/// f(x), computed on a stream of its own that the current one waits for.
template <class F>
Tensor on_stream(const Stream& stream, const F& f) {
  const Stream here = current_stream(stream.device());
  stream.wait_stream(here);
  Tensor out;
  {
    StreamGuard guard(stream);
    out = f();
  }
  here.wait_stream(stream);
  return out;
}

TEST(BackwardStreams, ASumWaitsForBothProducers) {
  for (const bool first_is_slow : {true, false}) {
    const Stream a = new_stream(kDevice), b = new_stream(kDevice);
    const Tensor x = filled(1), h = x * 2;
    const Tensor y = on_stream(a, [&] { return h * 3; }) + on_stream(b, [&] { return h * 5; });
    synchronize(kDevice);
    sim::Gate gate;
    sim::delay_stream(first_is_slow ? a : b, gate);
    y.backward(ones({64}, kDevice));
    (first_is_slow ? b : a).synchronize();
    gate.open();
    EXPECT_EQ(value_of(x.grad()), 16);
  }
}

TEST(BackwardStreams, TheRootsGradientIsWaitedFor) {
  const Stream side = new_stream(kDevice);
  const Tensor x = filled(1);
  const Tensor y = on_stream(side, [&] { return (x * 4).sum(); });
  synchronize(kDevice);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  y.backward();  // its one is made on the default stream
  EXPECT_FALSE(side.query());
  gate.open();
  EXPECT_EQ(value_of(x.grad()), 4);
}

TEST(BackwardStreams, TheCallerWaitsForLeavesOfOtherStreams) {
  const Stream side = new_stream(kDevice);
  Tensor x, y;
  {
    StreamGuard guard(side);
    x = filled(1);
    y = x * 7;
  }
  synchronize(kDevice);
  sim::Gate gate;
  sim::delay_stream(side, gate);
  y.backward(ones({64}, kDevice), true);
  const Tensor used = x.grad() * 1;
  const std::vector<Tensor> given = autograd::grad({y * 1}, {x}, {ones({64}, kDevice)});
  const Tensor used_too = given[0] * 1;
  EXPECT_FALSE(default_stream(kDevice).query());
  gate.open();
  EXPECT_EQ(value_of(used), 7);
  EXPECT_EQ(value_of(used_too), 7);
}

TEST(BackwardStreams, AGradientFromTheHostIsWaitedFor) {
  const Stream side = new_stream(kDevice);
  Tensor x, h;
  {
    StreamGuard guard(side);
    x = filled(1);
    h = x * 3;
  }
  synchronize(kDevice);
  const Tensor y = h.cpu() * 2;
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  y.backward(ones({64}));  // the copy to the device is queued on the default stream
  EXPECT_FALSE(side.query());
  gate.open();
  EXPECT_EQ(value_of(x.grad()), 6);
}

TEST(BackwardStreams, AGradientThatCrossesDevicesIsWaitedFor) {
  const Stream here = new_stream(kDevice), there = new_stream(kOther);
  const Tensor x = filled(1);
  const Tensor y = on_stream(here, [&] { return x * 2; });
  const Tensor moved = on_stream(there, [&] { return y.to(kOther) * 3; });
  synchronize(kDevice);
  synchronize(kOther);
  sim::Gate gate;
  sim::delay_stream(there, gate);
  (moved * 5).backward(ones({64}, kOther));
  EXPECT_FALSE(here.query());
  gate.open();
  EXPECT_EQ(value_of(x.grad()), 30);
  EXPECT_EQ(x.grad().device(), kDevice);
}

TEST(BackwardStreams, MemoryOfAGradientIsKeptForItsReader) {
  const Stream side = new_stream(kDevice);
  const Tensor x = filled(1);
  Tensor y;
  {
    StreamGuard guard(side);
    side.wait_stream(default_stream(kDevice));
    y = x * 1;  // so that the accumulator belongs to the side stream
  }
  const Tensor z = x * 11;
  synchronize(kDevice);
  sim::Gate gate;
  sim::delay_stream(side, gate);
  z.backward(ones({64}, kDevice));  // made on the default stream, copied or kept on the side stream
  // What the default stream is given now must not be memory that the side stream has yet to read.
  const Tensor other = full({64}, -1.0, kDevice);
  gate.open();
  EXPECT_EQ(value_of(x.grad()), 11);
  EXPECT_EQ(value_of(other), -1);
}

/// x on both devices; its gradients come back and are added.
struct ToBoth : autograd::Function<ToBoth> {
  static autograd::variable_list forward(autograd::AutogradContext*, const Tensor& x) {
    return {x.clone(), x.to(kOther)};
  }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list g) {
    return {g[0] + g[1].to(kDevice)};
  }
};

TEST(BackwardStreams, ANodeWithOutputsOnSeveralDevices) {
  for (const bool first_is_slow : {true, false}) {
    const Stream here = new_stream(kDevice), there = new_stream(kOther);
    const Tensor x = filled(1);
    const autograd::variable_list both = ToBoth::apply(x);
    const Tensor a = on_stream(here, [&] { return both[0] * 2; });
    const Tensor b = on_stream(there, [&] { return both[1] * 3; });
    synchronize(kDevice);
    synchronize(kOther);
    sim::Gate gate;
    sim::delay_stream(first_is_slow ? here : there, gate);
    autograd::backward({a, b}, {ones({64}, kDevice), ones({64}, kOther)});
    (first_is_slow ? there : here).synchronize();
    gate.open();
    EXPECT_EQ(value_of(x.grad()), 5);
  }
}

/// Parts of one graph, each built on a thread of its own that numbers its nodes from
/// `first_numbers[t]` on.
std::vector<Tensor> build_on_threads(const Tensor& shared,
                                     const std::vector<uint64_t>& first_numbers) {
  const int threads = static_cast<int>(first_numbers.size());
  std::vector<Tensor> parts(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      autograd::set_next_sequence_nr(first_numbers[static_cast<size_t>(t)]);
      Tensor h = shared;
      for (int i = 0; i <= t; ++i) h = h.matmul(shared).tanh();
      parts[static_cast<size_t>(t)] = h;
    });
  for (std::thread& t : running) t.join();
  return parts;
}

TEST(BackwardThreads, OnePassRunsOverPartsOfSeveralThreads) {
  manual_seed(0);
  const Tensor x = (rand({4, 4}, kDouble) * 0.5).requires_grad_();
  Tensor sum, expected_sum;
  const Tensor shared = x * 1.5;
  for (const Tensor& part : build_on_threads(shared, {0, 1000000, 0, 1000000}))
    sum = sum.defined() ? sum + part : part;
  sum.sum().backward();
  const Tensor result = x.grad();
  x.mutable_grad().reset();
  const Tensor again = x * 1.5;
  for (int t = 0; t < 4; ++t) {
    Tensor h = again;
    for (int i = 0; i <= t; ++i) h = h.matmul(again).tanh();
    expected_sum = expected_sum.defined() ? expected_sum + h : h;
  }
  expected_sum.sum().backward();
  EXPECT_LT((result - x.grad()).abs().max().item<double>(), 1e-12);
}

TEST(BackwardThreads, TheResultIsTheSameEveryTime) {
  manual_seed(1);
  const Tensor x = (rand({4, 4}) * 0.5).requires_grad_();
  Tensor first;
  for (int round = 0; round < 5; ++round) {
    x.mutable_grad().reset();
    Tensor sum;
    const Tensor shared = x * 1.5;
    const std::vector<uint64_t> together(4, autograd::next_sequence_nr());
    for (const Tensor& part : build_on_threads(shared, together))
      sum = sum.defined() ? sum + part : part;
    sum.sum().backward();
    if (round == 0) first = x.grad().clone();
    EXPECT_TRUE(x.grad().equal(first)) << "round " << round;
  }
}

}  // namespace
}  // namespace taeda
