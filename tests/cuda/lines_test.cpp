// What is found in lines and rows of every kind of length: kept in a block's memory, too long for
// it, shared by several blocks. Results are compared with the CPU's.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>

#include "taeda/device/cuda.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"

namespace taeda {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

class CudaLines : public ::testing::Test {
 protected:
  using Function = std::function<Tensor(const Tensor&)>;

  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::unavailable_reason();
    manual_seed(3);
  }
  /// NaN is equal to NaN.
  void expect_same(const Function& f, const Tensor& x, double tolerance, const char* what) const {
    const Tensor got = f(x.to("cuda:0")).detach().cpu(), want = f(x).detach();
    ASSERT_EQ(got.dtype(), want.dtype()) << what;
    ASSERT_EQ(got.sizes(), want.sizes()) << what;
    const bool close = allclose(got.to(kDouble), want.to(kDouble), tolerance, tolerance, true);
    EXPECT_TRUE(close) << what << " of " << to_string(x.dtype()) << " along lines of "
                       << x.sizes()[x.dim() - 1];
  }
  void expect_selections(const Tensor& x, int64_t dim) const {
    const int64_t n = x.sizes()[dim];
    for (int64_t k : {int64_t{1}, n / 3, n - 2})
      for (bool largest : {true, false}) {
        const auto values = [&](const Tensor& t) { return std::get<0>(t.topk(k, dim, largest)); };
        const auto indices = [&](const Tensor& t) { return std::get<1>(t.topk(k, dim, largest)); };
        expect_same(values, x, 0, "topk");
        expect_same(indices, x, 0, "indices of topk");
      }
    expect_same([&](const Tensor& t) { return std::get<0>(t.median(dim)); }, x, 0, "median");
    expect_same([&](const Tensor& t) { return std::get<1>(t.median(dim)); }, x, 0,
                "indices of median");
    expect_same([&](const Tensor& t) { return std::get<1>(t.kthvalue(n / 4, dim)); }, x, 0,
                "indices of kthvalue");
    expect_same([&](const Tensor& t) { return std::get<1>(t.nanmedian(dim)); }, x, 0,
                "indices of nanmedian");
  }
};

// From 256 elements on, up to 4096, a block sorts a line: those that fill the block up stay behind.
TEST_F(CudaLines, SortsOfEveryLength) {
  for (const ScalarType dtype : {kFloat, kHalf, kInt, kByte, kDouble})
    for (const int64_t n : {255, 256, 1024, 1025, 4096, 4097}) {
      Tensor x = randint(0, 200, {3, n}).to(dtype);  // many are equal
      if (dtype == kFloat) x.select(1, n / 2).fill_(kNoNumber), x.select(1, 7).fill_(-kInfinity);
      for (const bool descending : {false, true}) {
        const auto places = [=](const Tensor& t) {
          return std::get<1>(t.sort(true, -1, descending));
        };
        expect_same(places, x, 0, "places of sort");
        expect_same([=](const Tensor& t) { return std::get<0>(t.sort(-1, descending)); }, x, 0,
                    "sort");
        expect_same([&](const Tensor& t) { return places(t.t().contiguous().t()); }, x, 0,
                    "places of sort of columns");
      }
    }
}

TEST_F(CudaLines, SelectionsOfEqualElementsTakeTheFirst) {
  for (ScalarType t : {kFloat, kHalf, kBFloat16, kDouble, kLong, kInt, kShort, kChar, kByte}) {
    const int64_t low = t == kByte ? 0 : -20;
    expect_selections(randint(low, 30, {6, 300}).to(t), 1);
    expect_selections(randint(low, 30, {1, 17000}).to(t), 1);
  }
}

TEST_F(CudaLines, SelectionsOfNumbers) {
  for (int64_t n : {40, 9500, 20000}) expect_selections(randn({3, n}), 1);
  // Many long lines: a block for each.
  const Tensor many = randn({130, 16500});
  expect_same([](const Tensor& t) { return std::get<1>(t.median(1)); }, many, 0, "median");
  expect_same([](const Tensor& t) { return std::get<1>(t.topk(3, 1)); }, many, 0, "topk");
  expect_selections(randn({2, 5000}, kDouble), 1);
  expect_selections(randn({400, 3, 7}), 0);
  expect_selections(randn({40, 900}).t(), 1);
  expect_same([](const Tensor& t) { return median(t); }, randn({50001}), 0, "median of all");
}

TEST_F(CudaLines, SelectionsWithNaNAndInfinities) {
  for (int64_t n : {100, 12000, 30000}) {
    Tensor x = randn({4, n});
    x.select(0, 1).select(0, n / 2).fill_(kNoNumber);
    x.select(0, 1).select(0, n / 3).fill_(kNoNumber);
    x.select(0, 2).fill_(kNoNumber);
    x.select(0, 3).select(0, 7).fill_(kInfinity);
    x.select(0, 3).select(0, n - 1).fill_(-kInfinity);
    expect_selections(x, 1);
  }
}

