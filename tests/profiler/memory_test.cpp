// Figures about memory, what blocks are allocated for, and what an OutOfMemoryError says.
#include <gmock/gmock.h>

#include <cstdlib>

#include "taeda/base/error.h"
#include "taeda/device/caching_allocator.h"
#include "taeda/device/sim.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/device/fake_backend.h"
#include "tests/error_of.h"

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#define HAS_JSON 1
#else
#define HAS_JSON 0
#endif

namespace taeda {
namespace {

using detail::CachingAllocator;
using testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;

/// A device of 64 MiB with blocks of every state.
class MemoryReport : public testing::Test {
 protected:
  MemoryReport() {
    uint64_t stamp = 0;
    encoder = a.allocate(30 * kMiB - 100, 0, &path, &stamp);
    a.set_operation(encoder, stamp, &operation);
    a.set_operation(encoder, stamp + 1, &path);  // of another allocation: without effect
    unnamed = a.allocate(1000, 0, nullptr, &stamp);
    a.set_operation(unnamed, stamp, &operation);
    void* hole = a.allocate(5000, 0, nullptr);
    wall = a.allocate(1, 0, nullptr);
    a.deallocate(hole);
    pending = a.allocate(2 * kMiB, 1, nullptr);
    a.record_stream(pending, 2);
    a.deallocate(pending);
  }
  ~MemoryReport() override {
    for (void* p : {encoder, unnamed, wall}) a.deallocate(p);
    a.empty_cache();
  }

