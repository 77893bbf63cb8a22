// Bad input on the device under test: named errors, and the device stays usable. Priorities of
// streams.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "common.h"
#include "taeda/device/cuda.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"

namespace taeda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BadInput : public OnDevice<> {
 protected:
  void TearDown() override {
    if (!IsSkipped()) {
      EXPECT_EQ(ones({3}, device_).sum().item<double>(), 3) << "the device goes on";
    }
  }
};

TEST_F(BadInput, DevicesThatDoNotExist) {
  const int n = device_count(device_.type());
  const std::string type = to_string(device_.type());
  const auto error = HasSubstr(detail::concat(
      "invalid device ordinal: ", type, ":", n, " was asked for, but there ",
      n == 1 ? "is 1 " : detail::concat("are ", n, " "), type, n == 1 ? " device" : " devices"));
  const Device missing(device_.type(), n);
  EXPECT_THAT(error_of([&] { set_device(missing); }), error);
  EXPECT_THAT(error_of([&] { ones({2}).to(missing); }), error);
  EXPECT_THAT(error_of([&] { new_stream(missing); }), error);
  EXPECT_THAT(error_of([&] { synchronize(missing); }), error);
  EXPECT_THAT(error_of([&] { allocator::memory_stats(missing); }), error);
}

TEST_F(BadInput, TensorsOnDifferentDevices) {
  const Tensor here = ones({2, 2}, device_), host = ones({2, 2});
  const auto error =
      AllOf(HasSubstr("on the same device"), HasSubstr(device_.str()), HasSubstr("cpu"));
  EXPECT_THAT(error_of([&] { here + host; }), error);
  EXPECT_THAT(error_of([&] { here.matmul(host); }), error);
  EXPECT_THAT(error_of([&] { cat({here, host}); }), error);
  if (device_count(device_.type()) < 2) return;
  const Device peer = device_under_test(1);
  EXPECT_THAT(error_of([&] {
                here + ones({2, 2}, peer);
              }),
              AllOf(HasSubstr("on the same device"), HasSubstr(peer.str())));
}

TEST_F(BadInput, KernelsThatDoNotExistForADtype) {
  const Tensor flags = ones({2, 2}, TensorOptions(kBool).device(device_));
  EXPECT_THAT(error_of([&] { flags.matmul(flags).cpu(); }),
              AllOf(HasSubstr("not implemented for 'Bool'"), HasSubstr("addmm")));
}

TEST_F(BadInput, IndicesThatKernelsFindOutOfRange) {
  const Tensor x = ones({4, 5}, device_), index = tensor({1, 4}).to(device_);
  const std::string error = error_of([&] { x.index_select(0, index).cpu(); });
  EXPECT_THAT(error, AllOf(HasSubstr("index out of range in self"), HasSubstr("raised by"),
                           HasSubstr(device_.str())));
  const char* blocking = std::getenv("TAEDA_LAUNCH_BLOCKING");
  if (!blocking || std::string(blocking) != "1") {
    EXPECT_THAT(error, HasSubstr("TAEDA_LAUNCH_BLOCKING=1"));
  }
}

TEST_F(BadInput, WhatIsLeftAfterEmptyCache) {
  const Tensor kept = full({1000}, 7., device_);
  Tensor freed = ones({1 << 21}, device_);
  void* stale = freed.data_ptr();
  freed.reset();
  allocator::empty_cache(device_);
  EXPECT_EQ(kept.sum().item<double>(), 7000);
  EXPECT_THAT(error_of([&] { allocator::record_stream(device_, stale, new_stream(device_).id()); }),
              HasSubstr("the memory was not allocated by this device's allocator"));
  allocator::empty_cache(device_);
  EXPECT_EQ((kept + 1).sum().item<double>(), 8000);
}

TEST_F(BadInput, EventsThatCannotMeasure) {
  Event plain, begin(true), end(true);
  EXPECT_THAT(error_of([&] { plain.elapsed_time(end); }),
              HasSubstr("Both events must be created with argument 'enable_timing=True'."));
  EXPECT_THAT(error_of([&] { begin.elapsed_time(end); }),
              HasSubstr("Both events must be recorded before calculating elapsed time."));
  EXPECT_TRUE(begin.query()) << "nothing to wait for";
  begin.record(current_stream(device_));
  begin.wait(new_stream(device_));
  begin.synchronize();
  if (device_count(device_.type()) < 2) return;
  end.record(current_stream(device_under_test(1)));
  EXPECT_THAT(error_of([&] { begin.elapsed_time(end); }),
              HasSubstr("Both events must be on the same device"));
  EXPECT_THAT(error_of([&] { end.record(current_stream(device_)); }),
              HasSubstr("does not match recording stream's device"));
}

class Streams : public OnDevice<> {};

TEST_F(Streams, HavePriorities) {
  const PriorityRange range = stream_priority_range(device_);
  EXPECT_EQ(range.least, 0);
  EXPECT_LE(range.greatest, 0);
  EXPECT_GE(range.greatest, -3);
  EXPECT_EQ(default_stream(device_).priority(), 0);
  EXPECT_EQ(new_stream(device_).priority(), 0);
  EXPECT_EQ(new_stream(device_, 5).priority(), 0);
  EXPECT_EQ(new_stream(device_, -100).priority(), range.greatest);
  for (int p = range.greatest; p <= range.least; ++p)
    EXPECT_EQ(new_stream(device_, p).priority(), p);
  // Other code's stream, by its handle.
  const Stream made = new_stream(device_, -1);
  const Stream same = external_stream(device_, reinterpret_cast<void*>(made.id()));
  EXPECT_EQ(same, made);
  {
    const StreamGuard guard(same);
    EXPECT_EQ(ones({4}, device_).sum().item<double>(), 4);
  }
  EXPECT_THAT(error_of([&] { external_stream(kCPU, nullptr); }),
              HasSubstr("the CPU has no streams of others"));
  if (device_.is_cuda()) {
    EXPECT_EQ(cuda::Stream::priority_range(), std::pair(range.least, range.greatest));
    EXPECT_EQ(cuda::Stream(0, -1).priority(), std::max(-1, range.greatest));
  } else {
    EXPECT_THAT(error_of([&] {
                  external_stream(device_, reinterpret_cast<void*>(intptr_t{9999})).priority();
                }),
                HasSubstr("has no stream 9999"));
  }
}

// The same under the name of a real device, in a process of its own, which asks the environment.
TEST(BadInputAsCuda, BlockingLaunchesNameTheOperation) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto works = [] {
    setenv("TAEDA_LAUNCH_BLOCKING", "1", 1);
    if (!std::getenv("TAEDA_TEST_DEVICE")) setenv("TAEDA_SIM_AS_CUDA", "2", 1);
    if (!cuda::is_available()) return true;
    const Tensor x = ones({4, 5}, Device("cuda:0")), index = tensor({1, 4}).to(Device("cuda:0"));
    const std::string error = error_of([&] { x.index_select(0, index); });
    return error.find("index out of range in self") != std::string::npos &&
           error.find("(raised by kernel 'index' on cuda:0)") != std::string::npos &&
           x.sum().item<double>() == 20;
  };
  EXPECT_EXIT(std::exit(works() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace taeda
