// Second names and in-place forms against what they stand for; errors and chosen values of special
// functions, statistics and parts of tensors. Values are PyTorch's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "taeda/autograd/engine.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/torch_special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/scatter.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/names.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/selection.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/join.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Tensor plain() { return tensor({{0.5, -0.25}, {0.75, 0.125}}, kDouble); }
Tensor other() { return tensor({{2.0, -0.25}, {0.5, 3.0}}, kDouble); }
Tensor whole() { return tensor({{12, 7}, {-6, 3}}, kLong); }

void expect_alike(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(allclose(a.to(kDouble), b.to(kDouble), 1e-12, 1e-12, true)) << a << b;
}

TEST(SecondNames, AreTheirOperations) {
  const Tensor x = plain(), y = other(), big = x.abs().add(1);
  expect_alike(absolute(x), x.abs());
  expect_alike(negative(x), x.neg());
  expect_alike(fix(y), y.trunc());
  expect_alike(arccos(x), x.acos());
  expect_alike(arcsin(x), x.asin());
  expect_alike(arctan(x), x.atan());
  expect_alike(arctan2(x, y), x.atan2(y));
  expect_alike(arccosh(big), big.acosh());
  expect_alike(arcsinh(x), x.asinh());
  expect_alike(arctanh(x), x.atanh());
  expect_alike(subtract(x, y, 2), x.sub(y, 2));
  expect_alike(multiply(x, y), x.mul(y));
  expect_alike(divide(x, y, "floor"), x.div(y, "floor"));
  expect_alike(true_divide(x, y), x.div(y));
  expect_alike(greater(x, y), x.gt(y));
  expect_alike(greater_equal(x, y), x.ge(y));
  expect_alike(less(x, y), x.lt(y));
  expect_alike(less_equal(x, y), x.le(y));
  expect_alike(not_equal(x, y), x.ne(y));
  expect_alike(argwhere(x), x.nonzero());
  expect_alike(adjoint(x), x.transpose(0, 1));
  expect_alike(x.mH(), x.transpose(0, 1));
  EXPECT_TRUE(is_same_size(x, y));
  EXPECT_FALSE(x.is_same_size(x.flatten()));
}

using Change = std::function<Tensor(const Tensor&)>;

struct InPlaceForm {
  Tensor start;
  Change in_place, out_of_place;
};

/// The change is made in the tensor itself, in its dtype, and has the gradient of the operation.
void check_form(const InPlaceForm& f) {
  const Tensor x = f.start.clone(), want = f.out_of_place(f.start);
  const Tensor result = f.in_place(x);
  EXPECT_TRUE(result.is_same(x));
  EXPECT_GT(x._version(), 0);
  expect_alike(x, want.to(x.dtype()));
  if (!f.start.is_floating_point()) return;
  const Tensor a = f.start.clone().requires_grad_(), b = f.start.clone().requires_grad_();
  f.in_place(a.mul(1)).sum().backward();
  const Tensor out = f.out_of_place(b.mul(1));
  if (out.requires_grad()) {
    out.sum().backward();
    expect_alike(a.grad(), b.grad());
  } else {
    expect_alike(a.grad(), zeros_like(a));
  }
}

#define FORM(start, in_place, plain)                                                             \
  InPlaceForm {                                                                                  \
    start, [=](const Tensor& t) { return t.in_place; }, [=](const Tensor& t) { return t.plain; } \
  }

