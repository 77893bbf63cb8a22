// Streams, events and copies of simulated devices. Gates make every order deterministic.
#include "taeda/device/stream.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/device/storage.h"
#include "taeda/device/transfer.h"
#include "tests/sim/devices.h"

namespace taeda {
namespace {

using testing::HasSubstr;

using sim_tests::kDevice;

/// A block of ints on a device.
struct Block {
  explicit Block(int n, Device d = kDevice)
      : storage(Storage::allocate(d, sizeof(int) * static_cast<size_t>(n))), n(n) {}
  int* address() const { return static_cast<int*>(storage->data()); }
  int* view() const { return sim::host_view(storage->device(), address()); }
  size_t bytes() const { return sizeof(int) * static_cast<size_t>(n); }
  std::vector<int> read() const {
    std::vector<int> out(static_cast<size_t>(n));
    transfer(out.data(), kCPU, address(), storage->device(), bytes());
    return out;
  }
  void write(const std::vector<int>& values) const {
    transfer(address(), storage->device(), values.data(), kCPU, bytes());
  }
  Storage storage;
  int n;
};

/// Queues "every element of `b` becomes `value`" on a stream.
void fill(const Stream& s, const Block& b, int value) {
  sim::launch(s, "fill", [p = b.view(), n = b.n, value] { std::fill_n(p, n, value); });
}
/// Queues "to = from".
void assign(const Stream& s, const Block& to, const Block& from) {
  sim::launch(s, "assign", [t = to.view(), f = from.view(), n = to.n] { std::copy_n(f, n, t); });
}

TEST(SimStream, RunsWorkInOrder) {
  const Stream s = new_stream(kDevice);
  std::vector<int> order;
  sim::Gate gate;
  sim::delay_stream(s, gate);
  for (int i = 0; i < 100; ++i) sim::launch(s, "note", [&order, i] { order.push_back(i); });
  EXPECT_FALSE(s.query());
  EXPECT_TRUE(order.empty());
  gate.open();
  s.synchronize();
  EXPECT_TRUE(s.query());
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(SimStream, StreamsAreNotOrderedAmongThemselves) {
  const Stream a = new_stream(kDevice), b = new_stream(kDevice);
  ASSERT_NE(a, b);
  sim::Gate gate;
  sim::delay_stream(a, gate);
  bool a_ran = false, b_ran = false;
  sim::launch(a, "a", [&] { a_ran = true; });
  sim::launch(b, "b", [&] { b_ran = true; });
  b.synchronize();  // although a, queued before, is held back
  EXPECT_TRUE(b_ran);
  EXPECT_FALSE(a.query());
  gate.open();
  a.synchronize();
  EXPECT_TRUE(a_ran);
}

TEST(SimStream, AMissingEventIsCaught) {
  const Stream producer = new_stream(kDevice), consumer = new_stream(kDevice);
  const Block data(64), result(64);
  for (const bool synchronised : {false, true}) {
    data.write(std::vector<int>(64, -1));
    result.write(std::vector<int>(64, 0));
    sim::Gate slow;
    sim::delay_stream(producer, slow);
    fill(producer, data, 42);
    if (synchronised) {
      Event written;
      written.record(producer);
      consumer.wait_event(written);
      assign(consumer, result, data);
      EXPECT_FALSE(consumer.query());
    } else {
      assign(consumer, result, data);
      consumer.synchronize();  // nothing holds it back: it has read the old values
    }
    slow.open();
    producer.synchronize();
    consumer.synchronize();
    EXPECT_EQ(result.read(), std::vector<int>(64, synchronised ? 42 : -1));
  }
}

TEST(SimStream, WaitStreamOrdersWhatWasQueued) {
  const Stream a = new_stream(kDevice), b = new_stream(kDevice);
  const Block x(8), y(8);
  y.write(std::vector<int>(8, 0));
  sim::Gate gate;
  sim::delay_stream(a, gate);
  fill(a, x, 7);
  b.wait_stream(a);
  assign(b, y, x);
  gate.open();
  b.synchronize();
  EXPECT_EQ(y.read(), std::vector<int>(8, 7));
}

TEST(SimStream, EventsQuerySynchroniseAndMeasure) {
  const Stream s = new_stream(kDevice);
  Event start(true), end(true);
  start.record(s);
  sim::Gate gate;
  sim::delay_stream(s, gate);
  end.record(s);
  EXPECT_TRUE(start.query());
  EXPECT_FALSE(end.query());
  EXPECT_THROW(start.elapsed_time(end), Error);
  gate.open();
  end.synchronize();
  EXPECT_TRUE(end.query());
  EXPECT_GE(start.elapsed_time(end), 0.0);
  EXPECT_EQ(end.device(), kDevice);
  EXPECT_THROW(end.record(default_stream(Device("sim:1"))), Error);
  s.synchronize();
  end.record(s);  // again: the event now means the later place
  EXPECT_TRUE(end.query());
}

TEST(SimStream, WaitingForAnOldRecordingIgnoresTheNewOne) {
  const Stream a = new_stream(kDevice), b = new_stream(kDevice);
  Event e;
  e.record(a);
  b.wait_event(e);
  sim::Gate gate;
  sim::delay_stream(a, gate);
  e.record(a);
  bool ran = false;
  sim::launch(b, "b", [&] { ran = true; });
  b.synchronize();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(e.query());
}

TEST(SimStream, ADelayTakesAtLeastItsTime) {
  const Stream s = new_stream(kDevice);
  Event start(true), end(true);
  start.record(s);
  sim::delay_stream(s, 2.0);
  end.record(s);
  s.synchronize();
  EXPECT_GE(start.elapsed_time(end), 1.9);
  EXPECT_THROW(sim::delay_stream(s, -1.0), ValueError);
}

TEST(SimStream, ThePoolHandsOutThirtyTwoStreams) {
  const Device d("sim:1");
  std::vector<Stream> streams;
  for (int i = 0; i < 33; ++i) streams.push_back(new_stream(d));
  EXPECT_EQ(streams[0], streams[32]);
  for (int i = 1; i < 32; ++i) EXPECT_NE(streams[0], streams[static_cast<size_t>(i)]);
  EXPECT_NE(new_stream(d, -1), streams[1]);
}

TEST(SimStream, GuardsRestoreStreamAndDevice) {
  const Stream s = new_stream(Device("sim:1"));
  {
    StreamGuard guard(s);
    EXPECT_EQ(current_stream(Device(kSim)), s);
    EXPECT_EQ(sim::current_device(), 1);
    std::thread([] { EXPECT_EQ(current_stream(Device("sim:1")).id(), 0); }).join();  // per thread
  }
  EXPECT_EQ(sim::current_device(), 0);
  EXPECT_EQ(current_stream(Device("sim:1")), default_stream(Device("sim:1")));
  {
    DeviceGuard guard(Device("sim:1"));
    EXPECT_EQ(resolve(Device(kSim)), Device("sim:1"));
  }
  EXPECT_EQ(resolve(Device(kSim)), Device("sim:0"));
  sim::set_stream(s);
  EXPECT_EQ(current_stream(Device("sim:1")), s);
  sim::set_stream(sim::default_stream(1));
}

TEST(SimStream, AnErrorIsReportedOnceWithTheKernelsName) {
  const Stream s = new_stream(kDevice);
  sim::launch(s, "gather", [] { throw IndexError("index 5 is out of bounds"); });
  sim::launch(s, "scatter", [] { throw ValueError("a later one"); });
  try {
    s.synchronize();
    FAIL() << "the error was lost";
  } catch (const IndexError& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("index 5 is out of bounds\n(raised by kernel 'gather' on sim:0"));
  }
  EXPECT_NO_THROW(s.synchronize());
  const Block b(4);
  fill(s, b, 3);
  s.synchronize();
  EXPECT_EQ(b.read(), std::vector<int>(4, 3));
}

TEST(SimStream, AnErrorIsReportedByCopiesAndByEvents) {
  const Stream s = new_stream(kDevice);
  const Block b(4);
  Event e;
  sim::launch(s, "broken", [] { throw std::runtime_error("no Error of ours"); });
  e.record(s);
  EXPECT_THROW(e.synchronize(), Error);
  sim::launch(s, "broken", [] { throw 1; });
  e.record(s);
  while (!e.query()) std::this_thread::yield();
  EXPECT_THROW(b.read(), Error);
  EXPECT_NO_THROW(b.read());
}

TEST(SimCopy, ToTheHostWaitsForTheStreamsWork) {
  const Block b(1000);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  fill(default_stream(kDevice), b, 9);
  std::vector<int> out;
  std::thread reader([&] { out = b.read(); });
  gate.open();
  reader.join();
  EXPECT_EQ(out, std::vector<int>(1000, 9));
}

TEST(SimCopy, SmallPageableMemoryIsFreeOnReturn) {
  const Block b(16);
  std::vector<int> host(16, 5);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  b.write(host);  // returns although the stream is held back
  std::fill(host.begin(), host.end(), 6);
  gate.open();
  EXPECT_EQ(b.read(), std::vector<int>(16, 5));
}

TEST(SimCopy, LargePageableMemoryIsFreeOnReturn) {
  const int n = 100000;
  const Block b(n);
  std::vector<int> host(n, 5);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  std::thread writer([&] {
    b.write(host);
    std::fill(host.begin(), host.end(), 6);
  });
  gate.open();
  writer.join();
  EXPECT_EQ(b.read(), std::vector<int>(n, 5));
}

TEST(SimCopy, PinnedMemoryIsReadWhenTheStreamGetsThere) {
  const Block b(16);
  const Storage pinned = Storage::allocate_pinned(kSim, 64);
  EXPECT_TRUE(pinned->is_pinned());
  EXPECT_TRUE(allocator::is_pinned(kSim, static_cast<char*>(pinned->data()) + 63));
  int* host = static_cast<int*>(pinned->data());
  std::fill_n(host, 16, 1);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  transfer(b.address(), kDevice, host, kCPU, 64, true);
  std::fill_n(host, 16, 2);  // too early: the copy has not begun
  gate.open();
  EXPECT_EQ(b.read(), std::vector<int>(16, 2));
  std::fill_n(host, 16, 0);
  transfer(host, kCPU, b.address(), kDevice, 64, false);  // blocking: complete on return
  EXPECT_EQ(std::vector<int>(host, host + 16), std::vector<int>(16, 2));
}

TEST(SimCopy, AFreedPinnedBlockWaitsForItsCopies) {
  const Block b(1024);
  void* first = allocator::allocate_pinned(kSim, 4096);
  std::memset(first, 0, 4096);
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  transfer(b.address(), kDevice, first, kCPU, 4096, true);
  allocator::deallocate_pinned(kSim, first);
  void* second = allocator::allocate_pinned(kSim, 4096);
  EXPECT_NE(first, second);
  gate.open();
  synchronize(kDevice);
  void* third = allocator::allocate_pinned(kSim, 4096);
  EXPECT_EQ(first, third);
  allocator::deallocate_pinned(kSim, second);
  allocator::deallocate_pinned(kSim, third);
}

TEST(SimCopy, BetweenDevicesInOrderOfBothStreams) {
  const Block a(32), b(32, Device("sim:1"));
  b.write(std::vector<int>(32, 0));
  sim::Gate gate;
  sim::delay_stream(default_stream(kDevice), gate);
  fill(default_stream(kDevice), a, 11);
  transfer(b.address(), Device("sim:1"), a.address(), kDevice, a.bytes());
  EXPECT_FALSE(default_stream(Device("sim:1")).query());
  gate.open();
  EXPECT_EQ(b.read(), std::vector<int>(32, 11));
  EXPECT_TRUE(sim::can_device_access_peer(0, 1));
}

TEST(SimCopy, ALinkCanBeHeldBack) {
  const Block a(8), b(8, Device("sim:1"));
  a.write(std::vector<int>(8, 4));
  {
    sim::Gate gate;
    sim::delay_link(kDevice, Device("sim:1"), gate);
    transfer(b.address(), Device("sim:1"), a.address(), kDevice, a.bytes());
    EXPECT_FALSE(default_stream(Device("sim:1")).query());
  }
  EXPECT_EQ(b.read(), std::vector<int>(8, 4));
  sim::delay_link(kDevice, Device("sim:1"), 0.0);
}

TEST(SimCopy, ZeroFillIsQueued) {
  const Block b(16);
  b.write(std::vector<int>(16, 1));
  fill_zero(b.address(), kDevice, b.bytes());
  EXPECT_EQ(b.read(), std::vector<int>(16, 0));
}

TEST(SimStream, ABlockUsedByAnotherStreamIsNotReusedEarly) {
  const Stream side = new_stream(kDevice);
  sim::Gate gate;
  void* p = allocator::allocate(kDevice, 700000);
  sim::delay_stream(side, gate);
  sim::launch(side, "use", [] {});
  allocator::record_stream(kDevice, p, side.id());
  allocator::deallocate(kDevice, p);
  void* q = allocator::allocate(kDevice, 700000);
  EXPECT_NE(p, q);
  gate.open();
  side.synchronize();
  void* r = allocator::allocate(kDevice, 700000);
  EXPECT_EQ(p, r);
  allocator::deallocate(kDevice, q);
  allocator::deallocate(kDevice, r);
}

TEST(SimStream, ManyThreadsMayQueueOnManyStreams) {
  std::vector<Stream> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(new_stream(kDevice));
  std::atomic<int> count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        sim::launch(streams[static_cast<size_t>(i % 4)], "count", [&] { ++count; });
        if (i % 16 == 0)
          streams[static_cast<size_t>(i / 16 % 4)].wait_stream(streams[static_cast<size_t>(i % 3)]);
      }
    });
  for (auto& t : threads) t.join();
  synchronize(kDevice);
  EXPECT_EQ(count, 800);
}

}  // namespace
}  // namespace taeda
