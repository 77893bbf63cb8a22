// Metrics: values computed by hand, the same from one batch as from many, and merged from parts.
#include "taeda/training/metrics.h"

#include <gmock/gmock.h>

#include <cmath>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/error_of.h"
#include "tests/values.h"

namespace taeda {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using training::Average;

double value(const training::Metric& metric) { return metric.compute().item<double>(); }

TEST(Metrics, AccuracyCountsWhatWasMet) {
  const Tensor scores =
      tensor({{0.1, 0.7, 0.2}, {0.5, 0.3, 0.2}, {0.2, 0.3, 0.5}, {0.6, 0.1, 0.3}});
  const Tensor target = tensor({1, 1, 2, 1});
  training::Accuracy one, two({.top_k = 2}), some({.ignore_index = 2});
  one.update(scores, target);
  two.update(scores, target);
  some.update(scores, target);
  EXPECT_EQ(value(one), 0.5);
  EXPECT_EQ(value(two), 0.75);
  EXPECT_EQ(value(some), 1. / 3);
  one.update(tensor({1, 0}), tensor({1, 0}));  // classes in place of scores
  EXPECT_EQ(value(one), 4. / 6);
  one.reset();
  one.update(zeros({2, 3, 4}), zeros({2, 4}, kLong));  // more dimensions
  EXPECT_EQ(value(one), 1);
}

TEST(Metrics, ConfusionHasTargetsInRows) {
  training::ConfusionMatrix confusion(3);
  confusion.update(tensor({0, 2, 1, 0, 0, 1}), tensor({0, 1, 2, 0, 1, 2}));
  EXPECT_TRUE(confusion.compute().equal(tensor({{2., 0., 0.}, {1., 0., 1.}, {0., 2., 0.}})));
  EXPECT_THAT(error_of([&] { confusion.update(tensor({3}), tensor({0})); }),
              HasSubstr("ConfusionMatrix.update: class 3 of the output is none of 0 to 2"));
}

TEST(Metrics, ClassesAreAveragedAsAsked) {
  const Tensor output = tensor({0, 2, 1, 0, 0, 1}), target = tensor({0, 1, 2, 0, 1, 2});
  const auto f1 = [&](Average average) {
    training::F1Score metric(3, average);
    metric.update(output, target);
    return metric.compute();
  };
  EXPECT_NEAR(f1(Average::Macro).item<double>(), 0.8 / 3, 1e-15);
  EXPECT_NEAR(f1(Average::Micro).item<double>(), 1. / 3, 1e-15);
  EXPECT_NEAR(f1(Average::Weighted).item<double>(), 0.8 / 3, 1e-15);
  EXPECT_TRUE(f1(Average::None).equal(tensor({0.8, 0., 0.}, kDouble)));
  training::Precision precision(3);
  precision.update(output, target);
  EXPECT_NEAR(value(precision), 2. / 9, 1e-15);
  training::Recall recall(3);
  recall.update(output, target);
  EXPECT_NEAR(value(recall), 1. / 3, 1e-15);
  // A class that occurs nowhere does not count.
  training::F1Score wide(30);
  wide.update(output, target);
  EXPECT_NEAR(value(wide), 0.8 / 3, 1e-15);
}

TEST(Metrics, AurocIsTheShareOfPairsInOrder) {
  training::AUROC auroc;
  auroc.update(tensor({0.1, 0.4, 0.35, 0.8}), tensor({0, 0, 1, 1}));
  EXPECT_EQ(value(auroc), 0.75);
  training::AUROC equal;
  equal.update(full({4}, 0.5), tensor({0, 1, 1, 1}));
  EXPECT_EQ(value(equal), 0.5);
  EXPECT_THAT(error_of([&] { auroc.update(tensor({0.5}), tensor({2})); }), HasSubstr("0 or 1"));
  training::AUROC one;
  one.update(tensor({0.5, 0.1}), tensor({1, 1}));
  EXPECT_THAT(error_of([&] { one.compute(); }), HasSubstr("all 2 targets are 1"));
}

TEST(Metrics, ErrorsOfNumbers) {
  const Tensor output = tensor({2.5, 0., 2., 8.}), target = tensor({3., -0.5, 2., 7.});
  training::MeanAbsoluteError mae;
  training::MeanSquaredError mse, rmse(false);
  training::R2Score r2;
  for (training::Metric* m : std::initializer_list<training::Metric*>{&mae, &mse, &rmse, &r2})
    EXPECT_THAT(error_of([&] { m->compute(); }), HasSubstr("compute"));
  mae.update(output, target);
  mse.update(output, target);
  rmse.update(output, target);
  r2.update(output, target);
  EXPECT_EQ(value(mae), 0.5);
  EXPECT_EQ(value(mse), 0.375);
  EXPECT_EQ(value(rmse), std::sqrt(0.375));
  EXPECT_NEAR(value(r2), 1 - 1.5 / 29.1875, 1e-15);
  EXPECT_THAT(error_of([&] { mae.update(output, target.unsqueeze(1)); }),
              HasSubstr("MeanAbsoluteError.update: expected output and target of one shape"));
}

TEST(Metrics, R2LosesNothingFarFromZero) {
  training::R2Score near, far;
  manual_seed(0);
  for (int i = 0; i < 4; ++i) {
    const Tensor target = randn({50, 2}, kDouble), output = target + randn({50, 2}, kDouble) * 0.1;
    near.update(output, target);
    far.update(output + 1e8, target + 1e8);
  }
  EXPECT_NEAR(value(near), value(far), 1e-6);
}

TEST(Metrics, PerplexityOfEqualChancesIsTheirNumber) {
  training::Perplexity perplexity, some(0);
  perplexity.update(zeros({2, 5, 8}), randint(0, 8, {2, 5}));
  EXPECT_NEAR(value(perplexity), 8, 1e-5);  // logarithms of float32
  some.update(tensor({{0., 0.}, {0., std::log(3.)}}), tensor({0, 1}));
  EXPECT_NEAR(value(some), 4. / 3, 1e-6);
  EXPECT_THAT(error_of([&] {
                perplexity.update(zeros({2, 8}), zeros({3}, kLong));
              }),
              HasSubstr("(..., V)"));
}

/// All metrics of sums and more, over batches of one and of all, and over two parts that are
/// merged.
template <class M>
void expect_same_however_given(M whole, const Tensor& output, const Tensor& target) {
  M batches = whole, first = whole, second = whole;
  whole.update(output, target);
  for (int64_t i = 0; i < output.size(0); ++i) {
    batches.update(output.slice(0, i, i + 1), target.slice(0, i, i + 1));
    (i % 3 == 0 ? first : second).update(output.slice(0, i, i + 1), target.slice(0, i, i + 1));
  }
  M none = M(first);
  none.reset();
  first.merge(second.state());
  first.merge(none.state());
  const Tensor expected = whole.compute();
  EXPECT_LT((batches.compute() - expected).abs().max().template item<double>(), 1e-6);
  EXPECT_LT((first.compute() - expected).abs().max().template item<double>(), 1e-6);
}

TEST(Metrics, BatchesAndPartsChangeNothing) {
  manual_seed(1);
  const Tensor scores = randn({24, 4}), classes = randint(0, 4, {24}), numbers = randn({24, 3});
  expect_same_however_given(training::Accuracy({.top_k = 2}), scores, classes);
  expect_same_however_given(training::ConfusionMatrix(4), scores, classes);
  expect_same_however_given(training::F1Score(4), scores, classes);
  expect_same_however_given(training::AUROC(), randn({24}), randint(0, 2, {24}));
  expect_same_however_given(training::MeanAbsoluteError(), numbers, randn({24, 3}));
  expect_same_however_given(training::MeanSquaredError(false), numbers, randn({24, 3}));
  expect_same_however_given(training::R2Score(), numbers, numbers + randn({24, 3}) * 0.3);
  expect_same_however_given(training::Perplexity(), scores, classes);
}

TEST(Metrics, MeansAreWeighted) {
  training::Mean mean;
  mean.update(tensor({1., 2.}));
  mean.update(tensor(5.), 2);
  EXPECT_EQ(value(mean), 13. / 4);
}

TEST(Metrics, NothingKeepsAGraph) {
  training::Mean loss;
  const Tensor x = ones({3}).requires_grad_();
  loss.update((x * 2).sum());
  EXPECT_FALSE(loss.compute().requires_grad());
}

}  // namespace
}  // namespace taeda
