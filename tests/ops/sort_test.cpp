// Ordering: values, ties, NaN, errors, gradients.
#include "taeda/ops/reduce/sort.h"

#include <gtest/gtest.h>

#include <cmath>

#include "taeda/autograd/gradcheck.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/join.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Sizes = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

TEST(Sort, ValuesAndIndices) {
  const auto [v, i] = tensor({{3, 1, 2}, {9, 7, 8}}).sort();
  EXPECT_EQ(longs(v), (Sizes{1, 2, 3, 7, 8, 9}));
  EXPECT_EQ(longs(i), (Sizes{1, 2, 0, 1, 2, 0}));
  const auto [w, j] = tensor({{3, 1}, {1, 2}, {2, 0}}).sort(0, true);
  EXPECT_EQ(longs(w), (Sizes{3, 2, 2, 1, 1, 0}));
  EXPECT_EQ(longs(j), (Sizes{0, 1, 2, 0, 1, 2}));
}

TEST(Sort, NanIsLargestAndTiesKeepOrder) {
  const float nan = NAN, inf = INFINITY;
  const Tensor x = tensor({1.0f, nan, -inf, 0.0f, inf, -0.0f});
  EXPECT_EQ(longs(x.argsort()), (Sizes{2, 3, 5, 0, 4, 1}));
  EXPECT_EQ(longs(x.argsort(-1, true)), (Sizes{1, 4, 0, 3, 5, 2}));
  EXPECT_EQ(longs(tensor({1, 0, 1, 0}).argsort(0, true)), (Sizes{0, 2, 1, 3}));
}

TEST(Sort, EveryDtypeAndLongLines) {
  manual_seed(0);
  for (const ScalarType t :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16}) {
    const Tensor x = randint(0, 100, {3, 2000}).sub(t == kByte ? 0 : 50).to(t);
    const auto [v, i] = x.sort();
    EXPECT_TRUE(v.slice(1, 1).ge(v.slice(1, 0, 1999)).all().item<bool>()) << t;
    EXPECT_TRUE(x.gather(1, i).equal(v)) << t;
    const Tensor same = v.slice(1, 1).eq(v.slice(1, 0, 1999));
    EXPECT_TRUE(
        i.slice(1, 1).gt(i.slice(1, 0, 1999)).logical_or(same.logical_not()).all().item<bool>())
        << t;
  }
}

/// Whether topk gives the first k of what sort gives, along either dimension.
void expect_front(const Tensor& x, int64_t k, bool largest) {
  const auto [all, order] = x.sort(1, largest);
  const auto [values, indices] = x.topk(k, 1, largest);
  EXPECT_TRUE(indices.equal(order.slice(1, 0, k))) << x.dtype() << k << largest;
  EXPECT_TRUE(nan_to_num(values, 99).equal(nan_to_num(all.slice(1, 0, k), 99))) << x.dtype() << k;
  const auto [columns, rows] = x.t().contiguous().topk(k, 0, largest);
  EXPECT_TRUE(rows.t().equal(indices)) << x.dtype() << k << largest;
  EXPECT_TRUE(nan_to_num(columns.t(), 99).equal(nan_to_num(values, 99))) << x.dtype() << k;
}

TEST(Topk, IsTheFrontOfTheSortedLine) {
  manual_seed(0);
  for (const ScalarType t :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16}) {
    const Tensor x = randint(0, 100, {3, 700}).sub(t == kByte ? 0 : 50).to(t);
    if (is_floating_point(t)) {
      x.select(0, 1).slice(0, 300, 303).fill_(NAN);
      x.select(0, 1).slice(0, 100, 102).fill_(INFINITY);
      x.select(0, 2).slice(0, 400, 402).fill_(-INFINITY);
      x.select(0, 2).slice(0, 600, 640).fill_(-0.0);
    }
    for (const int64_t k : {1, 7, 43, 44, 700}) {
      expect_front(x, k, true);
      expect_front(x, k, false);
    }
  }
}

TEST(Topk, LargestAndSmallest) {
  const Tensor x = tensor({3.0, 1.0, NAN, 2.0});
  EXPECT_EQ(longs(std::get<1>(x.topk(2))), (Sizes{2, 0}));
  EXPECT_EQ(floats(std::get<0>(x.topk(2, 0, false))), (std::vector<float>{1, 2}));
  EXPECT_EQ(error_of([&] { x.topk(5); }), "selected index k out of range");
  EXPECT_EQ(std::get<0>(tensor({5, 4, 6}).kthvalue(2)).item<int64_t>(), 5);
  EXPECT_EQ(shape(std::get<0>(ones({2, 3}).kthvalue(1, 1, true))), (Sizes{2, 1}));
  EXPECT_EQ(error_of([&] { x.kthvalue(0); }),
            "kthvalue(): selected number k out of range for dimension 0");
}