TEST(InPlaceForms, OfSecondNamesChangeTheTensor) {
  const Tensor x = plain(), y = other(), big = x.abs().add(1);
  for (const InPlaceForm& f : {FORM(x, absolute_(), abs()),
                               FORM(x, negative_(), neg()),
                               FORM(y, fix_(), trunc()),
                               FORM(x, arccos_(), acos()),
                               FORM(x, arcsin_(), asin()),
                               FORM(x, arctan_(), atan()),
                               FORM(x, arctan2_(y), atan2(y)),
                               FORM(big, arccosh_(), acosh()),
                               FORM(x, arcsinh_(), asinh()),
                               FORM(x, arctanh_(), atanh()),
                               FORM(x, subtract_(y, 2), sub(y, 2)),
                               FORM(x, multiply_(y), mul(y)),
                               FORM(x, divide_(y), div(y)),
                               FORM(x, true_divide_(y), div(y)),
                               FORM(x, clip_(-0.2, 0.6), clamp(-0.2, 0.6)),
                               FORM(x, greater_(y), gt(y)),
                               FORM(x, greater_equal_(y), ge(y)),
                               FORM(x, less_(y), lt(y)),
                               FORM(x, less_equal_(y), le(y)),
                               FORM(x, not_equal_(y), ne(y)),
                               FORM(x, swapdims_(0, 1), transpose(0, 1)),
                               FORM(x, swapaxes_(0, 1), transpose(0, 1)),
                               FORM(x, t_(), transpose(0, 1))})
    check_form(f);
}

TEST(InPlaceForms, ChangeTheTensor) {
  const Tensor x = plain(), y = other(), batch = stack({x, y}), v = tensor({1.0, 2.0}, kDouble);
  for (const InPlaceForm& f :
       {FORM(x, atan2_(y), atan2(y)),
        FORM(x, hypot_(y), hypot(y)),
        FORM(x, eq_(y), eq(y)),
        FORM(x, ne_(y), ne(y)),
        FORM(x, lt_(y), lt(y)),
        FORM(x, le_(y), le(y)),
        FORM(x, gt_(y), gt(y)),
        FORM(x, ge_(y), ge(y)),
        FORM(x, eq_(0.5), eq(0.5)),
        FORM(x, ne_(0.5), ne(0.5)),
        FORM(x, lt_(0.5), lt(0.5)),
        FORM(x, le_(0.5), le(0.5)),
        FORM(x, gt_(0.5), gt(0.5)),
        FORM(x, ge_(0.5), ge(0.5)),
        FORM(x, logical_and_(y), logical_and(y)),
        FORM(x, logical_or_(y), logical_or(y)),
        FORM(x, logical_xor_(y), logical_xor(y)),
        FORM(x, logical_not_(), logical_not()),
        FORM(x, cumsum_(1), cumsum(1)),
        FORM(x, cumprod_(0), cumprod(0)),
        FORM(x, tril_(), tril()),
        FORM(x, triu_(1), triu(1)),
        FORM(v, addmv_(x, v, 2, 3), addmv(x, v, 2, 3)),
        FORM(batch, baddbmm_(batch, batch, 2, 3), baddbmm(batch, batch, 2, 3)),
        FORM(x, addbmm_(batch, batch), addbmm(batch, batch)),
        FORM(x, addr_(v, v), addr(v, v)),
        FORM(y, float_power_(3), float_power(3)),
        FORM(x, copysign_(-1), copysign(-1)),
        FORM(x, xlogy_(2), xlogy(2))})
    check_form(f);
}

TEST(InPlaceForms, OfIntegers) {
  const Tensor x = whole(), y = tensor({{8, 2}, {4, 1}}, kLong);
  for (const InPlaceForm& f :
       {FORM(x, bitwise_and_(y), bitwise_and(y)), FORM(x, bitwise_or_(y), bitwise_or(y)),
        FORM(x, bitwise_xor_(y), bitwise_xor(y)), FORM(x, bitwise_and_(3), bitwise_and(3)),
        FORM(x, bitwise_or_(3), bitwise_or(3)), FORM(x, bitwise_xor_(3), bitwise_xor(3)),
        FORM(x, bitwise_not_(), bitwise_not()), FORM(x, gcd_(y), gcd(y)), FORM(x, lcm_(y), lcm(y)),
        FORM(x, bitwise_left_shift_(y), bitwise_left_shift(y)),
        FORM(x, bitwise_right_shift_(y), bitwise_right_shift(y)), FORM(x, cumsum_(0), cumsum(0))})
    check_form(f);
  expect_alike(x << 2, x.mul(4));
  expect_alike(x >> y, x.bitwise_right_shift(y));
}

