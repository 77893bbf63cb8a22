// Bins in several dimensions: PyTorch's numbers and errors.
#include "taeda/ops/reduce/histogram.h"

#include <gtest/gtest.h>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/join.h"
#include "tests/error_of.h"
#include "tests/ops/golden_operations.h"

namespace taeda {
namespace {

using testing::expect_golden;

Tensor points() {
  return tensor({{0.1, 0.9}, {0.4, 0.2}, {0.7, 0.7}, {1.0, 0.0}, {0.35, 1.0}}, kDouble);
}

TEST(Histogram, OfPointsIsPyTorchs) {
  const Tensor weight = tensor({1.0, 2.0, 0.5, 4.0, 0.25}, kDouble);
  const int64_t bins[] = {2, 3};
  const auto [hist, edges] = histogramdd(points(), IntArrayRef(bins), {}, weight);
  expect_golden("bins", {hist, edges[0], edges[1]});
  const double range[] = {0, 0.75, 0.25, 1};
  const int64_t other[] = {3, 2};
  expect_golden("density", {std::get<0>(histogramdd(points(), IntArrayRef(other),
                                                    ArrayRef<double>(range, 4), {}, true))});
}

TEST(Histogram, OneNumberOfBinsIsForAllDimensions) {
  const auto [hist, edges] = histogramdd(points(), 4);
  EXPECT_EQ(hist.sizes(), IntArrayRef({4, 4}));
  EXPECT_EQ(hist.sum().item<double>(), 5);
  EXPECT_EQ(edges[1].numel(), 5);
  EXPECT_EQ(std::get<0>(histogramdd(zeros({0, 2}), 3)).sum().item<float>(), 0);
}

TEST(Histogram, WhatIsNoNumberIsInNoBin) {
  const auto [hist, edges] = histogram(tensor({NAN, 0.5}), tensor({0.0, 0.5, 1.0}));
  EXPECT_TRUE(hist.equal(tensor({0.0, 1.0})));
}

/// Bins that are computed are those that a search among their edges finds, on the edges, too, and
/// where neighbours of them round to one number.
TEST(Histogram, EvenBinsAreThoseOfTheirEdges) {
  manual_seed(11);
  for (const ScalarType dtype : {kFloat, kDouble})
    for (const auto& [low, high] : {std::pair<double, double>{-1, 1}, {0.1, 0.7}, {1e6, 1e6 + 2}})
      for (const int64_t bins : {1, 7, 100}) {
        SCOPED_TRACE(::testing::Message() << low << " to " << high << ", " << bins);
        const double range[] = {low, high};
        const Tensor edges = linspace(low, high, bins + 1, dtype),
                     spread = rand({3000}, dtype).mul(1.2 * (high - low)).add(low);
        const Tensor x = cat({spread, edges, tensor({NAN, -INFINITY, INFINITY}).to(dtype)}),
                     weight = rand({x.numel()}, dtype);
        for (const Tensor& each : {Tensor(), weight}) {
          const auto [hist, same] = histogram(x, bins, ArrayRef<double>(range, 2), each);
          EXPECT_TRUE(same.equal(edges));
          EXPECT_TRUE(hist.equal(std::get<0>(histogram(x, edges, each))));
        }
      }
}

TEST(Histogram, RefusesWithPyTorchsWords) {
  const Tensor x = ones({4});
  const auto says = [](auto&& call) { return error_of(call); };
  EXPECT_EQ(says([&] { histogram(x, 0); }),
            "torch.histogram(): bins must be > 0, but got 0 for dimension 0");
  const double one[] = {0}, falling[] = {1, 0};
  EXPECT_EQ(says([&] { histogram(x, 3, ArrayRef<double>(one, 1)); }),
            "torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but "
            "got 1");
  EXPECT_EQ(says([&] { histogram(x, 3, ArrayRef<double>(falling, 2)); }),
            "torch.histogramdd: min should not exceed max, but got min 1 max 0 for dimension 0");
  EXPECT_EQ(says([&] {
              histogram(x, ones({2, 2}));
            }),
            "torch.histogramdd: bins tensor should have one dimension, but got 2 dimensions in the "
            "bins tensor for dimension 0");
  EXPECT_EQ(says([&] { histogramdd(x, 3); }),
            "torch.histogramdd: input tensor should have at least 2 dimensions");
  const int64_t three[] = {2, 3, 4};
  EXPECT_EQ(says([&] { histogramdd(points(), IntArrayRef(three)); }),
            "histogramdd: The size of bins must be equal to the innermost dimension of the input.");
  const Tensor edges[] = {ones({2}, kDouble)};
  EXPECT_EQ(says([&] { histogramdd(points(), TensorList(edges, 1)); }),
            "torch.histogramdd: expected 2 sequences of bin edges for a 2-dimensional histogram "
            "but got 1");
  EXPECT_EQ(says([&] { histogramdd(points(), 3, {}, ones({3}, kDouble)); }),
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            "input tensor excluding its innermost dimension, but got input with shape [5, 2] and "
            "weight with shape [3]");
  EXPECT_EQ(says([&] { histogramdd(points().div(0.0), 3); }),
            "torch.histogramdd: dimension 0's range [inf, inf] is not finite");
}

}  // namespace
}  // namespace taeda
