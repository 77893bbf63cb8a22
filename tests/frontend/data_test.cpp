// torch::data as programs written for libtorch use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/error_of.h"

namespace frontend_data {
namespace {

using taeda::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace torch::data;

// ---- chunk datasets ----

/// Chunk c holds 10c, 10c + 1, ... as many as `sizes` says.
class Reader : public datasets::ChunkDataReader<int> {
 public:
  explicit Reader(std::vector<size_t> sizes) : sizes_(std::move(sizes)) {}
  std::vector<int> read_chunk(size_t chunk) override {
    if (chunk == broken) throw std::runtime_error("chunk is damaged");
    std::vector<int> out;
    for (size_t i = 0; i < sizes_[chunk]; ++i) out.push_back(static_cast<int>(10 * chunk + i));
    return out;
  }
  size_t chunk_count() override { return sizes_.size(); }
  void reset() override { ++*resets; }
  size_t broken = 99;
  std::shared_ptr<int> resets = std::make_shared<int>(0);

 private:
  std::vector<size_t> sizes_;
};

using InOrder =
    datasets::ChunkDataset<Reader, samplers::SequentialSampler, samplers::SequentialSampler>;
using AtRandom = datasets::ChunkDataset<Reader>;

template <class D>
std::shared_ptr<D> chunks(Reader reader, datasets::ChunkDatasetOptions options) {
  using C = typename D::ChunkSamplerType;
  using E = typename D::ExampleSamplerType;
  return std::make_shared<D>(std::move(reader), C(1), E(1), options);
}

template <class Loader>
std::vector<std::vector<int>> epoch(Loader& loader) {
  std::vector<std::vector<int>> out;
  for (auto& batch : loader) out.push_back(batch);
  return out;
}

TEST(ChunkDataset, HandsOutBatchesAcrossChunks) {
  for (const size_t preloaders : {1, 3}) {
    const auto dataset =
        chunks<InOrder>(Reader({3, 0, 2, 4}), datasets::ChunkDatasetOptions(preloaders, 4, 4));
    auto loader = make_data_loader(datasets::SharedBatchDataset<InOrder>(dataset),
                                   DataLoaderOptions(4).workers(0));
    for (int pass = 0; pass < 2; ++pass)
      EXPECT_THAT(epoch(*loader), ElementsAre(ElementsAre(0, 1, 2, 20), ElementsAre(21, 30, 31, 32),
                                              ElementsAre(33)));
  }
}

TEST(ChunkDataset, ShufflesChunksAndTheirExamples) {
  torch::manual_seed(3);
  const std::vector<size_t> sizes(8, 5);
  const auto dataset =
      chunks<AtRandom>(Reader(sizes), datasets::ChunkDatasetOptions(2, 8, 64, /*cross=*/2));
  auto loader = make_data_loader(datasets::make_shared_dataset<AtRandom>(std::move(*dataset)),
                                 DataLoaderOptions(8).workers(2));
  std::vector<std::vector<int>> orders;
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<int> seen;
    for (const auto& batch : epoch(*loader)) seen.insert(seen.end(), batch.begin(), batch.end());
    orders.push_back(seen);
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 40u) << "each example once";
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_FALSE(std::is_sorted(orders[0].begin(), orders[0].end()));
}

TEST(ChunkDataset, APolicySeesWholeGroups) {
  std::vector<size_t> groups;
  InOrder dataset(Reader({2, 3, 1}), samplers::SequentialSampler(1), samplers::SequentialSampler(1),
                  datasets::ChunkDatasetOptions(1, 6, 6, 2), [&](std::vector<int>& group) {
                    groups.push_back(group.size());
                    std::reverse(group.begin(), group.end());
                  });
  dataset.reset();
  EXPECT_THAT(*dataset.get_batch(), ElementsAre(12, 11, 10, 1, 0, 20));
  EXPECT_FALSE(dataset.get_batch().has_value());
  EXPECT_THAT(groups, ElementsAre(5, 1));
}

TEST(ChunkDataset, ErrorsComeInTheirTurnAndTheRestGoesOn) {
  Reader reader({2, 2, 2});
  reader.broken = 1;
  const auto dataset = chunks<InOrder>(reader, datasets::ChunkDatasetOptions(1, 2, 2));
  dataset->reset();
  EXPECT_THAT(*dataset->get_batch(), ElementsAre(0, 1));
  EXPECT_EQ(error_of([&] { dataset->get_batch(); }), "chunk is damaged");
  EXPECT_THAT(*dataset->get_batch(), ElementsAre(20, 21));
  EXPECT_FALSE(dataset->get_batch().has_value());
}

TEST(ChunkDataset, SaysWhatIsWrong) {
  using Options = datasets::ChunkDatasetOptions;
  EXPECT_THAT(error_of([] { Options(0, 1); }),
              HasSubstr("Preloader count is 0. At least one is required."));
  EXPECT_THAT(error_of([] { Options(1, 0); }), HasSubstr("Batch size is 0."));
  EXPECT_THAT(error_of([] { Options(1, 1, 0); }),
              HasSubstr("Cache size 0 is less than batch size 1."));
  EXPECT_THAT(error_of([] { Options(1, 5, 4); }), HasSubstr("less than batch size 5"));
  const auto dataset = chunks<InOrder>(Reader({1}), Options(1, 2));
  EXPECT_THAT(error_of([&] { dataset->get_batch(); }),
              HasSubstr("needs to call reset() before calling get_batch()"));
  dataset->reset();
  EXPECT_THAT(error_of([&] { dataset->get_batch(3); }),
              HasSubstr("The requested batch size is 3, while the dataset is created with batch "
                        "size equal to 2"));
}

TEST(ChunkDataset, GoesOnFromAnArchive) {
  const datasets::ChunkDatasetOptions options(1, 2, 2);
  const auto dataset = chunks<InOrder>(Reader({2, 2, 2, 2}), options);
  dataset->reset();
  dataset->get_batch();
  torch::serialize::OutputArchive out;
  dataset->save(out);
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  const auto other = chunks<InOrder>(Reader({2, 2, 2, 2}), options);
  other->load(in);
  other->reset();
  const size_t behind = dataset->chunk_sampler().index();
  EXPECT_EQ((*other->get_batch())[0], static_cast<int>(10 * behind))
      << "chunks that were read ahead count as handed out";
}

// ---- stateful datasets and streams ----

/// Counts down from 5, once for all workers.
class CountDown : public datasets::StatefulDataset<CountDown, std::vector<int>, size_t> {
 public:
  torch::optional<std::vector<int>> get_batch(size_t n) override {
    std::vector<int> out;
    for (; out.size() < n && left_ > 0; --left_) out.push_back(left_);
    if (out.empty()) return torch::nullopt;
    return out;
  }
  torch::optional<size_t> size() const override { return 5; }
  void reset() override { left_ = 5; }
  void save(torch::serialize::OutputArchive& archive) const override {
    archive.write("left", c10::IValue(left_));
  }
  void load(torch::serialize::InputArchive& archive) override {
    c10::IValue left;
    archive.read("left", left);
    left_ = static_cast<int>(left.toInt());
  }