  const std::string path = "encoder.layers.3", operation = "matmul";
  FakeBackend device;
  CachingAllocator a{device, 0, ~size_t{0}};
  void *encoder, *unnamed, *wall, *pending;
};

TEST_F(MemoryReport, FiguresAreExact) {
  const auto map = a.stats().to_map();
  const std::map<std::string, int64_t> expected{
      {"allocation.all.current", 3},
      {"allocation.all.peak", 4},
      {"allocation.all.allocated", 5},
      {"allocation.all.freed", 2},
      {"allocation.small_pool.current", 2},
      {"allocation.large_pool.current", 1},
      {"allocated_bytes.all.current", 30 * 1048576 + 1024 + 512},
      {"allocated_bytes.all.peak", 32 * 1048576 + 1024 + 512},
      {"allocated_bytes.small_pool.peak", 1024 + 5120 + 512},
      {"requested_bytes.all.current", 30 * 1048576 - 100 + 1001},
      {"requested_bytes.all.freed", 5000 + 2 * 1048576},
      {"active.all.current", 4},
      {"active_bytes.large_pool.current", 32 * 1048576},
      {"reserved_bytes.all.current", (30 + 2 + 20) * 1048576},
      {"segment.all.current", 3},
      {"segment.small_pool.current", 1},
      {"inactive_split.all.current", 3},
      {"inactive_split_bytes.all.current", 20 * 1048576 - 1536},
      {"num_ooms", 0}};
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(map.contains(name)) << name;
    EXPECT_EQ(map.at(name), value) << name;
  }
  a.reset_peak();
  a.reset_accumulated();
  const MemoryStats reset = a.stats();
  EXPECT_EQ(reset.peak_allocated, reset.allocated);
  EXPECT_EQ(reset.allocation.all.allocated, 0);
  EXPECT_EQ(reset.allocation.all.current, 3);
}

TEST_F(MemoryReport, SummaryIsATable) {
  const std::string expected =
      "|================================================================================|\n"
      "|                            memory summary of sim:0                             |\n"
      "|--------------------------------------------------------------------------------|\n"
      "|              out-of-memory errors: 0   |   allocation retries: 0               |\n"
      "|================================================================================|\n"
      "| Metric                 |   Cur Usage |  Peak Usage |   Tot Alloc |   Tot Freed |\n"
      "|--------------------------------------------------------------------------------|\n"
      "| Allocated memory       |   30.00 MiB |   32.00 MiB |   32.01 MiB |    2.00 MiB |\n"
      "|--------------------------------------------------------------------------------|\n"
      "| Active memory          |   32.00 MiB |   32.00 MiB |   32.01 MiB |    5.00 KiB |\n"
      "|--------------------------------------------------------------------------------|\n"
      "| Requested memory       |   30.00 MiB |   32.00 MiB |   32.01 MiB |    2.00 MiB |\n"
      "|--------------------------------------------------------------------------------|\n"
      "| Reserved memory        |   52.00 MiB |   52.00 MiB |   52.00 MiB |     0 bytes |\n"
      "|--------------------------------------------------------------------------------|\n"
      "| Allocations            |           3 |           4 |           5 |           2 |\n"
      "|--------------------------------------------------------------------------------|\n"
      "| Active allocs          |           4 |           4 |           5 |           1 |\n"
      "|--------------------------------------------------------------------------------|\n"
      "| Reserved segments      |           3 |           3 |           3 |           0 |\n"
      "|--------------------------------------------------------------------------------|\n"
      "| Non-releasable memory  |   20.00 MiB |             |             |             |\n"
      "| Largest free block     |   18.00 MiB |             |             |             |\n"
      "|================================================================================|\n"
      "| Largest live blocks                                                            |\n"
      "|--------------------------------------------------------------------------------|\n"
      "|   30.00 MiB  encoder.layers.3                                                  |\n"
      "|    1.00 KiB  matmul                                                            |\n"
      "|   512 bytes                                                                    |\n"
      "|================================================================================|\n";
  EXPECT_EQ(a.summary(true), expected);
  EXPECT_THAT(a.summary(false),
              HasSubstr("|       from small pool  |    1.50 KiB |    6.50 KiB |"));
}

TEST_F(MemoryReport, SnapshotHasEveryBlock) {
  const std::vector<MemorySegment> segments = a.snapshot();
  ASSERT_EQ(segments.size(), 3u);
  std::map<std::string, int> states;
  for (const MemorySegment& s : segments) {
    int64_t bytes = 0;
    const char* next = static_cast<const char*>(s.address);
    for (const MemoryBlock& b : s.blocks) {
      EXPECT_EQ(b.address, next);
      next += b.bytes;
      bytes += b.bytes;
      ++states[b.state];
      if (b.address == encoder) {
        EXPECT_EQ(b.module, path);
        EXPECT_EQ(b.operation, operation);
        EXPECT_EQ(b.requested, static_cast<int64_t>(30 * kMiB - 100));
        EXPECT_FALSE(s.small);
      }
      if (b.address == pending) {
        EXPECT_EQ(s.stream, 1);
        EXPECT_EQ(s.allocated, 0);
        EXPECT_EQ(s.active, static_cast<int64_t>(2 * kMiB));
      }
    }
    EXPECT_EQ(bytes, s.bytes);
  }
  EXPECT_EQ(states["active_allocated"], 3);
  EXPECT_EQ(states["active_pending_free"], 1);
  EXPECT_EQ(states["inactive"], 3);
#if HAS_JSON
  const nlohmann::json json = nlohmann::json::parse(to_json(segments));
  ASSERT_EQ(json.size(), 3u);
  int64_t total = 0;
  std::string operations;
  for (const auto& s : json) {
    EXPECT_EQ(s.at("device"), "sim:0");
    total += s.at("total_size").get<int64_t>();
    for (const auto& b : s.at("blocks"))
      if (b.contains("operation")) operations += b.at("operation").get<std::string>() + " ";
  }
  EXPECT_EQ(total, a.stats().reserved);
  EXPECT_EQ(operations, "matmul matmul ");
#endif
}

TEST_F(MemoryReport, TheErrorNamesTheLargestHolders) {
  EXPECT_EQ(error_of([&] { a.allocate(40 * kMiB, 0, nullptr); }),
            "SIM out of memory. Tried to allocate 40.00 MiB (sim:0; 64.00 MiB total capacity; "
            "30.00 MiB already allocated; 32.00 MiB free; 32.00 MiB reserved in total; largest "
            "free block 1.99 MiB)\n"
            "Largest live blocks:\n"
            "  30.00 MiB  encoder.layers.3\n"
            "  1.00 KiB  matmul\n"
            "  512 bytes");
  EXPECT_EQ(a.stats().ooms, 1);
  EXPECT_THAT(a.summary(true), HasSubstr("out-of-memory errors: 1"));
}

TEST(OutOfMemory, WithoutHistoryItSaysHowToGetNames) {
  FakeBackend device;
  CachingAllocator a(device, 0, ~size_t{0});
  void* p = a.allocate(20 * kMiB, 0, nullptr);
  EXPECT_THAT(error_of([&] { a.allocate(50 * kMiB, 0, nullptr); }),
              testing::EndsWith("Largest live blocks:\n"
                                "  20.00 MiB\n"
                                "TAEDA_MEMORY_HISTORY=1 tells what they were allocated for."));
  a.deallocate(p);
  a.empty_cache();
}

struct TwiceImpl : nn::Cloneable<TwiceImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) { return x * 2; }
};
TAEDA_MODULE(Twice);