const std::pair<const char*, std::function<Tensor(const Tensor&)>> kRowFunctions[] = {
    {"softmax", [](const Tensor& t) { return t.softmax(-1); }},
    {"log_softmax", [](const Tensor& t) { return t.log_softmax(-1); }},
    {"softmax of columns", [](const Tensor& t) { return t.softmax(0); }},
    {"cross_entropy",
     [](const Tensor& t) {
       return cross_entropy(t, zeros({t.sizes()[0]}, t.options().dtype(kLong)));
     }},
};

/// The gradient of a weighted sum.
Tensor gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const Tensor leaf = x.detach().set_requires_grad(true), y = f(leaf);
  y.mul(arange(1, 1 + y.numel(), y.options().requires_grad(false)).view(y.sizes()).sin())
      .sum()
      .backward();
  return leaf.grad();
}

TEST_F(CudaLines, RowsOfEveryLength) {
  const auto norm = [](const Tensor& t) { return layer_norm(t, {t.sizes()[1]}); };
  for (int64_t n : {5, 1000, 1100, 5700, 12000}) {
    for (ScalarType t : {kFloat, kDouble}) {
      const Tensor x = randn({3, n}).to(t), columns = x.t().contiguous();
      expect_same(norm, x, 2e-5, "layer_norm");
      expect_same([&](const Tensor& v) { return gradient(norm, v); }, x, 2e-5, "layer_norm");
      for (const auto& [name, f] : kRowFunctions)
        for (const Tensor& m : {x, columns}) {
          expect_same(f, m, 2e-5, name);
          expect_same([&](const Tensor& v) { return gradient(f, v); }, m, 2e-5, name);
        }
    }
  }
}

TEST_F(CudaLines, RowsFarFromZero) {
  const Tensor x = randn({4, 3000}).add(1000.);
  expect_same([](const Tensor& t) { return layer_norm(t, {3000}); }, x, 1e-3, "layer_norm");
  expect_same([](const Tensor& t) { return t.log_softmax(-1); }, x, 1e-3, "log_softmax");
}

TEST_F(CudaLines, RowsWithNaNAndInfinities) {
  for (int64_t n : {50, 12000}) {
    Tensor x = randn({5, n});
    x.select(0, 0).fill_(-kInfinity);
    x.select(0, 1).select(0, n / 2).fill_(kInfinity);
    x.select(0, 2).select(0, n / 3).fill_(kNoNumber);
    x.select(0, 3).fill_(-kInfinity);
    x.select(0, 3).select(0, n - 2).fill_(2);
    x.select(0, 4).select(0, 0).fill_(-kInfinity);
    for (const auto& [name, f] : kRowFunctions) {
      expect_same(f, x, 2e-5, name);
      expect_same(f, x.t().contiguous(), 2e-5, name);
    }
  }
}

TEST_F(CudaLines, OperandsOfSeveralTypes) {
  const ScalarType types[] = {kFloat, kDouble, kHalf, kLong, kChar, kBool};
  const Tensor numbers = randint(0, 40, {9, 30});
  for (ScalarType a : types)
    for (ScalarType b : types) {
      const Tensor other = numbers.to(b);
      const auto on = [&](const Tensor& t) { return other.to(t.device()); };
      const Tensor x = numbers.add(3).to(a);
      expect_same([&](const Tensor& t) { return t.mul(on(t)); }, x, 0, "mul");
      expect_same([&](const Tensor& t) { return t.lt(on(t)); }, x, 0, "lt");
      expect_same([&](const Tensor& t) { return t.t().add(on(t).t()); }, x, 0, "add");
      expect_same([&](const Tensor& t) { return t.slice(1, 0, 30, 2).add(on(t).narrow(1, 0, 15)); },
                  x, 0, "add");
      expect_same([&](const Tensor& t) { return t.div(on(t).add(1)); }, x, 1e-6, "div");
      expect_same([&](const Tensor& t) { return logical_and(t, on(t)); }, x, 0, "logical_and");
      if (can_cast(promote_types(a, b), a))
        expect_same([&](const Tensor& t) { return t.clone().mul_(on(t)); }, x, 0, "mul_");
    }
  // An integer is rounded to the operation's type before it is used.
  const Tensor big = full({5}, Scalar(int64_t{2049})), halves = ones({5}, kHalf);
  expect_same([&](const Tensor& t) { return t.sub(big.to(t.device())); }, halves, 0, "sub");
}

}  // namespace
}  // namespace taeda
