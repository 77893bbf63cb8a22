#include "taeda/device/registry.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/device/stream.h"
#include "taeda/device/transfer.h"

namespace taeda {
namespace {

TEST(Registry, TheHostIsAlwaysThere) {
  ASSERT_NE(find_backend(kCPU), nullptr);
  EXPECT_EQ(device_count(kCPU), 1);
  EXPECT_EQ(resolve(Device("cpu:0")), Device(kCPU));
  EXPECT_EQ(resolve(Device(kCPU)), Device(kCPU));
  EXPECT_GT(backend_of(kCPU).properties(0).total_memory, 0);
  size_t free = 0, total = 0;
  backend_of(kCPU).memory_info(0, &free, &total);
  EXPECT_GT(free, 0u);
  EXPECT_GE(total, free);
  synchronize(kCPU);
}

TEST(Registry, CopiesAndZeroesHostMemory) {
  std::vector<char> a(5 << 20, 3), b(5 << 20, 0);
  transfer(b.data(), kCPU, a.data(), kCPU, a.size());
  EXPECT_EQ(a, b);
  fill_zero(b.data(), kCPU, b.size());
  EXPECT_EQ(b, std::vector<char>(5 << 20, 0));
  transfer(nullptr, kCPU, nullptr, kCPU, 0);
}

TEST(HostStream, IsAlwaysDone) {
  const Stream s = current_stream(kCPU);
  EXPECT_EQ(s, default_stream(kCPU));
  EXPECT_EQ(s, new_stream(kCPU));
  EXPECT_TRUE(s.query());
  s.synchronize();
  StreamGuard guard(s);
  EXPECT_EQ(current_stream(kCPU), s);
}

TEST(HostEvent, MeasuresTimeAndRefusesWithoutTiming) {
  Event start(true), end(true), plain;
  EXPECT_TRUE(plain.query());
  plain.synchronize();
  EXPECT_THROW(start.elapsed_time(end), Error);
  start.record(current_stream(kCPU));
  end.record(current_stream(kCPU));
  EXPECT_GE(start.elapsed_time(end), 0.0);
  plain.record(current_stream(kCPU));
  EXPECT_THROW(plain.elapsed_time(end), Error);
  current_stream(kCPU).wait_event(plain);
  Event moved = std::move(plain);
  EXPECT_EQ(plain.handle(), nullptr);
  EXPECT_NE(moved.handle(), nullptr);
}

}  // namespace
}  // namespace taeda
