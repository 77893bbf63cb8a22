// Non-blocking copies and the host. A stream that is held back shows what happens to a program that
// does not wait: what has not arrived is not read, and what has not left is not changed.
#include <gmock/gmock.h>

#include <functional>

#include "taeda/base/error.h"
#include "taeda/device/host_copies.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/tensor/print.h"
#include "tests/error_of.h"
#include "tests/sim/devices.h"

namespace taeda {
namespace {

using testing::HasSubstr;

using sim_tests::kDevice;
constexpr double kSoon = 10;  // milliseconds: long enough for a reader that does not wait

Tensor on_device(double value, int64_t n = 1000) {
  const Tensor t = full({n}, value, TensorOptions(kFloat).device(kDevice));
  synchronize(kDevice);
  return t;
}

Tensor pinned(double value, int64_t n = 1000) { return full({n}, value, kFloat).pin_memory(); }

void hold_back() { sim::delay_stream(default_stream(kDevice), kSoon); }

struct StrictCopies {
  StrictCopies() { set_strict_copies(true); }
  ~StrictCopies() { set_strict_copies(false); }
};

TEST(NonBlocking, WhateverReadsWaitsForWhatArrives) {
  const Tensor x = on_device(7);
  const std::vector<std::function<double(const Tensor&)>> readers = {
      [](const Tensor& t) { return double{t.data_ptr<float>()[999]}; },
      [](const Tensor& t) { return t.select(0, 999).item<double>(); },
      [](const Tensor& t) { return (t + 1)[999].item<double>() - 1; },
      [](const Tensor& t) { return t.clone()[0].item<double>(); },
      [](const Tensor& t) { return t.narrow(0, 5, 1).repr() == "tensor([7.])" ? 7. : 0.; },
      [](const Tensor& t) { return t.to(kDevice)[999].item<double>(); }};
  for (size_t i = 0; i < readers.size(); ++i) {
    hold_back();
    const Tensor host = x.to(kCPU, /*non_blocking=*/true);
    EXPECT_TRUE(host.is_cpu() && host.is_pinned());
    EXPECT_EQ(readers[i](host), 7) << "reader " << i;
  }
}

TEST(NonBlocking, CopyIntoPinnedMemoryReturnsAtOnceAndIsWaitedFor) {
  const Tensor x = on_device(3), host = pinned(0), rows = zeros({4, 1000}).pin_memory();
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  host.copy_(x, true);
  for (int64_t i = 0; i < 4; ++i) rows[i].copy_(x, true);  // one buffer, several copies
  EXPECT_FALSE(default_stream(kDevice).query());
  gate.open();
  EXPECT_EQ(host.sum().item<float>(), 3000);
  EXPECT_EQ(rows.sum().item<float>(), 12000);
}

TEST(NonBlocking, TheHostWaitsBeforeItChangesWhatLeaves) {
  const Tensor x = on_device(0), source = pinned(1);
  hold_back();
  x.copy_(source, true);
  source.fill_(2);
  EXPECT_EQ(x.sum().item<float>(), 1000);
}

TEST(NonBlocking, FreedMemoryIsKeptForTheCopy) {
  const Tensor x = on_device(0);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  {
    const Tensor source = pinned(1);
    x.copy_(source, true);
  }
  const Tensor other = pinned(2);  // of the same size: would get the same block
  gate.open();
  EXPECT_EQ(x.sum().item<float>(), 1000);
}

TEST(NonBlocking, CopiesThatShareHostMemoryKeepTheirOrder) {
  const Tensor x = on_device(5), y = on_device(0), host = pinned(0);
  const Stream side = new_stream(kDevice);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  host.copy_(x, true);
  {
    const StreamGuard guard(side);
    y.copy_(host, true);  // reads what has not arrived: waits, on the device
  }
  EXPECT_FALSE(side.query());
  gate.open();
  side.synchronize();
  EXPECT_EQ(y.sum().item<float>(), 5000);

  sim::Gate second;
  sim::delay_stream(default_stream(kDevice), second);
  y.copy_(host, true);
  {
    const StreamGuard guard(side);
    x.copy_(host, true);  // both only read
  }
  side.synchronize();
  EXPECT_FALSE(default_stream(kDevice).query());
}

TEST(NonBlocking, OtherCopiesBlock) {
  const Tensor x = on_device(4, 100000), pageable = zeros({100000});
  hold_back();
  pageable.copy_(x, true);
  EXPECT_TRUE(default_stream(kDevice).query());
  hold_back();
  EXPECT_EQ(x.to(kCPU, kDouble, true)[99999].item<double>(), 4);
  hold_back();
  const Tensor columns = x.reshape({100, 1000}).t().to(Device(kCPU), true);
  EXPECT_EQ(columns[999][99].item<float>(), 4);
}

TEST(NonBlocking, StrictModeThrowsInsteadOfWaiting) {
  const Tensor x = on_device(6), source = pinned(1);
  const StrictCopies strict;
  EXPECT_TRUE(strict_copies());
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  const Tensor host = x.to(Device(kCPU), true);
  EXPECT_EQ(error_of([&] { host[0].item(); }),
            "the host asked for memory that a non-blocking copy on sim:0, stream 0, still writes: "
            "synchronize the stream first, or turn strict copies off to wait here");
  x.copy_(source, true);
  EXPECT_THAT(error_of([&] { source.fill_(2); }), HasSubstr("stream 0, still reads: "));
  gate.open();
  synchronize(kDevice);
  EXPECT_EQ(host[0].item<float>(), 6);
  source.fill_(2);
  EXPECT_EQ(x[0].item<float>(), 1);
}

TEST(NonBlocking, AnErrorOfTheDeviceReachesTheReader) {
  const Tensor x = on_device(1);
  hold_back();
  sim::launch(default_stream(kDevice), "broken", [] { throw ValueError("no good"); });
  const Tensor host = x.to(Device(kCPU), true);
  EXPECT_THROW(host.data_ptr(), ValueError);
  EXPECT_EQ(host[0].item<float>(), 1);
}

}  // namespace
}  // namespace taeda