/// Whether what is selected stands where the sorted line has it, along either dimension.
void expect_selected(const Tensor& x, const Tensor& nans) {
  const int64_t n = x.size(1);
  const Tensor order = std::get<1>(x.sort(1));
  const auto expect_rank = [&](const char* what, const Tensor& indices, const Tensor& values,
                               const Tensor& rank) {
    EXPECT_TRUE(indices.equal(order.gather(1, rank))) << what << " " << x.dtype() << " " << n;
    EXPECT_TRUE(nan_to_num(values, 99).equal(nan_to_num(x.gather(1, indices), 99))) << what;
  };
  for (const int64_t k : {int64_t{1}, n / 3, n - 1, n}) {
    const auto [values, indices] = x.kthvalue(k, 1, true);
    expect_rank("kthvalue", indices, values, full({x.size(0), 1}, k - 1, kLong));
    EXPECT_TRUE(std::get<1>(x.t().kthvalue(k, 0)).equal(indices.squeeze(1))) << x.dtype();
  }
  const Tensor numbers = nans.neg().add(n);
  const auto [values, indices] = x.nanmedian(1, true);
  expect_rank("nanmedian", indices, values, numbers.sub(1).clamp_min(0).div(2, "floor"));
  if (x.dtype() == kBool) return;
  const auto [middles, places] = x.median(1, true);
  expect_rank("median", places, middles,
              where(nans.gt(0), numbers, full_like(numbers, (n - 1) / 2)));
}

TEST(Select, IsWhatTheSortedLineHas) {
  manual_seed(1);
  for (const ScalarType t : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kBFloat16})
    for (const int64_t n : {7, 300, 1700}) {
      const Tensor x = randint(0, 100, {5, n}).sub(t == kByte ? 0 : 50).to(t);
      Tensor nans = zeros({5, 1}, kLong);
      if (is_floating_point(t)) {
        x.select(0, 1).slice(0, 3, 6).fill_(NAN);
        x.select(0, 2).fill_(NAN);
        x.select(0, 3).copy_(randn({n}).mul(1e-3));
        x.select(0, 4).slice(0, 2, 4).fill_(-0.0);
        x.select(0, 4).slice(0, 4, 5).fill_(-INFINITY);
        nans = isnan(x).sum(1, true);
      }
      expect_selected(x, nans);
    }
}

TEST(Unique, SortedInverseCounts) {
  const auto [v, inverse, counts] = unique(tensor({{3, 1}, {3, 2}}), true, true);
  EXPECT_EQ(longs(v), (Sizes{1, 2, 3}));
  EXPECT_EQ(longs(inverse), (Sizes{2, 0, 2, 1}));
  EXPECT_EQ(shape(inverse), (Sizes{2, 2}));
  EXPECT_EQ(longs(counts), (Sizes{1, 1, 2}));
  const auto [c, ci, cc] = unique_consecutive(tensor({1, 1, 2, 1}), true, true);
  EXPECT_EQ(longs(c), (Sizes{1, 2, 1}));
  EXPECT_EQ(longs(ci), (Sizes{0, 0, 1, 2}));
  EXPECT_EQ(longs(cc), (Sizes{2, 1, 1}));
  EXPECT_EQ(std::get<0>(unique(empty({0}))).numel(), 0);
}

TEST(Unique, RunsOfEveryDtypeAndLayout) {
  manual_seed(12);
  for (const ScalarType t : {kBool, kByte, kShort, kLong, kHalf, kBFloat16, kFloat, kDouble})
    for (const int64_t n : {1, 2, 500}) {
      Tensor x = randint(0, 3, {2 * n}).to(t).slice(0, 0, 2 * n, 2);
      if (is_floating_point(t)) x = x.sub(1).masked_fill(rand({n}).lt(0.1), NAN).mul(-1);
      const auto [found, runs, counts] = unique_consecutive(x, true, true);
      const auto numbers = values<double>(x.to(kDouble));
      std::vector<double> firsts;
      Sizes numbered, lengths;
      for (size_t i = 0; i < numbers.size(); ++i) {
        if (i == 0 || numbers[i] != numbers[i - 1])
          firsts.push_back(numbers[i]), lengths.push_back(0);
        ++lengths.back();
        numbered.push_back(static_cast<int64_t>(firsts.size()) - 1);
      }
      const auto got = values<double>(found.to(kDouble));
      ASSERT_EQ(got.size(), firsts.size());
      EXPECT_EQ(std::memcmp(got.data(), firsts.data(), got.size() * sizeof(double)), 0);
      EXPECT_EQ(longs(runs), numbered);
      EXPECT_EQ(longs(counts), lengths);
    }
  EXPECT_EQ(std::get<0>(unique_consecutive(empty({0}))).numel(), 0);
}

TEST(Bincount, CountsAndWeights) {
  EXPECT_EQ(longs(bincount(tensor({1, 3, 1}), {}, 6)), (Sizes{0, 2, 0, 1, 0, 0}));
  EXPECT_EQ(floats(bincount(tensor({1, 1}), tensor({0.5, 0.25}))), (std::vector<float>{0, 0.75}));
  EXPECT_EQ(error_of([] { bincount(tensor({-1})); }),
            "bincount only supports 1-d non-negative integral inputs.");
}

