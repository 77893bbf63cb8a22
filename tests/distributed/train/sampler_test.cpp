// Shares of a dataset: of a group's processes, in the middle of an epoch, and libtorch's.
#include "taeda/distributed/sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

#include "taeda/data/loader.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/distributed/store/hash_store.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

namespace samplers = data::samplers;
using samplers::SamplerState;
using testing::HasSubstr;
using Indices = std::vector<size_t>;

/// A dataset whose examples are their indices.
struct Numbers : data::datasets::Dataset<Numbers, int64_t> {
  explicit Numbers(size_t n) : n(n) {}
  int64_t get(size_t i) override { return static_cast<int64_t>(i); }
  std::optional<size_t> size() const override { return n; }
  size_t n;
};

/// What is left of the epoch that reset() began.
Indices rest(samplers::Sampler& sampler) {
  Indices all;
  while (const auto batch = sampler.next(3)) all.insert(all.end(), batch->begin(), batch->end());
  return all;
}
Indices whole(samplers::Sampler& sampler) {
  sampler.reset();
  return rest(sampler);
}

TEST(DistributedSamplers, PlaceAndNumberComeFromTheGroup) {
  EXPECT_THAT(error_of([] { distributed::DistributedSampler(10); }),
              HasSubstr("Default process group has not been initialized"));
  distributed::init_process_group(
      "gloo", {.world_size = 1, .rank = 0, .store = std::make_shared<distributed::HashStore>()});
  distributed::DistributedSampler by_default(Numbers(5), {}, {}, /*shuffle=*/false);
  EXPECT_EQ(whole(by_default), (Indices{0, 1, 2, 3, 4}));
  distributed::destroy_process_group();
  distributed::DistributedSampler given(Numbers(10), 3, 2, true, 4, true);
  samplers::DistributedSampler same(10, 3, 2, true, 4, true);
  given.set_epoch(2);
  same.set_epoch(2);
  EXPECT_EQ(whole(given), whole(same));
  EXPECT_EQ(error_of([] { distributed::StatefulDistributedSampler(10, 2, 2); }),
            "Invalid rank 2, rank should be in the interval [0, 1]");
}

TEST(DistributedSamplers, StatefulGoesOnBehindWhatItYielded) {
  for (size_t taken = 0; taken <= 4; ++taken) {
    samplers::StatefulDistributedSampler first(25, 2, 1, true, 9), second(25, 2, 1, true, 9);
    first.set_epoch(3);
    const Indices all = whole(first);
    first.reset();
    for (size_t i = 0; i < taken; ++i) first.next(3);
    const SamplerState state = first.state_dict();
    EXPECT_EQ(state["yielded"], static_cast<double>(3 * taken));
    second.load_state_dict(state);
    EXPECT_EQ(second.state_dict()["yielded"], static_cast<double>(3 * taken)) << "not yet begun";
    const size_t skipped = std::min<size_t>(3 * taken, all.size());
    EXPECT_EQ(whole(second),
              Indices(all.begin() + static_cast<std::ptrdiff_t>(skipped), all.end()));
    EXPECT_EQ(whole(second), all) << "the epoch after it is whole";
    EXPECT_EQ(second.state_dict()["yielded"], 0) << "of an epoch that is over";
  }
}

TEST(DistributedSamplers, StatefulCountsOnFromWhereItWentOn) {
  samplers::StatefulDistributedSampler sampler(20, 2, 0);
  sampler.load_state_dict({{"yielded", 4}});
  sampler.reset();
  EXPECT_EQ(sampler.state_dict()["yielded"], 4);
  sampler.next(3);
  EXPECT_EQ(sampler.state_dict()["yielded"], 7);
  EXPECT_EQ(sampler.size(), 10u);
}

TEST(DistributedSamplers, StatesThatDoNotFitAreRefused) {
  samplers::StatefulDistributedSampler sampler(20, 2, 0);
  const auto error = [&](SamplerState state) {
    return error_of([&] { sampler.load_state_dict(state); });
  };
  EXPECT_EQ(error({{"yielded", 11}}),
            "sampler state: it has yielded 11 indices, but an epoch of this sampler has 10");
  EXPECT_EQ(error({{"yielded", -1}}), "sampler state: expected a count as 'yielded', got -1");
  EXPECT_EQ(error({{"yielded", 2}, {"num_replicas", 4}}),
            "sampler state: it is of 4 replicas, but this sampler has num_replicas=2");
  EXPECT_EQ(error({{"weights", 1}}), "sampler state: DistributedSampler has no 'weights'");
  EXPECT_EQ(sampler.state_dict()["yielded"], 0) << "nothing has changed";
  samplers::SequentialSampler none(3);
  EXPECT_EQ(error_of([&] {
              none.load_state_dict({{"epoch", 1}});
            }),
            "sampler state: this sampler has no 'epoch'");
}

/// A rank's loader of 26 numbers for 4 ranks.
auto loader_of(size_t rank, int workers, uint64_t epoch) {
  auto sampler = std::make_shared<samplers::StatefulDistributedSampler>(26, 4, rank, true, 1);
  sampler->set_epoch(epoch);
  return data::DataLoader(Numbers(26),
                          {.batch_size = 2, .num_workers = workers, .sampler = sampler});
}