 private:
  int left_ = 0;
};

TEST(StatefulDataset, BeginsAnewEveryEpoch) {
  auto loader = make_data_loader(CountDown(), DataLoaderOptions(2));
  for (int pass = 0; pass < 2; ++pass)
    EXPECT_THAT(epoch(*loader), ElementsAre(ElementsAre(5, 4), ElementsAre(3, 2), ElementsAre(1)));
  auto doubled = make_data_loader(CountDown().map(transforms::BatchLambda<std::vector<int>, int>(
                                      [](std::vector<int> batch) { return 2 * batch[0]; })),
                                  DataLoaderOptions(3));
  std::vector<int> firsts;
  for (int first : *doubled) firsts.push_back(first);
  EXPECT_THAT(firsts, ElementsAre(10, 4));
}

/// Gives as many numbers as it is asked for, without an end of its own.
class Stream : public datasets::StreamDataset<Stream, std::vector<int>> {
 public:
  std::vector<int> get_batch(size_t n) override {
    std::vector<int> out;
    for (size_t i = 0; i < n; ++i) out.push_back(next_++);
    return out;
  }
  torch::optional<size_t> size() const override { return torch::nullopt; }

 private:
  int next_ = 0;
};

TEST(StreamSampler, SaysHowMuchIsWanted) {
  auto loader = make_data_loader(Stream(), samplers::StreamSampler(5), DataLoaderOptions(2));
  EXPECT_THAT(epoch(*loader), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  EXPECT_THAT(error_of([] { make_data_loader<samplers::SequentialSampler>(Stream()); }),
              HasSubstr("Expected the dataset to be sized"));
}

// ---- transforms ----

TEST(Transforms, MapNormalizeAndStack) {
  const auto images = torch::arange(24).to(torch::kFloat).reshape({3, 2, 2, 2});
  auto dataset = datasets::TensorDataset(images)
                     .map(transforms::Lambda<TensorExample, Example<>>(
                         [](TensorExample e) { return Example<>(e.data, torch::ones(1)); }))
                     .map(transforms::Normalize<>({1.0, 2.0}, {2.0, 4.0}))
                     .map(transforms::TensorLambda<>([](torch::Tensor t) { return t + 1; }))
                     .map(transforms::Stack<>());
  auto loader = make_data_loader<samplers::SequentialSampler>(std::move(dataset), 3);
  const Example<> batch = *loader->begin();
  const auto mean = torch::tensor({1.0f, 2.0f}).reshape({2, 1, 1});
  EXPECT_TRUE(torch::allclose(batch.data, (images - mean) / (mean * 2) + 1));
  EXPECT_EQ(batch.target.sizes(), (std::vector<int64_t>{3, 1}));
  auto mapped = datasets::map(datasets::TensorDataset(images), transforms::Stack<TensorExample>());
  EXPECT_TRUE(mapped.get_batch(std::vector<size_t>{2, 0}).data[0].equal(images[2]));
}

TEST(Transforms, ACollationOfAProgram) {
  struct Sum : transforms::Collation<int> {
    int apply_batch(std::vector<int> numbers) override {
      return std::accumulate(numbers.begin(), numbers.end(), 0);
    }
  };
  struct Numbers : datasets::Dataset<Numbers, int> {
    int get(size_t i) override { return static_cast<int>(i); }
    torch::optional<size_t> size() const override { return 5; }
  };
  auto loader = make_data_loader<samplers::SequentialSampler>(Numbers().map(Sum()), 3);
  std::vector<int> sums;
  for (int sum : *loader) sums.push_back(sum);
  EXPECT_THAT(sums, ElementsAre(3, 7));
}

// ---- samplers ----

template <class S>
std::vector<size_t> rest(S& sampler) {
  std::vector<size_t> out;
  while (auto batch = sampler.next(3)) {
    const std::vector<size_t> list = *batch;
    out.insert(out.end(), list.begin(), list.end());
  }
  return out;
}

template <class S>
void expect_goes_on(S sampler, S fresh) {
  sampler.reset();
  sampler.next(3);
  torch::serialize::OutputArchive out;
  sampler.save(out);
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  fresh.reset();
  fresh.load(in);
  EXPECT_EQ(fresh.index(), 3u);
  EXPECT_EQ(rest(fresh), rest(sampler));
}

TEST(Samplers, GoOnFromArchives) {
  expect_goes_on(samplers::RandomSampler(10), samplers::RandomSampler(10));
  expect_goes_on(samplers::SequentialSampler(7), samplers::SequentialSampler(7));
  expect_goes_on(samplers::StreamSampler(7), samplers::StreamSampler(7));
  expect_goes_on(samplers::DistributedRandomSampler(20, 2, 1),
                 samplers::DistributedRandomSampler(20, 2, 1));
  expect_goes_on(samplers::DistributedSequentialSampler(20, 2, 0),
                 samplers::DistributedSequentialSampler(20, 2, 0));
  torch::serialize::OutputArchive out;
  out.write("index", c10::IValue(8));
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  samplers::SequentialSampler small(7);
  EXPECT_THAT(error_of([&] { small.load(in); }), HasSubstr("index is 8, but there are 7"));
}

TEST(Samplers, TakeAnotherSizeAtReset) {
  samplers::SequentialSampler ordered(3);
  ordered.reset(5);
  EXPECT_THAT(rest(ordered), ElementsAre(0, 1, 2, 3, 4));
  samplers::RandomSampler random(3);
  random.reset(6);
  EXPECT_EQ(rest(random).size(), 6u);
  random.reset(torch::nullopt);
  EXPECT_EQ(rest(random).size(), 6u);
  samplers::DistributedSequentialSampler share(10, 2, 1, false);
  share.reset(6);
  EXPECT_THAT(rest(share), ElementsAre(3, 4, 5));
}

// ---- loaders ----

struct Failing : datasets::Dataset<Failing, int> {
  int get(size_t i) override {
    if (i == 1) throw std::invalid_argument("badness");
    return static_cast<int>(i);
  }
  torch::optional<size_t> size() const override { return 3; }
};

TEST(Loader, WorkersExceptionsAreWrapped) {
  auto loader =
      make_data_loader<samplers::SequentialSampler>(Failing(), DataLoaderOptions().workers(2));
  auto it = loader->begin();
  EXPECT_EQ(it->at(0), 0);
  try {
    ++it;
    FAIL() << "no exception";
  } catch (const WorkerException& e) {
    EXPECT_STREQ(e.what(),
                 "Caught exception in DataLoader worker thread. Original message: badness");
    EXPECT_THROW(std::rethrow_exception(e.original_exception), std::invalid_argument);
  }
  ++it;
  EXPECT_EQ(it->at(0), 2);
}

TEST(Loader, TheFirstBatchIsReadWhereItIsLookedAt) {
  struct Broken : datasets::Dataset<Broken, int> {
    int get(size_t) override { throw std::invalid_argument("badness"); }
    torch::optional<size_t> size() const override { return 2; }
  };
  for (size_t workers : {size_t{0}, size_t{1}}) {
    auto loader = make_data_loader<samplers::SequentialSampler>(
        Broken(), DataLoaderOptions().workers(workers));
    EXPECT_EQ(loader->options().workers, workers);
    EXPECT_EQ(loader->options().batch_size, 1u);
    auto it = loader->begin();
    if (workers == 0)
      EXPECT_THROW(*it, std::invalid_argument) << "as it was thrown";
    else
      EXPECT_THROW(*it, WorkerException);
    EXPECT_ANY_THROW(++it) << "the second batch";
    EXPECT_TRUE((++it, it == loader->end()));
  }
}

TEST(Loader, IteratorsKnowTheirEnd) {
  auto loader = make_data_loader<samplers::SequentialSampler>(
      datasets::TensorDataset(torch::arange(3)), DataLoaderOptions(2));
  auto it = loader->begin();
  auto copy = it;
  ++it;
  ++it;
  EXPECT_TRUE(it == loader->end());
  EXPECT_TRUE(copy == loader->end());
  EXPECT_EQ(error_of([&] { *it; }), "Attempted to dereference iterator that was past the end");
  EXPECT_EQ(error_of([&] { ++it; }), "Attempted to increment iterator past the end");
  EXPECT_EQ(error_of([&] { *copy; }), "Attempted to dereference iterator that was past the end");
}

TEST(Loader, BeginsAnewForAllIteratorsWhereNobodyReadsAhead) {
  const auto numbers = [] { return datasets::TensorDataset(torch::arange(4)); };
  const auto of = [](auto& it) { return (*it)[0].data.template item<int64_t>(); };
  const auto loader =
      make_data_loader<samplers::SequentialSampler>(numbers(), DataLoaderOptions().batch_size(1));
  auto first = loader->begin();
  EXPECT_EQ(of(first), 0);
  auto second = loader->begin();
  EXPECT_EQ(of(second), 0);
  ++first;
  EXPECT_EQ(of(first), 1);
  ++second;
  EXPECT_EQ(of(second), 2);
  auto unread = loader->begin();
  EXPECT_EQ(of(unread), 0) << "also where neither was at its end";
  const auto ahead = make_data_loader<samplers::SequentialSampler>(
      numbers(), DataLoaderOptions().batch_size(1).workers(1));
  auto reading = ahead->begin();
  EXPECT_EQ(error_of([&] { ahead->begin(); }),
            "Attempted to get a new DataLoader iterator while another iterator is not yet "
            "exhausted");
}

TEST(Loader, OptionsAreRead) {
  const auto options = DataLoaderOptions(8).workers(3).drop_last(true);
  const FullDataLoaderOptions full(options);
  EXPECT_EQ(full.batch_size, 8u);
  EXPECT_EQ(full.workers, 3u);
  EXPECT_EQ(full.max_jobs, 6u) << "twice the workers";
  EXPECT_TRUE(full.drop_last);
  EXPECT_TRUE(full.enforce_ordering);
  EXPECT_FALSE(full.timeout.has_value());
  EXPECT_EQ(FullDataLoaderOptions(DataLoaderOptions().timeout(std::chrono::milliseconds(20)))
                .timeout->count(),
            20);
}

}  // namespace
}  // namespace frontend_data