TEST(Bincount, OfEveryDtypeAndLayout) {
  manual_seed(7);
  const Tensor x = randint(0, 50, {300}), weight = rand({600}).slice(0, 0, 600, 2);
  std::vector<int64_t> counts(50, 0);
  std::vector<double> sums(50, 0);
  const auto numbers = longs(x);
  const auto weights = floats(weight);
  for (size_t i = 0; i < numbers.size(); ++i) {
    ++counts[static_cast<size_t>(numbers[i])];
    sums[static_cast<size_t>(numbers[i])] += static_cast<double>(weights[i]);
  }
  const Tensor spread = stack({x, x}, 1).select(1, 0);
  for (const Tensor& y : {x, x.to(kInt), x.to(kByte), spread}) {
    EXPECT_EQ(longs(bincount(y, {}, 50)), counts);
    EXPECT_EQ(values<double>(bincount(y, weight.to(kDouble), 50)), sums);
    EXPECT_TRUE(bincount(y, weight).allclose(bincount(y, weight.to(kDouble)).to(kFloat)));
  }
}

TEST(Searchsorted, NumbersAreNotCutToTheDtypeOfTheSequence) {
  const Tensor whole = tensor({-5, -3, -2, -1, 3, 6});
  EXPECT_EQ(searchsorted(whole, -1.5, false, true).item<int64_t>(), 3);
  EXPECT_EQ(searchsorted(whole, 2.5).item<int64_t>(), 4);
  EXPECT_EQ(bucketize(-1.5, whole, false, true).item<int64_t>(), 3);
  EXPECT_EQ(bucketize(3, whole).item<int64_t>(), 4);
  EXPECT_EQ(searchsorted(whole.to(kChar), 300).item<int64_t>(), 6);
}

TEST(Searchsorted, NumbersThatTheDtypeOfTheSequenceHasNotLieBehindAllItHas) {
  const Tensor ends = tensor({1.0f, HUGE_VALF});
  EXPECT_EQ(searchsorted(ends, 1e39).item<int64_t>(), 1);
  EXPECT_EQ(searchsorted(ends, 1e39, false, true).item<int64_t>(), 1);
  EXPECT_EQ(bucketize(-1e39, ends).item<int64_t>(), 0);
  EXPECT_EQ(bucketize(1e5, ends.to(kHalf)).item<int64_t>(), 1);
}

TEST(Searchsorted, BothSides) {
  const Tensor s = tensor({1, 3, 3, 5});
  EXPECT_EQ(longs(searchsorted(s, tensor({0, 3, 6}))), (Sizes{0, 1, 4}));
  EXPECT_EQ(longs(searchsorted(s, tensor({3.5, 3.0}), false, true)), (Sizes{3, 3}));
  EXPECT_EQ(longs(searchsorted(tensor({{1, 2}, {3, 4}}), tensor({{2}, {2}}))), (Sizes{1, 0}));
  EXPECT_EQ(bucketize(tensor({2}), s, true).dtype(), kInt);
}

TEST(SortGradients, PickedValues) {
  manual_seed(3);
  const Tensor x = randn({3, 4}, dtype(kDouble).requires_grad(true));
  const auto check = [&](const autograd::GradcheckFn& f) {
    EXPECT_TRUE(autograd::gradcheck(f, {x}));
    EXPECT_TRUE(autograd::gradgradcheck(f, {x}));
  };
  check([](const Tensors& t) { return Tensors{std::get<0>(t[0].sort(0)).square()}; });
  check([](const Tensors& t) { return Tensors{std::get<0>(t[0].topk(2)).square()}; });
  check([](const Tensors& t) { return Tensors{std::get<0>(t[0].kthvalue(2)).square()}; });
}

TEST(Sort, ManyBytesAreCounted) {
  manual_seed(5);
  for (const ScalarType t : {kByte, kChar, kBool}) {
    const Tensor x = randint(t == kChar ? -128 : 0,
                             t == kBool   ? 2
                             : t == kChar ? 128
                                          : 256,
                             {2, 700, 2}, kLong);
    for (const bool descending : {false, true}) {
      const auto [v, i] = x.to(t).sort(1, descending);
      const auto [w, j] = x.sort(1, descending);
      EXPECT_EQ(longs(v.to(kLong)), longs(w)) << t;
      EXPECT_EQ(longs(i), longs(j)) << t;
    }
  }
}

TEST(Unique, BytesAreCounted) {
  manual_seed(6);
  for (const ScalarType t : {kByte, kChar, kBool}) {
    const Tensor x = randint(t == kChar ? -100 : 0, t == kBool ? 2 : 100, {40, 5}, kLong);
    const auto [v, i, c] = unique(x.to(t).t(), true, true);
    const auto [w, j, d] = unique(x.t(), true, true);
    EXPECT_EQ(longs(v.to(kLong)), longs(w)) << t;
    EXPECT_EQ(longs(i), longs(j)) << t;
    EXPECT_EQ(longs(c), longs(d)) << t;
    EXPECT_EQ(i.sizes(), x.t().sizes());
  }
}

}  // namespace
}  // namespace taeda