TEST(InPlaceForms, SayWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { whole().sinc_(); }),
            "result type Float can't be cast to the desired output type Long");
  EXPECT_EQ(error_of([] { tensor({1.0}).copysign_(plain()); }),
            "output with shape [1] doesn't match the broadcast shape [2, 2]");
  EXPECT_EQ(error_of([] {
              zeros({2, 2, 2}).t_();
            }),
            "t_() expects a tensor with <= 2 dimensions, but self is 3D");
  EXPECT_EQ(error_of([] { whole().float_power_(2); }),
            "the base given to float_power_ has dtype Long but the operation's result requires "
            "dtype Double");
  Tensor x = zeros({2, 1, 3});
  EXPECT_EQ(x.squeeze_(1).sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(x.squeeze_(0).sizes(), IntArrayRef({2, 3}));
}

TEST(FillDiagonal, FillsAndWraps) {
  const Tensor tall = zeros({7, 3}).fill_diagonal_(1, true);
  EXPECT_EQ(tall.nonzero().select(1, 0).sum().item<int64_t>(), 0 + 1 + 2 + 4 + 5 + 6);
  EXPECT_EQ(zeros({2, 2, 2}).fill_diagonal_(3).sum().item<double>(), 6);
  EXPECT_EQ(error_of([] { zeros({3}).fill_diagonal_(1); }), "dimensions must larger than 1");
  EXPECT_EQ(error_of([] {
              zeros({2, 3, 3}).fill_diagonal_(1);
            }),
            "all dimensions of input must be of equal length");
}

TEST(SpecialFunctions, AtTheirEdges) {
  const auto of = [](std::initializer_list<double> values) {
    Tensor t = empty({static_cast<int64_t>(values.size())}, kDouble);
    std::copy(values.begin(), values.end(), t.data_ptr<double>());
    return t;
  };
  expect_alike(of({1, -1, 0, 2}).erfinv(), of({kInfinite, -kInfinite, 0, kNotANumber}));
  expect_alike(of({0.0, -0.0, -1, -1.5}).digamma(),
               of({-kInfinite, kInfinite, kNotANumber, 0.70315664064524318723}));
  expect_alike(of({0, kInfinite, 0.5}).sinc(), of({1, kNotANumber, 2 / std::acos(-1.0)}));
  expect_alike(xlogy(of({0, 0, 0, kNotANumber}), of({0, kNotANumber, kInfinite, 1})),
               of({0, kNotANumber, 0, kNotANumber}));
  const Tensor two = of({2}).to(kFloat);  // has no number as large as 1e39
  expect_alike(xlogy(two, 1e39).to(kDouble), of({kInfinite}));
  expect_alike(xlogy(1e39, two).to(kDouble), of({kInfinite}));
  expect_alike(special::xlog1py(two, 1e39).to(kDouble), of({kInfinite}));
  expect_alike(special::zeta(two, 1e39).to(kDouble), of({0}));
  expect_alike(heaviside(of({kNotANumber, 0, -0.0}), of({5, kNotANumber, 3})),
               of({0, kNotANumber, 3}));
  expect_alike(fmax(of({1, kNotANumber}), of({kNotANumber, kNotANumber})), of({1, kNotANumber}));
  expect_alike(logaddexp(of({kInfinite, -kInfinite}), of({kInfinite, -kInfinite})),
               of({kInfinite, -kInfinite}));
  expect_alike(nextafter(of({1, 0}), of({2, -1})), of({1 + 0x1p-52, -0x1p-1074}));
  expect_alike(tensor({1, -1, 3}, kChar).bitwise_left_shift(tensor({7, 1, 8}, kChar)),
               tensor({-128, -2, 0}, kChar));
  expect_alike(tensor({1, -1, -8}, kChar).bitwise_right_shift(tensor({7, 9, 1}, kChar)),
               tensor({0, -1, -4}, kChar));
  EXPECT_EQ(float_power(whole(), 2).dtype(), kDouble);
}

