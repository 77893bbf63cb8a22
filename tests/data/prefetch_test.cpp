// Batches that are copied ahead, and the search for the largest batch.
#include "taeda/data/prefetch.h"

#include <gmock/gmock.h>

#include <map>
#include <tuple>

#include "taeda/data/batch_size.h"
#include "taeda/data/tensor_dataset.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/error_of.h"

namespace taeda::data {
namespace {

using datasets::TensorDataset;
using testing::HasSubstr;

const Device kDevice("sim:0");
constexpr int64_t kBatches = 6, kRows = 8, kColumns = 500;

Tensor rows() {
  manual_seed(4);
  return randn({kBatches * kRows, kColumns});
}

auto loader_of(const Tensor& data, int workers = 0) {
  return DataLoader(TensorDataset(data), {.batch_size = kRows, .num_workers = workers});
}

/// Every kind of container; throws at one index.
using Nested =
    std::tuple<Tensor, std::map<std::string, std::vector<Tensor>>, std::string, Example<>>;
struct NestedDataset : datasets::Dataset<NestedDataset, Nested> {
  Nested get(size_t i) override {
    if (i == bad) throw ValueError("no such row");
    const Tensor t = full({3}, static_cast<double>(i));
    return {t, {{"a", {t + 1, t + 2}}}, std::to_string(i), {t * 2, t.to(kLong)}};
  }
  std::optional<size_t> size() const override { return 10; }
  size_t bad = 99;
};

TEST(Prefetch, ResumesBehindTheBatchThatWasHandedOut) {
  const Tensor data = rows();
  DataLoader loader(TensorDataset{data}, {.batch_size = kRows, .shuffle = true, .seed = 3});
  std::vector<Tensor> seen;
  std::vector<LoaderState> states;
  auto prefetcher = prefetch(loader, kDevice, 3);
  for (auto& batch : prefetcher) {
    seen.push_back(batch.data.cpu());
    states.push_back(loader.state_dict());
  }
  ASSERT_EQ(seen.size(), static_cast<size_t>(kBatches));
  for (size_t behind = 0; behind < states.size(); ++behind) {
    DataLoader other(TensorDataset{data}, {.batch_size = kRows, .shuffle = true, .seed = 3});
    other.load_state_dict(states[behind]);
    size_t next = behind + 1;
    if (next == seen.size()) continue;  // what is left of the epoch is nothing
    for (auto& batch : prefetch(other, kDevice)) {
      ASSERT_LT(next, seen.size());
      EXPECT_TRUE(equal(batch.data.cpu(), seen[next])) << "batch " << next;
      ++next;
    }
    EXPECT_EQ(next, seen.size());
  }
}

TEST(Prefetch, HandsOutTheLoadersBatches) {
  NestedDataset dataset;
  for (const char* name : {"sim:0", "cpu"})
    for (int workers : {0, 2}) {
      const Device device(name);
      DataLoader loader(dataset, {.batch_size = 3, .num_workers = workers, .pin_memory = true});
      DataLoader plain(dataset, {.batch_size = 3});
      auto expected = plain.begin();
      size_t batches = 0;
      auto prefetcher = prefetch(loader, device, 2);
      EXPECT_EQ(prefetcher.size(), 4u);
      for (auto& [t, lists, names, example] : prefetcher) {
        auto& [t0, lists0, names0, example0] = *expected;
        EXPECT_EQ(t.device(), device);
        EXPECT_TRUE(equal(t.cpu(), t0));
        EXPECT_TRUE(equal(lists["a"][1].cpu(), lists0["a"][1]));
        EXPECT_EQ(names, names0);
        EXPECT_EQ(example.target.device(), device);
        EXPECT_TRUE(equal(example.target.cpu(), example0.target));
        ++expected;
        ++batches;
      }
      EXPECT_EQ(batches, 4u);
      EXPECT_EQ(expected, plain.end());
    }
}

TEST(Prefetch, CopiesRunBesideComputing) {
  const Tensor data = rows();
  auto loader = loader_of(data);
  auto prefetcher = prefetch(loader, kDevice, 1);
  const Stream compute = current_stream(kDevice);
  std::vector<Tensor> results;
  {
    sim::Gate gate;
    auto batch = prefetcher.begin();
    ASSERT_FALSE(prefetcher.stream() == compute);
    sim::delay_stream(compute, gate);
    for (; batch != prefetcher.end(); ++batch) {
      results.push_back(batch->data * 2);
      // What was queued after this computation is done before it: the next batch's copy.
      prefetcher.stream().synchronize();
      EXPECT_FALSE(compute.query());
    }
  }
  // No copy was made into memory that a computation had still to read.
  ASSERT_EQ(results.size(), static_cast<size_t>(kBatches));
  for (int64_t i = 0; i < kBatches; ++i)
    EXPECT_TRUE(equal(results[static_cast<size_t>(i)].cpu(), data.narrow(0, i * kRows, kRows) * 2))
        << "batch " << i;
}

TEST(Prefetch, ComputingWaitsForItsCopy) {
  const Tensor data = rows();
  auto loader = loader_of(data, 1);
  auto prefetcher = prefetch(loader, kDevice);
  const Stream compute = current_stream(kDevice);
  sim::Gate gate;
  sim::delay_stream(prefetcher.stream(), gate);
  const auto epoch = prefetcher.epoch();
  const Tensor result = epoch->next()->data + 1;  // the batch itself is gone before it came
  EXPECT_FALSE(compute.query());
  gate.open();
  EXPECT_TRUE(equal(result.cpu(), data.narrow(0, 0, kRows) + 1));
}

TEST(Prefetch, AnErrorComesInItsTurn) {
  NestedDataset dataset;
  dataset.bad = 7;
  for (int workers : {0, 1}) {
    DataLoader loader(dataset, {.batch_size = 3, .num_workers = workers});
    auto prefetcher = prefetch(loader, kDevice, 2);
    int seen = 0;
    const std::string error = error_of([&] {
      for (auto& batch : prefetcher) seen += std::get<0>(batch).defined() ? 1 : 0;
    });
    EXPECT_EQ(seen, 2);
    EXPECT_THAT(error, HasSubstr("no such row\nwhile reading index 7\nwhile reading batch 2"));
    const auto epoch = prefetcher.epoch();
    epoch->next();
    epoch->next();
    EXPECT_THROW(epoch->next(), ValueError);
    EXPECT_EQ(std::get<2>(*epoch->next()), std::vector<std::string>{"9"}) << "it can go on";
    EXPECT_FALSE(epoch->next());
    EXPECT_TRUE(epoch->done());
  }
}

TEST(Prefetch, OutOfMemoryInACopyIsThatBatchsError) {
  const Tensor data = rows();
  auto loader = loader_of(data);
  auto prefetcher = prefetch(loader, kDevice, 1);
  const auto epoch = prefetcher.epoch();
  sim::fail_allocation(kDevice, 2);
  EXPECT_TRUE(equal(epoch->next()->data.cpu(), data.narrow(0, 0, kRows)));
  EXPECT_THROW(epoch->next(), OutOfMemoryError);
  EXPECT_TRUE(equal(epoch->next()->data.cpu(), data.narrow(0, 2 * kRows, kRows)));
}

TEST(Prefetch, LeavingEarlyLeavesNothingBehind) {
  const int64_t before = sim::memory_allocated(0);
  const Tensor data = rows();
  auto loader = loader_of(data, 2);
  auto prefetcher = prefetch(loader, kDevice, 3);
  for (int round = 0; round < 3; ++round)
    for (auto& batch : prefetcher) {
      EXPECT_TRUE(equal(batch.data.cpu(), data.narrow(0, 0, kRows)));
      break;
    }
  synchronize(kDevice);
  EXPECT_EQ(sim::memory_allocated(0), before);
  size_t n = 0;
  for ([[maybe_unused]] auto& batch : prefetcher) ++n;
  EXPECT_EQ(n, static_cast<size_t>(kBatches));
  EXPECT_EQ(error_of([&] { prefetch(loader, kDevice, 0); }),
            "prefetch: expected depth >= 1, got 0");
}

struct BatchSize : testing::Test {
  BatchSize() { sim::configure(2, {.memory = size_t{64} << 20}); }
  ~BatchSize() override { sim::configure(2); }

