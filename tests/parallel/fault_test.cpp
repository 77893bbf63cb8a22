// Replicas that throw or run out of memory: the error comes out once, the next step works.
#include <stdexcept>

#include "common.h"
#include "taeda/parallel/workers.h"

namespace taeda::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

enum class Fault { None, Value, Standard, Foreign };

struct Strange {};

/// Throws on chosen devices.
struct FragileImpl : Cloneable<FragileImpl> {
  FragileImpl() { reset(); }
  void reset() override { fc = register_module("fc", Linear(6, 2)); }
  Tensor forward(const Tensor& x) {
    if (fault != Fault::None && x.device().index() >= first_bad) {
      if (fault == Fault::Value) throw ValueError("bad value on the device");
      if (fault == Fault::Standard) throw std::out_of_range("beyond the end");
      throw Strange();
    }
    return fc(x);
  }
  Linear fc{nullptr};
  Fault fault = Fault::None;
  int first_bad = 1;
};
TAEDA_MODULE(Fragile);

struct OuterImpl : Cloneable<OuterImpl> {
  OuterImpl() { reset(); }
  void reset() override { inner = register_module("inner", Fragile()); }
  Tensor forward(const Tensor& x) { return inner(x); }
  Fragile inner{nullptr};
};
TAEDA_MODULE(Outer);

struct ReplicaFaults : ::testing::Test {
  ReplicaFaults() {
    net->to(sim_device(0));
    expected = net(x);
    EXPECT_LT(distance(model(x), expected), 1e-5);
  }
  ~ReplicaFaults() override {
    EXPECT_LT(distance(model(x), expected), 1e-5) << "the next step";
    model(x).sum().backward();
    EXPECT_TRUE(net->parameters()[0].grad().defined());
  }
  Outer net;
  Tensor x = batch_of(8), expected;
  DataParallel<OuterImpl> model{net, sim_devices(4)};
};

TEST_F(ReplicaFaults, AnErrorNamesReplicaDeviceAndModule) {
  net->inner->fault = Fault::Value;
  net->inner->first_bad = 2;
  try {
    model(x);
    FAIL() << "the error was lost";
  } catch (const ValueError& e) {
    EXPECT_STREQ(e.what(),
                 "bad value on the device\n"
                 "in module module.inner (Fragile)\n"
                 "Caught ValueError in replica 2 on device sim:2.");
  }
  net->inner->fault = Fault::None;
}

TEST_F(ReplicaFaults, TheFirstReplicaRunsOnTheCallersThread) {
  net->inner->fault = Fault::Value;
  net->inner->first_bad = 0;
  EXPECT_THAT(error_of([&] { model(x); }),
              HasSubstr("Caught ValueError in replica 0 on device sim:0."));
  net->inner->fault = Fault::None;
}

TEST_F(ReplicaFaults, StandardExceptionsKeepTheirType) {
  net->inner->fault = Fault::Standard;
  EXPECT_THROW(model(x), std::out_of_range);
  EXPECT_THAT(error_of([&] { model(x); }),
              AllOf(HasSubstr("beyond the end"), HasSubstr("in replica 1 on device sim:1.")));
  net->inner->fault = Fault::Foreign;
  EXPECT_THROW(model(x), Strange);
  net->inner->fault = Fault::None;
}

TEST_F(ReplicaFaults, OutOfMemoryInTheForwardOfAReplica) {
  sim::fail_allocation(sim_device(1), 2);  // the first is the chunk of the batch
  try {
    model(x);
    FAIL() << "the error was lost";
  } catch (const OutOfMemoryError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("SIM out of memory"),
                                HasSubstr("in module module.inner.fc (Linear)"),
                                HasSubstr("Caught OutOfMemoryError in replica 1 on device sim:1")));
  }
}

TEST_F(ReplicaFaults, OutOfMemoryWhileReplicating) {
  DataParallel<OuterImpl> fresh(net, sim_devices(4));
  sim::fail_allocation(sim_device(2), 2);  // the first is the chunk of the batch
  EXPECT_THAT(
      error_of([&] { fresh(x); }),
      AllOf(HasSubstr("SIM out of memory"), HasSubstr("while replicating Outer to device sim:2")));
}

TEST_F(ReplicaFaults, OutOfMemoryInTheScatterAndInBackward) {
  sim::fail_allocation(sim_device(3), 1);
  EXPECT_THROW(model(x), OutOfMemoryError);
  const Tensor loss = model(x).sum();
  sim::fail_allocation(sim_device(2), 1);
  EXPECT_THROW(loss.backward(), OutOfMemoryError);
}

TEST(RunOnDevices, WorkersAreKeptAndMayNest) {
  std::vector<int> calls(4);
  for (int round = 0; round < 3; ++round)
    parallel::run_on_devices(sim_devices(2), [&](size_t i) {
      parallel::run_on_devices(sim_devices(2), [&, i](size_t k) { ++calls[i * 2 + k]; });
    });
  EXPECT_THAT(calls, ::testing::Each(3));
  parallel::run_on_devices({}, [](size_t) { FAIL(); });
}

}  // namespace
}  // namespace taeda::nn