TEST(SpecialFunctions, SayWhatTheyDoNotTake) {
  const Tensor complex = zeros({1}, kComplexFloat), yes = ones({1}, kBool);
  EXPECT_EQ(error_of([&] { positive(yes); }),
            "The `+` operator, on a bool tensor is not supported.");
  EXPECT_EQ(error_of([&] { signbit(complex); }), "signbit is not implemented for complex tensors.");
  EXPECT_EQ(error_of([&] { isneginf(complex); }), "isneginf does not support complex inputs.");
  EXPECT_EQ(error_of([&] { isposinf(complex); }), "isposinf does not support complex inputs.");
  EXPECT_EQ(error_of([&] { deg2rad(complex); }), "deg2rad is not supported for complex tensors.");
  EXPECT_EQ(error_of([&] { rad2deg(complex); }), "rad2deg is not supported for complex tensors.");
  EXPECT_EQ(error_of([] { heaviside(plain(), whole()); }),
            "heaviside is not yet implemented for tensors with different dtypes.");
  EXPECT_EQ(error_of([&] { heaviside(complex, complex); }),
            "heaviside is not yet implemented for complex tensors.");
  EXPECT_EQ(error_of([] { polygamma(-1, plain()); }),
            "polygamma(n, x) does not support negative n.");
  EXPECT_EQ(error_of([] { logaddexp(whole(), whole()); }),
            "\"logaddexp\" not implemented for 'Long'");
}

TEST(Polygamma, OfSmallAndLargeOrders) {
  const Tensor x = tensor({0.3, -30.25, -1.0}, kDouble);
  expect_alike(polygamma(2, x),
               tensor({-75.272536588726039, 124.02404942909005, -kInfinite}, kDouble));
  expect_alike(polygamma(3, tensor(7.5, kDouble)), tensor(0.0057724366565786937, kDouble));
  expect_alike(polygamma(18, tensor(2.0, kDouble)), tensor(-12217090921.400736, kDouble));
}

/// Short and long vectors, few and so many that they are taken in parts, with and without
/// gradients.
TEST(Cdist, IsTheNormOfDifferences) {
  manual_seed(8);
  for (const auto& [rows, columns, width] : {std::array<int64_t, 3>{3, 2, 5},
                                             {200, 150, 3},
                                             {90, 20, 64},
                                             {5, 1, 3},
                                             {0, 4, 3},
                                             {4, 0, 3}})
    for (const double p : {0.0, 1.0, 1.5, 2.0, std::numeric_limits<double>::infinity()}) {
      SCOPED_TRACE(::testing::Message() << rows << ", " << columns << " of " << width << ", " << p);
      const Tensor a = randn({2, rows, width}, kDouble),
                   b = randn({columns, 2 * width}, kDouble).slice(1, 0, 2 * width, 2);
      const Tensor got = cdist(a, b, p, 2);
      ASSERT_EQ(got.sizes(), (IntArrayRef{2, rows, columns}));
      for (int64_t i = 0; i < got.numel(); i += 7) {
        const Tensor difference =
            (a.view({-1, width}).select(0, i / columns) - b.select(0, i % columns)).abs();
        const double want = p == 0 ? difference.ne(0).sum().item<double>()
                            : std::isinf(p)
                                ? difference.max().item<double>()
                                : std::pow(difference.pow(p).sum().item<double>(), 1 / p);
        ASSERT_NEAR(got.view({-1}).select(0, i).item<double>(), want, 1e-12 * want) << i;
      }
      const Tensor recorded = cdist(a.detach().requires_grad_(), b, p, 2);
      EXPECT_TRUE(recorded.requires_grad());
      EXPECT_TRUE(recorded.detach().allclose(got, 1e-12));
    }
}

/// Of many differences, which are taken in parts, and of both forms of vectors.
TEST(Cdist, GradientsAreThoseOfNorms) {
  manual_seed(9);
  for (const auto& [rows, columns, width] :
       {std::array<int64_t, 3>{90, 70, 3}, {60, 20, 64}, {0, 4, 3}, {4, 0, 3}})
    for (const double p : {1.0, 1.5, 2.0, 3.0, kInfinite}) {
      SCOPED_TRACE(::testing::Message() << rows << ", " << columns << " of " << width << ", " << p);
      const auto make = [&](IntArrayRef sizes) { return randn(sizes, kDouble).requires_grad_(); };
      const Tensor a = make({2, rows, width}), b = make({columns, width}),
                   weights = randn({2, rows, columns}, kDouble);
      const std::vector<Tensor>
          got = autograd::grad({cdist(a, b, p, 2).mul(weights).sum()}, {a, b}),
          want = autograd::grad(
              {vector_norm(a.unsqueeze(-2).sub(b.unsqueeze(-3)), p, {-1}).mul(weights).sum()},
              {a, b});
      for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(got[i].allclose(want[i], 1e-10, 1e-10)) << i;
    }
}