/// One device of 64 MiB, with history.
class MemoryHistory : public testing::Test {
 protected:
  MemoryHistory() {
    sim::configure(1, {64 * kMiB});
    memory::record_history();
  }
  ~MemoryHistory() override {
    memory::record_history(false);
    sim::empty_cache();
    sim::configure(2);
  }
  const Device d{"sim:0"};
};

TEST_F(MemoryHistory, TheErrorNamesModulesAndTheNextAllocationWorks) {
  nn::Sequential net{{"encoder", Twice()}, {"decoder", Twice()}};
  Tensor x = ones({6, int64_t{1} << 20}).to(d);
  EXPECT_EQ(error_of([&] { net(x); }),
            "SIM out of memory. Tried to allocate 24.00 MiB (sim:0; 64.00 MiB total capacity; "
            "48.00 MiB already allocated; 16.00 MiB free; 48.00 MiB reserved in total; largest "
            "free block 0 bytes)\n"
            "Largest live blocks:\n"
            "  24.00 MiB  Memcpy HtoD\n"
            "  24.00 MiB  encoder\n"
            "in module decoder (Twice)");
  // What the pass had taken came back with the error; half the batch fits.
  EXPECT_EQ(sim::memory_allocated(), static_cast<int64_t>(24 * kMiB));
  EXPECT_EQ(sim::memory_stats().ooms, 1);
  x = x.slice(0, 0, 3).clone();
  const Tensor y = net(x);
  EXPECT_EQ(y.sum().item<float>(), 4.f * 3 * (1 << 20));
  EXPECT_EQ(sim::memory_allocated(), static_cast<int64_t>(2 * 12 * kMiB));
}

TEST_F(MemoryHistory, BlocksKnowTheirOperation) {
  const Tensor a = zeros({1000}, d), b = a + 1;
  Tensor w = ones({2000}, TensorOptions(d).requires_grad(true));
  (w * w).sum().backward();
  std::map<const void*, std::string> operations;
  for (const MemorySegment& s : sim::memory_snapshot())
    for (const MemoryBlock& block : s.blocks)
      if (!block.operation.empty()) operations[block.address] = block.operation;
  EXPECT_EQ(operations[a.data_ptr()], "Memset");
  EXPECT_EQ(operations[b.data_ptr()], "add");
  EXPECT_EQ(operations[w.data_ptr()], "fill");
  EXPECT_EQ(operations[w.grad().data_ptr()], "MulBackward0");
}

TEST_F(MemoryHistory, OffItCostsNoNames) {
  memory::record_history(false);
  EXPECT_FALSE(memory::records_history());
  const Tensor x = ones({1000}, d);
  for (const BlockInfo& b : allocator::live_blocks(d, 10)) EXPECT_EQ(b.tag, "");
}

TEST(MemoryHistoryDeathTest, TheEnvironmentTurnsItOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("TAEDA_MEMORY_HISTORY", "1", 1);
        const Tensor x = ones({1000}) + 1;
        const auto blocks = allocator::live_blocks(kCPU, 1);
        std::exit(memory::records_history() && blocks.at(0).tag == "add" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace taeda
