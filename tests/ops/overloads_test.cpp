// Arguments in libtorch's other forms: a tensor for a number, a list for one dimension, words as
// views of text, generators as anything that refers to one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/selection.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/values.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Overloads, GeneratorsInEveryForm) {
  Generator g(kCPU);
  const auto seeded = [&]() -> Generator& {
    g.manual_seed(5);
    return g;
  };
  const Tensor expected = rand({4}, {}, &seeded());
  EXPECT_TRUE(rand({4}, seeded()).equal(expected));
  EXPECT_TRUE(rand({4}, kFloat, std::optional<Generator>(seeded())).equal(expected));
  const std::optional<Generator> maybe = g;
  seeded();
  EXPECT_TRUE(rand({4}, maybe, kFloat).equal(expected));
  manual_seed(1);
  const Tensor drawn = rand({4});
  for (const GeneratorArg none : {GeneratorArg(nullptr), GeneratorArg(std::nullopt),
                                  GeneratorArg(std::optional<Generator>()), GeneratorArg()}) {
    manual_seed(1);
    EXPECT_TRUE(rand({4}, {}, none).equal(drawn));
  }
  EXPECT_TRUE(zeros({4}).uniform_(0, 1, seeded()).equal(expected));
  EXPECT_TRUE(randint(0, 9, {3}, seeded()).equal(randint(0, 9, {3}, kLong, &seeded())));
  EXPECT_TRUE(randperm(5, seeded()).equal(randperm(5, kLong, &seeded())));
  EXPECT_TRUE(
      normal(1.0, 2.0, {3}, seeded(), kFloat).equal(normal(1.0, 2.0, {3}, kFloat, &seeded())));
  EXPECT_TRUE(ones({9}).multinomial(2, false, maybe).lt(9).all().item<bool>());
}

TEST(Overloads, AnyAndAllOverLists) {
  const Tensor x = tensor({0, 1, 0, 0}, kByte).view({2, 2});
  EXPECT_THAT(values<uint8_t>(x.any({1})), ElementsAre(1, 0));
  EXPECT_THAT(values<uint8_t>(x.any({0, 1}, true)), ElementsAre(1));
  EXPECT_THAT(values<uint8_t>(x.any({}, true)), ElementsAre(1));
  EXPECT_TRUE(x.mul(3).all(IntArrayRef()).equal(x));  // along no dimension
}