TEST(Cdist, GradientsKeepTheDtypesOfTheirInputs) {
  const Tensor a = randn({3, 4}).requires_grad_(), b = randn({2, 4}, kDouble).requires_grad_();
  cdist(a, b, 1).sum().backward();
  EXPECT_EQ(a.grad().dtype(), kFloat);
  EXPECT_EQ(b.grad().dtype(), kDouble);
}

/// Values and first and second derivatives are those of the distances of all rows from all.
TEST(Pdist, IsTheUpperTriangleOfCdist) {
  manual_seed(10);
  for (const auto& [n, width] :
       {std::pair<int64_t, int64_t>{150, 3}, {70, 64}, {2, 3}, {1, 3}, {0, 3}})
    for (const double p : {0.0, 1.0, 1.5, 2.0, 3.0, kInfinite}) {
      SCOPED_TRACE(::testing::Message() << n << " of " << width << ", " << p);
      const Tensor x = randn({n, width}, kDouble).requires_grad_(), pairs = triu_indices(n, n, 1),
                   weights = randn({pairs.size(1)}, kDouble);
      const Tensor got = pdist(x, p),
                   want =
                       cdist(x, x, p, 2).view({-1}).index_select(0, pairs[0].mul(n).add(pairs[1]));
      ASSERT_EQ(got.sizes(), want.sizes());
      EXPECT_TRUE(got.allclose(want, 1e-12, 1e-12));
      const auto derive = [&](const Tensor& distances) {
        return autograd::grad({distances.mul(weights).sum()}, {x}, {}, true, true)[0];
      };
      const Tensor plain = autograd::grad({got.mul(weights).sum()}, {x}, {}, true)[0],
                   first = derive(got), same = derive(want);
      EXPECT_TRUE(plain.allclose(same, 1e-10, 1e-10));
      EXPECT_TRUE(first.allclose(same, 1e-10, 1e-10));
    }
}

TEST(Statistics, LeaveOutNan) {
  const Tensor x =
      tensor({{kNotANumber, 1, 3, 2}, {kNotANumber, kNotANumber, 4, kNotANumber}}, kDouble);
  expect_alike(x.nansum(1), tensor({6.0, 4.0}, kDouble));
  expect_alike(x.nanmean(1), tensor({2.0, 4.0}, kDouble));
  const auto [values, indices] = x.nanmedian(1);
  expect_alike(values, tensor({2.0, 4.0}, kDouble));
  expect_alike(indices, tensor({3, 2}, kLong));
  expect_alike(x.nanmedian(), tensor(2.0, kDouble));
  EXPECT_TRUE(std::isnan(zeros({0}).nanmedian().item<double>()));
  expect_alike(x.nanquantile(0.5, 1), tensor({2.0, 4.0}, kDouble));
  EXPECT_TRUE(std::isnan(x.quantile(0.5).item<double>()));
}