  static constexpr int64_t kFloats = 100'000;
  static void step(int64_t n) {
    const Tensor x = zeros({n, kFloats}, TensorOptions(kFloat).device(kDevice));
    const Tensor y = x * 2;
    (x + y).sum().item();
  }
};

TEST_F(BatchSize, IsTheLargestThatFits) {
  int64_t largest = 0;  // by trying all
  for (int64_t n = 1;; ++n) {
    sim::empty_cache();
    try {
      step(n);
    } catch (const OutOfMemoryError&) {
      break;
    }
    largest = n;
  }
  for (int64_t start : {1, 7, 1000}) {
    std::vector<int64_t> tried;
    const BatchSizeReport report = find_batch_size(
        [&](int64_t n) {
          tried.push_back(n);
          step(n);
        },
        {.device = kDevice, .start = start});
    EXPECT_EQ(report.batch_size, largest);
    EXPECT_FALSE(report.limited);
    EXPECT_EQ(report.tries, static_cast<int64_t>(tried.size()));
    EXPECT_LE(report.tries, 20);
    EXPECT_NEAR(static_cast<double>(report.bytes_per_sample), 3 * kFloats * 4,
                0.02 * 3 * kFloats * 4);
    EXPECT_NEAR(static_cast<double>(report.peak_bytes),
                static_cast<double>(3 * largest * kFloats * 4), 1 << 20);
    EXPECT_EQ(sim::memory_reserved(0), 0) << "the cache is left clean";
  }
}

TEST_F(BatchSize, LimitsAndErrors) {
  const BatchSizeReport report = find_batch_size(step, {.device = kDevice, .start = 2, .max = 5});
  EXPECT_EQ(report.batch_size, 5);
  EXPECT_TRUE(report.limited);
  EXPECT_THAT(
      error_of([&] { find_batch_size([](int64_t n) { step(1000 * n); }, {.device = kDevice}); }),
      HasSubstr("find_batch_size: not even a batch of one sample fits"));
  EXPECT_THROW(find_batch_size([](int64_t) { throw IndexError("x"); }, {.device = kDevice}),
               IndexError);
  EXPECT_EQ(error_of([&] { find_batch_size(step, {.device = kDevice, .start = 3, .max = 2}); }),
            "find_batch_size: expected 1 <= start <= max, got start 3 and max 2");
}

}  // namespace
}  // namespace taeda::data
