// Datasets in parts: no example twice, none lost, sizes and classes as asked.
#include "taeda/data/split.h"

#include <gmock/gmock.h>

#include <set>

#include "taeda/data/tensor_dataset.h"
#include "taeda/device/generator.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using data::Indices;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Indices all_of(const std::vector<Indices>& parts) {
  Indices all;
  for (const Indices& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  return all;
}

Indices first(size_t n) {
  Indices out(n);
  for (size_t i = 0; i < n; ++i) out[i] = i;
  return out;
}

TEST(Split, FractionsLeaveNothingOver) {
  EXPECT_THAT(data::split_lengths(10, {0.5, 0.3, 0.2}), ElementsAre(5, 3, 2));
  EXPECT_THAT(data::split_lengths(11, {0.5, 0.25, 0.25}), ElementsAre(6, 3, 2));
  EXPECT_THAT(data::split_lengths(3, {0.1, 0.1, 0.8}), ElementsAre(1, 0, 2));
  EXPECT_THAT(data::split_lengths(7, {4, 3}), ElementsAre(4, 3));
  EXPECT_THAT(data::split_lengths(5, {1.0}), ElementsAre(5));
}

TEST(Split, PartsThatDoNotFitAreRefused) {
  EXPECT_THAT(error_of([] {
                data::split_lengths(10, {4, 3});
              }),
              HasSubstr("Sum of input lengths does not equal"));
  EXPECT_THAT(error_of([] { data::split_lengths(10, {0.7, 0.2}); }), HasSubstr("Sum of input"));
  EXPECT_THAT(error_of([] {
                data::split_lengths(2, {0.5, 1.5});
              }),
              HasSubstr("part 0 is no number"));
  EXPECT_THAT(error_of([] {
                data::split_lengths(10, {1.5, -0.5});
              }),
              HasSubstr("Fraction at index 0 is not between 0 and 1"));
  EXPECT_THAT(error_of([] { data::split_lengths(10, {11, -1}); }), HasSubstr("part 1"));
}

// torch.utils.data.random_split(range(10), [3, 7], generator=torch.Generator().manual_seed(42))
TEST(Split, TheOrderIsPyTorchs) {
  const auto parts = data::random_split(size_t{10}, {3, 7}, Generator(kCPU, 42));
  EXPECT_THAT(parts, ElementsAre(ElementsAre(2, 6, 1), ElementsAre(8, 4, 5, 0, 9, 3, 7)));
}

TEST(Split, SubsetsHaveTheExamplesOfTheirParts) {
  const data::datasets::TensorDataset dataset(arange(10));
  auto parts = data::random_split(dataset, {0.8, 0.2});
  std::multiset<int64_t> seen;
  for (auto& part : parts)
    for (size_t i = 0; i < part.size().value(); ++i) seen.insert(part.get(i).data.item<int64_t>());
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(parts[0].size(), 8u);
}

TEST(Split, EveryClassHasItsShareInEveryPart) {
  // 60 of class 7, 30 of class -1, 10 of class 2.
  Tensor labels = full({100}, 7, kLong);
  labels.slice(0, 60, 90).fill_(-1);
  labels.slice(0, 90).fill_(2);
  const auto parts = data::stratified_split(labels, {0.7, 0.2, 0.1});
  EXPECT_EQ(all_of(parts), first(100));
  const auto count = [&](size_t part, int64_t label) {
    return std::ranges::count_if(parts[part],
                                 [&](size_t i) { return labels.data_ptr<int64_t>()[i] == label; });
  };
  EXPECT_THAT((std::vector{count(0, 7), count(1, 7), count(2, 7)}), ElementsAre(42, 12, 6));
  EXPECT_THAT((std::vector{count(0, -1), count(1, -1), count(2, -1)}), ElementsAre(21, 6, 3));
  EXPECT_THAT((std::vector{count(0, 2), count(1, 2), count(2, 2)}), ElementsAre(7, 2, 1));
}

TEST(Split, PartsOfManyClassesHaveTheirLengths) {
  manual_seed(3);
  for (int64_t classes : {1, 2, 5, 40}) {
    const Tensor labels = randint(0, classes, {101});
    const auto parts = data::stratified_split(labels, {0.5, 0.3, 0.2});
    EXPECT_EQ(all_of(parts), first(101));
    const auto lengths = data::split_lengths(101, {0.5, 0.3, 0.2});
    for (size_t p = 0; p < 3; ++p) EXPECT_EQ(parts[p].size(), lengths[p]) << classes;
  }
}

TEST(Split, EveryExampleIsHeldBackOnce) {
  for (const bool shuffle : {false, true}) {
    const auto folds = data::k_fold(11, 3, shuffle);
    ASSERT_EQ(folds.size(), 3u);
    std::vector<Indices> held;
    for (const data::Fold& fold : folds) {
      EXPECT_EQ(all_of({fold.training, fold.validation}), first(11));
      held.push_back(fold.validation);
    }
    EXPECT_EQ(all_of(held), first(11));
    EXPECT_THAT((std::vector{held[0].size(), held[1].size(), held[2].size()}),
                ElementsAre(4, 4, 3));
  }
  EXPECT_THAT(data::k_fold(5, 2, false)[0].validation, ElementsAre(0, 1, 2));
}

TEST(Split, FoldsHaveAllClassesAlike) {
  const Tensor labels = tensor({0, 0, 0, 0, 0, 0, 1, 1, 1});
  for (const data::Fold& fold : data::stratified_k_fold(labels, 3)) {
    EXPECT_EQ(fold.validation.size(), 3u);
    EXPECT_EQ(std::ranges::count_if(fold.validation, [](size_t i) { return i >= 6; }), 1);
    EXPECT_EQ(all_of({fold.training, fold.validation}), first(9));
  }
}

TEST(Split, FoldsAndLabelsThatCannotBeAreRefused) {
  EXPECT_THAT(error_of([] { data::k_fold(3, 4); }),
              HasSubstr("expected a number of folds from 2 to that of examples, 3, but got 4"));
  EXPECT_THAT(error_of([] { data::k_fold(3, 1); }), HasSubstr("but got 1"));
  EXPECT_THAT(error_of([] { data::stratified_k_fold(zeros({4}), 2); }),
              HasSubstr("expected labels of a whole-number type, but got Float"));
  EXPECT_THAT(error_of([] {
                data::stratified_split(zeros({4, 1}, kLong), {0.5, 0.5});
              }),
              HasSubstr("expected labels of shape (N)"));
}

}  // namespace
}  // namespace taeda