TEST(Statistics, QuantilesInterpolate) {
  const Tensor x = tensor({{1.0, 2.0, 4.0}, {8.0, 16.0, 32.0}}, kDouble);
  const Tensor q = tensor({0.25, 0.8}, kDouble);
  expect_alike(x.quantile(q, 1), tensor({{1.5, 12.0}, {3.2, 25.6}}, kDouble));
  expect_alike(x.quantile(0.25, 1, false, "lower"), tensor({1.0, 8.0}, kDouble));
  expect_alike(x.quantile(0.25, 1, false, "higher"), tensor({2.0, 16.0}, kDouble));
  expect_alike(x.quantile(0.25, 1, false, "midpoint"), tensor({1.5, 12.0}, kDouble));
  expect_alike(x.quantile(0.8, 1, false, "nearest"), tensor({4.0, 32.0}, kDouble));
  EXPECT_EQ(x.quantile(q, 1, true).sizes(), IntArrayRef({2, 2, 1}));
  EXPECT_EQ(x.quantile(q, {}, true).sizes(), IntArrayRef({2, 1, 1}));
  const Tensor f = ones({2});
  EXPECT_EQ(error_of([&] { quantile(zeros({0}), 0.5); }),
            "quantile() input tensor must be non-empty");
  EXPECT_EQ(error_of([&] {
              quantile(f, zeros({1, 1}));
            }),
            "quantile() q must be a scalar or 1D tensor");
  EXPECT_EQ(error_of([] { quantile(whole(), ones({})); }),
            "quantile() input tensor must be either float or double dtype");
  EXPECT_EQ(error_of([&] { quantile(f, q); }),
            "quantile() q tensor must be same dtype as the input tensor");
  EXPECT_EQ(error_of([&] { quantile(f, 0.5, {}, false, "x"); }),
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            "but got x");
  EXPECT_EQ(error_of([&] { quantile(f, 2.0); }),
            "quantile() q must be in the range [0, 1] but got 2");
  EXPECT_EQ(error_of([&] { quantile(f, full({1}, 2.0)); }),
            "quantile() q values must be in the range [0, 1]");
}

TEST(Statistics, SayWhatTheyDoNotTake) {
  const Tensor f = ones({2, 2}), cube = zeros({2, 2, 2});
  EXPECT_EQ(error_of([] { nanmean(whole()); }),
            "nanmean(): expected input to have floating point dtype but got Long");
  EXPECT_EQ(error_of([] { nansum(zeros({1}, kComplexFloat)); }),
            "nansum does not support complex inputs");
  EXPECT_EQ(error_of([&] {
              nanmedian(zeros({2, 0}), 1);
            }),
            "median(): Expected reduction dim 1 to have non-zero size.");
  EXPECT_EQ(error_of([&] { histc(f, 0); }),
            "torch.histogram(): bins must be > 0, but got 0 for dimension 0");
  EXPECT_EQ(error_of([&] { histc(f, 2, 3, 1); }), "torch.histc: max must be larger than min");
  EXPECT_EQ(error_of([&] { histc(full({2}, kNotANumber), 2); }),
            "torch.histc: range of [nan, nan] is not finite");
  EXPECT_EQ(error_of([&] { trace(cube); }), "trace: expected a matrix, but got tensor with dim 3");
  EXPECT_EQ(error_of([&] {
              cdist(f, zeros({3, 3}));
            }),
            "X1 and X2 must have the same number of columns. X1: 2 X2: 3");
  EXPECT_EQ(error_of([&] { cdist(f.select(0, 0), f); }),
            "cdist only supports at least 2D tensors, X1 got: 1D");
  EXPECT_EQ(error_of([&] { cdist(f, f.select(0, 0)); }),
            "cdist only supports at least 2D tensors, X2 got: 1D");
  EXPECT_EQ(error_of([&] { cdist(f, f, -1); }), "cdist only supports non-negative p values");
  EXPECT_EQ(error_of([&] { cdist(whole(), f); }),
            "cdist only supports floating-point dtypes, X1 got: Long");
  EXPECT_EQ(error_of([&] { cdist(f, whole()); }),
            "cdist only supports floating-point dtypes, X2 got: Long");
  EXPECT_EQ(error_of([&] { diff(zeros({})); }),
            "diff expects input to be at least one-dimensional");
  EXPECT_EQ(error_of([&] { diff(f, 1, -1, zeros({3})); }),
            "diff expects prepend or append to be the same dimension as input");
  EXPECT_EQ(error_of([&] {
              diff(f, 1, -1, zeros({3, 1}));
            }),
            "diff expects the shape of tensor to prepend or append to match that of input except "
            "along the differencing dimension; input.size(0) = 2, but got tensor.size(0) = 3");
  EXPECT_EQ(error_of([&] { trapezoid(f, zeros({3})); }),
            "trapezoid: There must be one `x` value for each sample point");
  EXPECT_EQ(error_of([&] { trapezoid(ones({1}, kBool)); }),
            "trapezoid: received a bool input for `y`, but bool is not supported");
  EXPECT_EQ(error_of([&] { trapezoid(f, ones({2}, kBool)); }),
            "trapezoid: received a bool input for `x` or `y`, but bool is not supported");
  EXPECT_EQ(error_of([&] { inner(f, zeros({3})); }),
            "inner() the last dimension must match on both input tensors but got shapes [2, 2] and "
            "[3]");
  EXPECT_EQ(error_of([&] { renorm(f, 0, 0, 1); }), "renorm: non-positive-norm not supported");
  EXPECT_EQ(error_of([&] { renorm(f, 2, 0, -1); }),
            "renorm: expected maxnorm to be >= 0 but got -1");
  EXPECT_EQ(error_of([&] { renorm(f.select(0, 0), 2, 0, 1); }),
            "renorm: input needs at least 2 dimensions, got 1 dimensions");
}