template <class Loader>
Indices numbers_of(Loader& loader) {
  Indices all;
  for (const Tensor& batch : loader)
    for (int64_t i = 0; i < batch.numel(); ++i)
      all.push_back(static_cast<size_t>(batch[i].item<int64_t>()));
  return all;
}

TEST(DistributedSamplers, LoadersOfAllRanksVisitEverything) {
  for (const int workers : {0, 2}) {
    std::multiset<size_t> seen;
    for (size_t rank = 0; rank < 4; ++rank) {
      auto loader = loader_of(rank, workers, 5);
      for (const size_t i : numbers_of(loader)) seen.insert(i);
    }
    EXPECT_EQ(seen.size(), 28u);
    EXPECT_EQ(std::set<size_t>(seen.begin(), seen.end()).size(), 26u);
  }
}

TEST(DistributedSamplers, LoadersGoOnInTheMiddleOfAnEpoch) {
  for (const int workers : {0, 2}) {
    auto loader = loader_of(1, workers, 5);
    const Indices all = numbers_of(loader);
    size_t handed_out = 0;
    for ([[maybe_unused]] const Tensor& batch : loader) {
      const data::LoaderState state = loader.state_dict();
      handed_out += 2;
      auto other = loader_of(1, 2 - workers, 0);  // the state knows the epoch
      other.load_state_dict(state);
      const size_t behind = std::min(handed_out, all.size());
      EXPECT_EQ(numbers_of(other),
                Indices(all.begin() + static_cast<std::ptrdiff_t>(behind), all.end()));
      EXPECT_EQ(numbers_of(other), all) << "the next one is whole";
    }
    EXPECT_EQ(handed_out, 8u);
  }
}

TEST(DistributedSamplers, LoadersGoOnFromASamplerThatWentOn) {
  auto sampler = std::make_shared<samplers::StatefulDistributedSampler>(26, 4, 0);
  const Indices all = whole(*sampler);
  sampler->load_state_dict({{"yielded", 3}});
  data::DataLoader loader(Numbers(26), {.batch_size = 2, .sampler = sampler});
  auto epoch = loader.epoch();
  epoch->next();
  const data::LoaderState state = loader.state_dict();
  auto again = std::make_shared<samplers::StatefulDistributedSampler>(26, 4, 0);
  data::DataLoader other(Numbers(26), {.batch_size = 2, .sampler = again});
  other.load_state_dict(state);
  EXPECT_EQ(numbers_of(other), Indices(all.begin() + 5, all.end()));
}

TEST(DistributedSamplers, LoadersWithAnotherNumberOfProcessesAreRefused) {
  const auto state = loader_of(1, 0, 5).state_dict();
  data::DataLoader other(
      Numbers(26), {.batch_size = 2,
                    .sampler = std::make_shared<samplers::StatefulDistributedSampler>(26, 2, 1)});
  EXPECT_EQ(error_of([&] { other.load_state_dict(state); }),
            "sampler state: it is of 4 replicas, but this sampler has num_replicas=2");
}

TEST(DistributedSamplers, StateOfABatchSamplersSamplerIsInTheLoaders) {
  const auto make = [](size_t size) {
    return std::make_shared<samplers::BatchSampler>(
        std::make_shared<samplers::StatefulDistributedSampler>(size, 2, 0), 3);
  };
  const auto first = make(12), second = make(12);
  first->load_state_dict({{"epoch", 7}});
  second->load_state_dict(first->state_at_reset());
  EXPECT_EQ(whole(*first), whole(*second));
  EXPECT_EQ(second->state_at_reset()["epoch"], 7);
}

TEST(DistributedSamplers, LibtorchsSequentialSharesAreBlocks) {
  using samplers::DistributedSequentialSampler;
  DistributedSequentialSampler first(10, 3, 0), last(10, 3, 2), short_one(10, 3, 2, false);
  EXPECT_EQ(whole(first), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(whole(last), (Indices{8, 9, 0, 1}));
  EXPECT_EQ(whole(short_one), (Indices{6, 7, 8}));
  EXPECT_EQ(short_one.size(), 3u);
  EXPECT_EQ(short_one.index(), 3u);
  EXPECT_EQ(error_of([] { DistributedSequentialSampler(10, 3, 3); }),
            "Invalid rank 3, rank should be in the interval [0, 2]");
}

TEST(DistributedSamplers, LibtorchsRandomSharesFollowTheEpoch) {
  // std::shuffle of 0, ..., 9, 0, 1 by std::mt19937(2), as libtorch.
  std::vector<size_t> order(12);
  for (size_t i = 0; i < 12; ++i) order[i] = i % 10;
  std::mt19937 random(2);
  std::shuffle(order.begin(), order.end(), random);
  Indices all;
  for (size_t rank = 0; rank < 3; ++rank) {
    samplers::DistributedRandomSampler sampler(10, 3, rank);
    const Indices zero = whole(sampler);
    sampler.set_epoch(2);
    EXPECT_EQ(sampler.epoch(), 2u);
    const Indices two = whole(sampler);
    EXPECT_NE(zero, two);
    all.insert(all.end(), two.begin(), two.end());
  }
  EXPECT_EQ(all, order);
  auto loader = data::make_data_loader<samplers::DistributedRandomSampler>(Numbers(10), 4);
  size_t n = 0;
  for (const std::vector<int64_t>& batch : *loader) n += batch.size();
  EXPECT_EQ(n, 10u);
}

}  // namespace
}  // namespace taeda