TEST(Overloads, DrawingInPlace) {
  const Tensor p = tensor({0.0, 1.0});
  EXPECT_THAT(values<float>(full({3, 2}, 7.0).bernoulli_(p)), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(error_of([] { zeros({2}).bernoulli_(full({2}, 1.5)); }),
              HasSubstr("between 0 and 1"));
  const Tensor bytes = zeros({1000}, kByte);
  bytes.random_(250, OptionalDim());
  EXPECT_EQ(bytes.min().item<int64_t>(), 250);
  EXPECT_EQ(bytes.max().item<int64_t>(), 255);
  zeros({4}, kLong).random_(std::numeric_limits<int64_t>::min(), OptionalDim());
  EXPECT_THAT(error_of([] { zeros({2}, kByte).random_(256, OptionalDim()); }),
              HasSubstr("but got from=256"));
}

TEST(Overloads, Words) {
  const std::string floor = "floor";
  const Tensor x = tensor({5.0, -5.0}), two = full({}, 2.0);
  EXPECT_THAT(values<float>(x.div(two, floor)), ElementsAre(2, -3));
  EXPECT_THAT(values<float>(x.div(2, std::optional<std::string_view>("trunc"))),
              ElementsAre(2, -2));
  EXPECT_THAT(values<float>(x.div(2, std::nullopt)), ElementsAre(2.5, -2.5));
  EXPECT_THAT(values<float>(x.clone().div_(two, std::string_view("floor"))), ElementsAre(2, -3));
  EXPECT_THAT(error_of([&] { x.div(two, "up"); }), HasSubstr("but found 'up'"));
  EXPECT_EQ(x.quantile(0.5, {}, false, std::string_view("lower")).item<float>(), -5);
  EXPECT_EQ(x.nanquantile(full({}, 0.5), 0, true, std::string("higher")).item<float>(), 5);
  EXPECT_EQ(einsum(std::string_view("i,i->"), {x, x}, {0, 1}).item<float>(), 50);
  const Tensor a = eye(2);
  EXPECT_EQ(linalg::matrix_norm(a, std::string("nuc")).item<float>(), 2);
  EXPECT_THAT(error_of([&] { linalg::svd(a, false, "gesvd"); }),
              HasSubstr("`driver=` is only supported on CUDA"));
  EXPECT_EQ(linalg::svdvals(a, std::nullopt).numel(), 2);
}

TEST(Overloads, ScatterWithAReduction) {
  const Tensor x = ones({4}), index = tensor({1, 1, 3}), source = tensor({2.0, 3.0, 4.0});
  EXPECT_THAT(values<float>(x.scatter(0, index, source, "add")), ElementsAre(1, 6, 1, 5));
  EXPECT_THAT(values<float>(x.scatter(0, index, source, "multiply")), ElementsAre(1, 6, 1, 4));
  EXPECT_THAT(values<float>(x.scatter(0, index, 3, "multiply")), ElementsAre(1, 9, 1, 3));
  EXPECT_THAT(values<float>(x.clone().scatter_(0, index, 2, "add")), ElementsAre(1, 5, 1, 3));
  EXPECT_EQ(error_of([&] { x.scatter(0, index, source, "mean"); }),
            "reduce argument must be either add or multiply.");
}

TEST(Overloads, BoundsAndValuesThatAreTensors) {
  const Tensor x = tensor({-1.0, 0.5, 2.0}), low = zeros({3}), high = ones({3});
  EXPECT_THAT(values<float>(x.clamp(low, high)), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(values<float>(x.clone().clamp_(std::optional(low))), ElementsAre(0, 0.5, 2));
  EXPECT_THAT(values<float>(x.clamp_min(low)), ElementsAre(0, 0.5, 2));
  EXPECT_THAT(values<float>(x.clamp_max(high)), ElementsAre(-1, 0.5, 1));
  EXPECT_THAT(values<float>(x.clone().clamp_max_(high).clip_(low, high)), ElementsAre(0, 0.5, 1));
  const Tensor rows = tensor({0, 2});
  EXPECT_THAT(values<float>(x.index_fill(0, rows, full({}, 9.0))), ElementsAre(9, 0.5, 9));
  EXPECT_THAT(values<float>(x.clone().index_fill_(0, rows, full({}, 9.0))), ElementsAre(9, 0.5, 9));
  EXPECT_EQ(error_of([&] { x.index_fill(0, rows, ones({2})); }),
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 "
            "dimension(s).");
  const Tensor value = full({}, 9.0, TensorOptions().requires_grad(true));
  x.index_fill(0, rows, value).sum().backward();
  EXPECT_EQ(value.grad().item<float>(), 2);
  EXPECT_THAT(values<float>(x.narrow(0, tensor(1), 2)), ElementsAre(0.5, 2));
  EXPECT_EQ(error_of([&] { x.narrow(0, full({}, 1.0), 2); }),
            "start must be an 0-dim integral Tensor.");
  const std::vector<TensorIndex> first = {0};
  EXPECT_THAT(values<float>(x.clone().index_put_(first, Scalar(4))), ElementsAre(4, 0.5, 2));
  EXPECT_EQ(x.tensor_split(tensor({1}))[1].numel(), 2);
  EXPECT_EQ(x.tensor_split(tensor(3)).size(), 3u);
  EXPECT_THAT(error_of([&] { x.tensor_split(tensor(3.0)); }), HasSubstr("dtype of long"));
  EXPECT_THAT(values<bool>(isin(x, 2)), ElementsAre(false, false, true));
  EXPECT_TRUE(isin(2, x).item<bool>());
}

TEST(Overloads, NumbersBeforeTensors) {
  const Tensor x = tensor({1, 2});
  EXPECT_THAT(values<int64_t>(bitwise_and(3, x)), ElementsAre(1, 2));
  EXPECT_THAT(values<int64_t>(bitwise_or(4, x)), ElementsAre(5, 6));
  EXPECT_THAT(values<int64_t>(bitwise_xor(1, x)), ElementsAre(0, 3));
  EXPECT_THAT(values<int64_t>(bitwise_left_shift(1, x)), ElementsAre(2, 4));
  EXPECT_THAT(values<int64_t>(bitwise_right_shift(8, x)), ElementsAre(4, 2));
  EXPECT_THAT(values<int64_t>(rsub(x, tensor({5, 5}), 2)), ElementsAre(3, 1));
  Tensor y = x.clone();
  y &= 2;
  y |= tensor({1, 1});
  y ^= 1;
  EXPECT_THAT(values<int64_t>(y), ElementsAre(0, 2));
}

TEST(Overloads, Reductions) {
  const Tensor x = tensor({{3.0, 0.0}, {4.0, 0.0}});
  EXPECT_EQ(x.count_nonzero({0, 1}).item<int64_t>(), 2);
  EXPECT_THAT(values<int64_t>(x.count_nonzero(1)), ElementsAre(1, 1));
  EXPECT_EQ(count_nonzero(x, OptionalDim()).item<int64_t>(), 2);
  EXPECT_EQ(x.norm(std::nullopt, kDouble).dtype(), kDouble);
  EXPECT_EQ(x.norm(std::nullopt, 0)[0].item<float>(), 5);
  EXPECT_EQ(x.norm(OptionalScalar(1), {0}, true, kDouble)[0][0].item<double>(), 7);
  EXPECT_EQ(x.var({0}, OptionalDim(0))[0].item<float>(), 0.25);
  EXPECT_EQ(x.std({0}, std::nullopt, true).sizes(), IntArrayRef({1, 2}));
  EXPECT_EQ(std::get<0>(var_mean(x, {0}, OptionalDim(0)))[0].item<float>(), 0.25);
  EXPECT_EQ(std::get<1>(std_mean(x, {0}, std::nullopt))[0].item<float>(), 3.5);
  EXPECT_THAT(values<float>(tensor({1.25, -1.35}).round(1)), ElementsAre(1.2f, -1.4f));
  EXPECT_THAT(values<float>(tensor({1250.0, 1350.0}).round_(-2)), ElementsAre(1200, 1400));
}

TEST(Overloads, OrderAndRepetition) {
  const Tensor x = tensor({3, 1, 2});
  EXPECT_THAT(values<int64_t>(x.argsort(true, 0)), ElementsAre(1, 2, 0));
  EXPECT_THAT(values<int64_t>(argsort(x, false, 0, true)), ElementsAre(0, 2, 1));
  EXPECT_THAT(values<int64_t>(std::get<0>(x.sort(std::optional(true), 0))), ElementsAre(1, 2, 3));
  const Tensor ends = tensor({1.0, 2.0, 3.0}), unsorted = tensor({3.0, 1.0, 2.0});
  EXPECT_EQ(searchsorted(ends, 2, false, false, "right").item<int64_t>(), 2);
  EXPECT_EQ(
      searchsorted(unsorted, 2, false, false, std::nullopt, unsorted.argsort()).item<int64_t>(), 1);
  EXPECT_THAT(error_of([&] { searchsorted(ends, 2, false, true, "left"); }),
              HasSubstr("can't be set to opposites"));
  EXPECT_THAT(error_of([&] { searchsorted(ends, 2, false, true, "up"); }), HasSubstr("got up"));
  EXPECT_EQ(bucketize(2.5, ends).item<int64_t>(), 2);
  EXPECT_THAT(values<int64_t>(x.repeat_interleave(2, 0, 6)), ElementsAre(3, 3, 1, 1, 2, 2));
  EXPECT_THAT(values<int64_t>(x.repeat_interleave(tensor({0, 1, 2}))), ElementsAre(1, 2, 2));
  EXPECT_THAT(error_of([&] { x.repeat_interleave(2, 0, 5); }),
              HasSubstr("Invalid output_size, expected 6"));
  EXPECT_THAT(values<int64_t>(x.bincount(std::nullopt, 5)), ElementsAre(0, 1, 1, 1, 0));
  EXPECT_EQ(zeros({2, 3, 4}).movedim({0, 1}, {1, 0}).sizes(), IntArrayRef({3, 2, 4}));
  EXPECT_THAT(values<int64_t>(x.gather(0, tensor({2}), true)), ElementsAre(2));
}

TEST(Overloads, TensorsThatMayBeAbsent) {
  const std::optional<Tensor> none;
  const Tensor x = ones({1, 1, 4, 4}), w = ones({1, 1, 3, 3});
  const std::vector<int64_t> one = {1, 1};
  EXPECT_EQ(conv2d(x, w, none, 1, one).sizes(), x.sizes());
  EXPECT_EQ(conv2d(x, w, std::nullopt, one, std::string_view("valid")).numel(), 4);
  EXPECT_EQ(conv2d(x, w, std::optional(ones({1})), 1, "same").sizes(), x.sizes());
  const Tensor v = tensor({{1.0, 2.0, 4.0}, {2.0, 4.0, 8.0}});
  EXPECT_TRUE(v.cov(1, none, none).equal(v.cov()));
  EXPECT_EQ(v.diff(1, -1, none, std::optional(ones({2, 1}))).sizes(), IntArrayRef({2, 3}));
}

TEST(Overloads, MethodsOfFunctions) {
  const Tensor a = tensor({{4.0, 2.0}, {2.0, 3.0}});
  const Tensor l = linalg::cholesky(a), b = ones({2, 1});
  EXPECT_TRUE(b.cholesky_solve(l).allclose(linalg::solve(a, b)));
  EXPECT_TRUE(l.cholesky_inverse().allclose(linalg::inv(a)));
  EXPECT_TRUE(a.pinverse().allclose(linalg::inv(a), 1e-4));
  EXPECT_EQ(std::get<1>(a.svd()).numel(), 2);
  EXPECT_EQ(a.new_empty_strided({2, 2}, {1, 2}).strides(), IntArrayRef({1, 2}));
  const Tensor c = make_complex(a, ones({2, 2}));
  EXPECT_TRUE(c.matrix_H().equal(c.t().conj()));
  EXPECT_EQ(zeros({2, 3, 4}).numpy_T().sizes(), IntArrayRef({4, 3, 2}));
  EXPECT_THAT(error_of([] { (void)zeros({2, 3, 4}).matrix_H(); }), HasSubstr("2-D tensors"));
  EXPECT_EQ(a.expand({2, 2}, true).sizes(), a.sizes());
}

}  // namespace
}  // namespace taeda
