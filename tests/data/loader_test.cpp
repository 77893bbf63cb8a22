#include "taeda/data/loader.h"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <numeric>

#include "taeda/base/parallel_for.h"
#include "taeda/data/tensor_dataset.h"
#include "taeda/ops/create/create.h"
#include "tests/data/sampler_golden.h"
#include "tests/error_of.h"

namespace taeda::data {
namespace {

using datasets::TensorDataset;
using testing::ElementsAre;
using testing::HasSubstr;
using Lists = std::vector<std::vector<int64_t>>;

std::vector<int64_t> values(const Tensor& t) {
  return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()};
}

Tensor iota(int64_t n) {
  Tensor t = empty({n}, kLong);
  std::iota(t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + n, 0);
  return t;
}

template <class L>
Lists batches(L& loader) {
  Lists out;
  for (auto& batch : loader) out.push_back(values(batch));
  return out;
}

/// An example is its index, made in a time that depends on it, so that workers finish out of order.
struct Uneven : datasets::Dataset<Uneven, int64_t> {
  explicit Uneven(size_t n) : n_(n) {}
  int64_t get(size_t index) override {
    volatile size_t work = (index * 7919) % 13 * 500;
    while (work > 0) work = work - 1;
    return static_cast<int64_t>(index);
  }
  std::optional<size_t> size() const override { return n_; }
  size_t n_;
};

TEST(DataLoader, YieldsBatchesInOrder) {
  DataLoader loader(Uneven(7), {.batch_size = 3});
  EXPECT_EQ(loader.size(), 3u);
  EXPECT_EQ(batches(loader), (Lists{{0, 1, 2}, {3, 4, 5}, {6}}));
  DataLoader drop(Uneven(7), {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(drop.size(), 2u);
  EXPECT_EQ(batches(drop), (Lists{{0, 1, 2}, {3, 4, 5}}));
}

TEST(DataLoader, SameBatchesForAnyNumberOfWorkers) {
  Lists expected;
  for (int workers : {0, 1, 2, 5}) {
    DataLoader loader(Uneven(403),
                      {.batch_size = 4, .shuffle = true, .num_workers = workers, .seed = 9});
    Lists got;
    for (int epoch = 0; epoch < 3; ++epoch)
      for (auto& b : batches(loader)) got.push_back(b);
    ASSERT_EQ(got.size(), 303u);
    EXPECT_NE(got[0], got[101]) << "every epoch has an order of its own";
    if (expected.empty()) expected = got;
    EXPECT_EQ(got, expected) << workers << " workers";
  }
}

TEST(DataLoader, OrderIsPyTorchs) {
  for (int workers : {0, 2}) {
    DataLoader seeded(TensorDataset(iota(10)),
                      {.batch_size = 4, .shuffle = true, .num_workers = workers, .seed = 11});
    manual_seed(12);
    DataLoader plain(TensorDataset(iota(10)),
                     {.batch_size = 4, .shuffle = true, .num_workers = workers});
    const auto check = [](auto& loader, const std::vector<std::vector<size_t>>& epochs) {
      for (const auto& epoch : epochs) {
        std::vector<size_t> got;
        for (auto& batch : loader)
          for (int64_t v : values(batch.data)) got.push_back(static_cast<size_t>(v));
        EXPECT_EQ(got, epoch);
      }
    };
    check(seeded, golden::kLoader);
    check(plain, golden::kLoaderDefault);
  }
}

TEST(DataLoader, EmptyDatasetYieldsNothing) {
  DataLoader loader(Uneven(0), {.batch_size = 3, .num_workers = 2});
  EXPECT_EQ(batches(loader), Lists{});
}

TEST(DataLoader, StructuredBindingsAndIterators) {
  DataLoader loader(TensorDataset(iota(4), iota(4)), {.batch_size = 2, .num_workers = 1});
  int64_t seen = 0;
  for (auto& [data, target] : loader) {
    EXPECT_EQ(values(data), values(target));
    seen += data.numel();
  }
  EXPECT_EQ(seen, 4);
  auto it = loader.begin();
  EXPECT_EQ(values(it->data), (std::vector<int64_t>{0, 1}));
  ++it;
  EXPECT_EQ(values((*it).target), (std::vector<int64_t>{2, 3}));
  it++;
  EXPECT_TRUE(it == loader.end());
}

TEST(DataLoader, WorkersUseOneThreadEach) {
  struct Threads : datasets::Dataset<Threads, int64_t> {
    int64_t get(size_t) override { return get_num_threads(); }
    std::optional<size_t> size() const override { return 40; }
  };
  // With a timeout the consumer leaves all reading to the workers.
  DataLoader loader(Threads(), {.batch_size = 4, .num_workers = 2, .timeout = 60});
  for (auto& b : loader) EXPECT_THAT(values(b), testing::Each(1));
}

TEST(DataLoader, PrefetchIsBounded) {
  struct Counting : datasets::Dataset<Counting, int64_t> {
    explicit Counting(std::atomic<int64_t>* n) : read(n) {}
    int64_t get(size_t index) override {
      ++*read;
      return static_cast<int64_t>(index);
    }
    std::optional<size_t> size() const override { return 1000; }
    std::atomic<int64_t>* read;
  };
  std::atomic<int64_t> read{0};
  DataLoader loader(Counting(&read), {.batch_size = 2, .num_workers = 2, .prefetch_factor = 3});
  int64_t taken = 0;
  for (auto& b : loader) {
    taken += b.numel();
    EXPECT_LE(read, taken + 2 * 2 * 3);
  }
  EXPECT_EQ(read, 1000);
}

TEST(DataLoader, EarlyExitStopsTheWorkers) {
  for (int workers : {0, 1, 3})
    for (size_t stop : {size_t{1}, size_t{5}}) {
      DataLoader loader(Uneven(1000), {.batch_size = 2, .num_workers = workers});
      size_t n = 0;
      for (auto& b : loader) {
        EXPECT_EQ(b.numel(), 2);
        if (++n == stop) break;
      }
      EXPECT_EQ(n, stop);
      EXPECT_EQ(batches(loader).size(), 500u) << "the next epoch is whole";
    }
}

TEST(DataLoader, OnePassAtATime) {
  DataLoader loader(Uneven(10), {.batch_size = 2, .num_workers = 1});
  {
    auto it = loader.begin();
    EXPECT_THAT(error_of([&] { loader.begin(); }),
                HasSubstr("another iterator is not yet exhausted"));
    while (it != loader.end()) ++it;
    EXPECT_EQ(batches(loader).size(), 5u);
  }
  auto unfinished = loader.begin();
  unfinished = {};
  EXPECT_EQ(batches(loader).size(), 5u);
}

TEST(DataLoader, IteratorsMayOutliveTheLoader) {
  std::optional<BatchIterator<Tensor>> it;
  {
    DataLoader loader(Uneven(10), {.batch_size = 2, .num_workers = 2});
    it = loader.begin();
  }
  ++*it;
  EXPECT_EQ(values(**it), (std::vector<int64_t>{2, 3}));
}

struct Failing : datasets::Dataset<Failing, int64_t> {
  explicit Failing(bool library) : library_error(library) {}
  int64_t get(size_t index) override {
    if (index == 5 && library_error) throw ValueError("bad picture");
    if (index == 5) throw std::runtime_error("bad picture");
    return static_cast<int64_t>(index);
  }
  std::optional<size_t> size() const override { return 8; }
  bool library_error;
};

TEST(DataLoader, ExceptionsNameTheIndex) {
  for (int workers : {0, 2}) {
    DataLoader loader(Failing(true), {.batch_size = 2, .num_workers = workers});
    EXPECT_THROW(batches(loader), ValueError) << "the type is kept";
    EXPECT_THAT(error_of([&] { batches(loader); }),
                HasSubstr("bad picture\nwhile reading index 5\nwhile reading batch 2"));

    DataLoader other(Failing(false), {.batch_size = 2, .num_workers = workers});
    try {
      batches(other);
      ADD_FAILURE() << "no error";
    } catch (const WorkerException& e) {
      EXPECT_THAT(e.what(), HasSubstr("bad picture\nwhile reading index 5"));
      EXPECT_THROW(std::rethrow_exception(e.original_exception), std::runtime_error);
    }
  }
}

TEST(DataLoader, GoesOnBehindAFailedBatch) {
  for (int workers : {0, 2}) {
    DataLoader loader(Failing(true), {.batch_size = 2, .num_workers = workers});
    auto it = loader.begin();
    ++it;
    EXPECT_THROW(++it, ValueError);
    ++it;
    EXPECT_EQ(values(*it), (std::vector<int64_t>{6, 7}));
    ++it;
    EXPECT_TRUE(it == loader.end());
  }
}

TEST(DataLoader, FastPathFailuresNameTheIndexToo) {
  auto sampler = std::make_shared<samplers::SubsetRandomSampler>(std::vector<size_t>{11});
  DataLoader loader(TensorDataset(iota(4)), {.num_workers = 1, .sampler = sampler});
  EXPECT_THAT(
      error_of([&] {
        for (auto& b : loader) (void)b;
      }),
      HasSubstr("index 11 is out of bounds for dimension 0 with size 4\nwhile reading batch 0"));
}

TEST(DataLoader, FailureToCollateIsPassedOn) {
  struct Ragged : datasets::Dataset<Ragged, Tensor> {
    Tensor get(size_t index) override { return iota(static_cast<int64_t>(index)); }
    std::optional<size_t> size() const override { return 3; }
  };
  DataLoader loader(Ragged(), {.batch_size = 2, .num_workers = 1});
  EXPECT_THAT(
      error_of([&] { batches(loader); }),
      HasSubstr(
          "stack expects each tensor to be equal size, but got [0] at entry 0 and [1] at entry 1"));
}

TEST(DataLoader, TimesOutWhenAWorkerHangs) {
  struct Hanging : datasets::Dataset<Hanging, int64_t> {
    explicit Hanging(std::latch* l) : release(l) {}
    int64_t get(size_t) override {
      release->wait();
      return 0;
    }
    std::optional<size_t> size() const override { return 2; }
    std::latch* release;
  };
  std::latch release(1);
  DataLoader loader(Hanging(&release), {.num_workers = 1, .timeout = 0.02});
  auto epoch = loader.epoch();
  const std::string error = error_of([&] { epoch->next(); });
  release.count_down();
  EXPECT_EQ(error, "Timeout in DataLoader queue while waiting for next batch (timeout was 20 ms)");
}

struct CountedStream : datasets::IterableDataset<CountedStream, int64_t> {
  explicit CountedStream(int64_t n) : n_(n) {}
  std::optional<int64_t> next() override {
    if (at_ == n_) return std::nullopt;
    return at_++;
  }
  void reset() override { at_ = 0; }
  int64_t n_, at_ = 0;
};

TEST(DataLoader, ReadsIterableDatasetsInOrder) {
  for (int workers : {0, 1, 3}) {
    DataLoader loader(CountedStream(7), {.batch_size = 3, .num_workers = workers});
    for (int epoch = 0; epoch < 2; ++epoch)
      EXPECT_EQ(batches(loader), (Lists{{0, 1, 2}, {3, 4, 5}, {6}}));
    EXPECT_THROW(loader.size(), TypeError);
    DataLoader drop(CountedStream(7), {.batch_size = 3, .num_workers = workers, .drop_last = true});
    EXPECT_EQ(batches(drop), (Lists{{0, 1, 2}, {3, 4, 5}}));
    DataLoader mapped(CountedStream(3).map([](int64_t v) { return v * v; }),
                      {.batch_size = 2, .num_workers = workers});
    EXPECT_EQ(batches(mapped), (Lists{{0, 1}, {4}}));
  }
}

TEST(DataLoader, BatchSamplerDecidesTheBatches) {
  auto sampler =
      std::make_shared<samplers::BatchSampler>(std::make_shared<samplers::SequentialSampler>(5), 2);
  DataLoader loader(Uneven(5), {.batch_size = 100, .drop_last = true, .sampler = sampler});
  EXPECT_EQ(loader.size(), 3u);
  EXPECT_EQ(batches(loader), (Lists{{0, 1}, {2, 3}, {4}}));
}

TEST(MakeDataLoader, FollowsLibtorch) {
  auto lists = make_data_loader<samplers::SequentialSampler>(
      Uneven(3), DataLoaderOptions().batch_size(2).workers(1));
  std::vector<std::vector<int64_t>> got;
  for (std::vector<int64_t>& batch : *lists) got.push_back(batch);
  EXPECT_EQ(got, (Lists{{0, 1}, {2}}));

  auto stacked = make_data_loader(TensorDataset(iota(50), iota(50)).map(transforms::Stack<>()), 8);
  size_t in_order = 0, n = 0;
  for (Example<>& batch : *stacked)
    for (int64_t v : values(batch.data)) in_order += static_cast<size_t>(v) == n++;
  EXPECT_EQ(n, 50u);
  EXPECT_LT(in_order, 25u) << "the default order is random";

  auto sampler = samplers::DistributedSampler(10, 2, 1, false);
  auto share =
      make_data_loader(Uneven(10).map(transforms::Stack<int64_t>()), sampler, DataLoaderOptions(5));
  EXPECT_EQ(batches(*share), (Lists{{1, 3, 5, 7, 9}}));

  auto stream = make_data_loader(
      CountedStream(3), DataLoaderOptions(2).max_jobs(4).workers(2).enforce_ordering(true));
  EXPECT_EQ(stream->options().max_jobs, 4u);
  EXPECT_EQ(stream->options().workers, 2u);
  for (std::vector<int64_t>& batch : *stream) EXPECT_LE(batch.size(), 2u);
}

TEST(DataLoaderOptions, RefusesWhatMakesNoSense) {
  const auto error = [](LoaderConfig c) {
    return error_of([&] { DataLoader loader(Uneven(3), c); });
  };
  EXPECT_EQ(error({.batch_size = 0}),
            "batch_size should be a positive integer value, but got batch_size=0");
  EXPECT_THAT(error({.num_workers = -1}), HasSubstr("num_workers option should be non-negative"));
  EXPECT_THAT(error({.prefetch_factor = 0}),
              HasSubstr("prefetch_factor option should be positive"));
  EXPECT_EQ(error({.timeout = -1}), "timeout option should be non-negative, got -1");
  const auto sampler = std::make_shared<samplers::SequentialSampler>(3);
  EXPECT_EQ(error({.shuffle = true, .sampler = sampler}),
            "sampler option is mutually exclusive with shuffle");
  EXPECT_THAT(error({.seed = 1, .sampler = sampler}), HasSubstr("mutually exclusive with seed"));
  EXPECT_THAT(error_of([] { DataLoader loader(CountedStream(3), {.shuffle = true}); }),
              HasSubstr("expected unspecified shuffle option, but got shuffle=True"));
}

}  // namespace
}  // namespace taeda::data
