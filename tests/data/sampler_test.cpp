#include "taeda/data/sampler.h"

#include <gmock/gmock.h>

#include <cmath>

#include "taeda/base/error.h"
#include "tests/data/sampler_golden.h"

namespace taeda::data::samplers {
namespace {

using Indices = std::vector<size_t>;

/// Everything that the sampler yields in one epoch, three at a time.
Indices epoch(Sampler& sampler) {
  sampler.reset();
  Indices all;
  while (auto batch = sampler.next(3)) {
    EXPECT_LE(batch->size(), 3u);
    all.insert(all.end(), batch->begin(), batch->end());
  }
  EXPECT_EQ(all.size(), sampler.size());
  return all;
}

void expect_epochs(Sampler& sampler, const std::vector<Indices>& expected) {
  for (const Indices& e : expected) EXPECT_EQ(epoch(sampler), e);
}

Generator seeded(uint64_t seed) { return Generator(kCPU, seed); }

const std::vector<double> kWeights = {0.5, 2.0, 0.0, 1.0, 4.0, 0.25};

TEST(Sampler, SequentialCountsUpEveryEpoch) {
  SequentialSampler sampler(7);
  expect_epochs(sampler, {{0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6}});
  SequentialSampler none(0);
  EXPECT_EQ(none.next(3), std::nullopt);
}

TEST(Sampler, RandomDrawsPyTorchsPermutations) {
  RandomSampler own(10, false, {}, seeded(3));
  expect_epochs(own, golden::kRandom);
  manual_seed(5);
  RandomSampler by_default(10);
  expect_epochs(by_default, golden::kRandomDefault);
}

TEST(Sampler, RandomWithReplacementAndMoreSamplesThanExamples) {
  RandomSampler replacement(10, true, 12, seeded(3));
  expect_epochs(replacement, golden::kReplacement);
  RandomSampler rounds(4, false, 10, seeded(3));
  expect_epochs(rounds, golden::kMoreThanOnce);
}

TEST(Sampler, SubsetVisitsTheGivenIndices) {
  SubsetRandomSampler sampler({3, 5, 8, 13, 21}, seeded(1));
  expect_epochs(sampler, golden::kSubset);
}

TEST(Sampler, WeightedDrawsMultinomialsNumbers) {
  WeightedRandomSampler many(kWeights, 12, true, seeded(7));
  expect_epochs(many, golden::kWeighted);
  WeightedRandomSampler once(kWeights, 4, false, seeded(7));
  expect_epochs(once, golden::kWeightedOnce);
}

TEST(Sampler, WeightedFollowsItsWeights) {
  WeightedRandomSampler sampler(kWeights, 77500, true, seeded(0));
  Indices count(kWeights.size());
  for (size_t i : epoch(sampler)) ++count[i];
  for (size_t i = 0; i < count.size(); ++i) {
    const double expected = 10000 * kWeights[i];
    EXPECT_NEAR(static_cast<double>(count[i]), expected, 5 * std::sqrt(expected)) << i;
  }
}

TEST(Sampler, DistributedSharesAreThoseOfPyTorch) {
  auto expected = golden::kDistributed.begin();
  for (bool shuffle : {false, true})
    for (bool drop_last : {false, true})
      for (size_t rank = 0; rank < 3; ++rank) {
        DistributedSampler sampler(10, 3, rank, shuffle, 4, drop_last);
        sampler.set_epoch(2);
        EXPECT_EQ(epoch(sampler), *expected++);
      }
  for (size_t rank = 0; rank < 5; ++rank) {
    DistributedSampler sampler(2, 5, rank, false);
    EXPECT_EQ(epoch(sampler), golden::kDistributedFew[rank]);
  }
}

TEST(Sampler, DistributedEpochChangesTheOrderOnly) {
  DistributedSampler sampler(100, 2, 1);
  const Indices first = epoch(sampler);
  EXPECT_EQ(epoch(sampler), first);
  sampler.set_epoch(1);
  EXPECT_NE(epoch(sampler), first);
}

TEST(Sampler, BatchSamplerCutsItsOwnBatches) {
  BatchSampler keep(std::make_shared<SequentialSampler>(5), 2);
  EXPECT_EQ(keep.batches(), 3u);
  EXPECT_EQ(*keep.next(100), (Indices{0, 1}));
  EXPECT_EQ(*keep.next(100), (Indices{2, 3}));
  EXPECT_EQ(*keep.next(100), (Indices{4}));
  EXPECT_EQ(keep.next(100), std::nullopt);
  BatchSampler drop(std::make_shared<SequentialSampler>(5), 2, true);
  EXPECT_EQ(drop.batches(), 2u);
  drop.next();
  drop.next();
  EXPECT_EQ(drop.next(), std::nullopt);
}

template <class F>
void expect_value_error(F&& f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "no error";
  } catch (const ValueError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(text));
  }
}

TEST(Sampler, RefusesWhatCannotBeSampled) {
  expect_value_error([] { RandomSampler(0); }, "num_samples should be a positive integer value");
  expect_value_error([] { RandomSampler(0, true, 3); }, "cannot draw 3 samples from 0 examples");
  expect_value_error([] { WeightedRandomSampler({1, 2}, 0); }, "num_samples should be a positive");
  expect_value_error([] { WeightedRandomSampler({1, -2}, 1); }, "`inf`, `nan` or element < 0");
  expect_value_error(
      [] {
        WeightedRandomSampler({1, std::nan("")}, 1);
      },
      "`inf`, `nan` or element < 0");
  expect_value_error([] { WeightedRandomSampler({0, 0}, 1); }, "sum of probabilities <= 0");
  expect_value_error([] { WeightedRandomSampler({0, 1}, 2, false); }, "not enough");
  expect_value_error([] { DistributedSampler(10, 2, 2); },
                     "Invalid rank 2, rank should be in the interval [0, 1]");
  expect_value_error([] { DistributedSampler(10, 0, 0); }, "num_replicas should be positive");
  expect_value_error([] { BatchSampler(std::make_shared<SequentialSampler>(5), 0); },
                     "batch_size=0");
}

}  // namespace
}  // namespace taeda::data::samplers