TEST(Statistics, CovarianceIsWeighted) {
  const Tensor x = tensor({{1.0, 2.0, 4.0}, {3.0, 3.0, 0.0}}, kDouble);
  const Tensor counts = tensor({1, 2, 1}, kLong), weights = tensor({0.5, 1.0, 2.0}, kDouble);
  const Tensor repeated = x.index_select(1, tensor({0, 1, 1, 2}, kLong));
  expect_alike(x.cov(1, counts), repeated.cov());
  expect_alike(x.cov(0, {}, weights.mul(4)), x.cov(0, {}, weights));
  EXPECT_NEAR(x.cov(1, counts, weights).select(0, 0).select(0, 0).item<double>(), 1.857142857142857,
              1e-12);
  EXPECT_EQ(x.select(0, 0).cov().dim(), 0);
  EXPECT_EQ(error_of([&] {
              cov(zeros({2, 2, 2}));
            }),
            "cov(): expected input to have two or fewer dimensions but got an input with 3 "
            "dimensions");
  EXPECT_EQ(error_of([&] {
              corrcoef(zeros({2, 2, 2}));
            }),
            "corrcoef(): expected input to have two or fewer dimensions but got an input with 3 "
            "dimensions");
  EXPECT_EQ(error_of([&] { cov(ones({2}, kBool)); }),
            "cov(): bool dtype is not supported for input");
  EXPECT_EQ(error_of([&] {
              x.cov(1, ones({1, 1}, kLong));
            }),
            "cov(): expected fweights to have one or fewer dimensions but got fweights with 2 "
            "dimensions");
  EXPECT_EQ(error_of([&] { x.cov(1, ones({3})); }),
            "cov(): expected fweights to have integral dtype but got fweights with Float dtype");
  EXPECT_EQ(error_of([&] { x.cov(1, {}, ones({3}, kLong)); }),
            "cov(): expected aweights to have floating point dtype but got aweights with Long "
            "dtype");
  EXPECT_EQ(
      error_of([&] { x.cov(1, ones({1}, kLong)); }),
      "cov(): expected fweights to have the same numel as there are observations in the input "
      "but got 1 != 3");
  EXPECT_EQ(error_of([&] { x.cov(1, counts.neg()); }), "cov(): fweights cannot be negative");
  EXPECT_EQ(error_of([&] { x.cov(1, zeros({3}, kLong)); }),
            "cov(): weights sum to zero, can't be normalized");
}

TEST(Parts, SayWhatDoesNotFit) {
  const Tensor f = ones({2, 2}), yes = ones({2, 2}, kBool);
  EXPECT_EQ(error_of([&] { f.select_scatter(zeros({3}), 0, 1); }),
            "expected src to have a size equal to the slice of self. src size = [3], slice size = "
            "[2]");
  EXPECT_EQ(error_of([&] { f.masked_scatter(yes, zeros({2})); }),
            "Number of elements of source < number of ones in mask");
  EXPECT_EQ(error_of([&] { f.masked_scatter(yes, zeros({4}, kLong)); }),
            "masked_scatter: expected self and source to have same dtypes but gotFloat and Long");
  EXPECT_EQ(error_of([&] { f.masked_scatter(f, zeros({4})); }),
            "masked_scatter_ only supports boolean masks, but got mask with dtype Float");
  const Tensor index = zeros({2, 2}, kLong);
  EXPECT_EQ(error_of([&] { f.scatter_reduce(0, index, f, "x"); }),
            "reduce argument must be either sum, prod, mean, amax or amin, got x");
  EXPECT_EQ(error_of([&] {
              f.scatter_reduce(0, index, zeros({1, 2}), "sum");
            }),
            "Expected index [2, 2] to be smaller than src [1, 2] in all dimensions");
  for (const char* how : {"sum", "mean", "prod", "amax", "amin"}) {
    const Tensor src = arange(1, 10).to(kFloat).view({3, 3});  // has more than index asks for
    EXPECT_TRUE(f.scatter_reduce(0, index, src, how)
                    .equal(f.scatter_reduce(0, index, src.narrow(0, 0, 2).narrow(1, 0, 2), how)));
  }
  EXPECT_EQ(error_of([&] { f.put(ones({1}), zeros({1})); }),
            "put_(): Expected a long tensor for index, but got Float");
  EXPECT_EQ(error_of([&] { f.put(index, zeros({1})); }),
            "put_(): Expected source and index to have the same number of elements, but got "
            "source.numel() = 1, index.numel() = 4");
  EXPECT_EQ(error_of([&] { f.put(index, index); }),
            "put_(): self and source expected to have the same dtype, but got self.dtype = Float "
            "and source.dtype = Long");
  EXPECT_EQ(error_of([&] { isin(yes, f); }), "Unsupported input type encountered for isin(): Bool");
  EXPECT_EQ(error_of([] { zeros({}).hsplit(2); }),
            "torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with 0 "
            "dimensions!");
  EXPECT_EQ(error_of([] {
              zeros({3, 3}).vsplit(2);
            }),
            "torch.vsplit attempted to split along dimension 0, but the size of the dimension 3 is "
            "not divisible by the split_size 2!");
  EXPECT_EQ(error_of([] {
              zeros({3, 3}).dsplit({1});
            }),
            "torch.dsplit requires a tensor with at least 3 dimension, but got a tensor with 2 "
            "dimensions!");
  EXPECT_EQ(error_of([] {
              block_diag({zeros({2, 2, 2})});
            }),
            "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input 0 has 3 "
            "dimensions");
  EXPECT_EQ(error_of([] { block_diag({}); }), "torch.block_diag: expected at least one tensor");
  EXPECT_EQ(error_of([&] { cartesian_prod({f}); }), "Expect a 1D vector, but got shape [2, 2]");
  EXPECT_EQ(error_of([&] { combinations(f); }), "Expect a 1D vector, but got shape [2, 2]");
  EXPECT_EQ(error_of([] { combinations(zeros({2}), -1); }),
            "Expect a non-negative number, but got -1");
  EXPECT_EQ(error_of([] { column_stack({}); }), "column_stack expects a non-empty TensorList");
  EXPECT_EQ(error_of([&] { channel_shuffle(f, 2); }),
            "channel_shuffle expects input with > 2 dims, but got input with sizes [2, 2]");
  EXPECT_EQ(error_of([] {
              channel_shuffle(zeros({1, 3, 2}), 2);
            }),
            "Number of channels must be divisible by groups. Got 3 channels and 2 groups.");
  EXPECT_EQ(error_of([] {
              channel_shuffle(zeros({1, 4, 2}), 0);
            }),
            "Number of groups to divide channels in must be positive. Value of groups:0");
  EXPECT_EQ(combinations(zeros({2}), 3).sizes(), IntArrayRef({0, 3}));
}

TEST(IsNonzero, NeedsOneElement) {
  EXPECT_TRUE(full({1, 1}, 0.5).is_nonzero());
  EXPECT_EQ(error_of([] { zeros({0}).is_nonzero(); }),
            "Boolean value of Tensor with no values is ambiguous");
  EXPECT_EQ(error_of([] { zeros({2}).is_nonzero(); }),
            "Boolean value of Tensor with more than one value is ambiguous");
}

}  // namespace
}  // namespace taeda

#undef FORM
