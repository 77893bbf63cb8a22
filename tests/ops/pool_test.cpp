// Pooling against the definition; gradients of first and second order; errors.
#include "taeda/ops/nn/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using testing::expect_same;

using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Distinct numbers in a scrambled order.
Tensor scrambled(IntArrayRef sizes, ScalarType dtype = kFloat) {
  Tensor t = empty(sizes, kDouble);
  const int64_t n = t.numel();
  for (int64_t i = 0; i < n; ++i)
    t.data_ptr<double>()[i] = static_cast<double>((i * 7919 + 13) % 10007 - 5000) / 1024;
  return t.to(dtype);
}

Tensor from(IntArrayRef sizes, std::vector<float> values) {
  Tensor t = empty(sizes);
  std::copy(values.begin(), values.end(), t.data_ptr<float>());
  return t;
}

struct PoolCase {
  const char* name;
  DimVector in, kernel, stride, padding{0, 0}, dilation{1, 1};
  bool ceil_mode = false;
};

std::ostream& operator<<(std::ostream& out, const PoolCase& c) { return out << c.name; }

struct Expected {
  Tensor values, indices, grad;
};

/// Winners by the definition, and the gradient that ones in the output give the input.
Expected reference(const Tensor& x, const PoolCase& c, IntArrayRef sizes) {
  const Tensor in = x.to(kDouble).contiguous();
  const int64_t H = x.size(-2), W = x.size(-1), oh = sizes[2], ow = sizes[3];
  Expected e{empty(sizes, kDouble), empty(sizes, kLong), zeros(x.sizes(), kDouble)};
  for (int64_t plane = 0; plane < x.size(0) * x.size(1); ++plane)
    for (int64_t y = 0; y < oh; ++y)
      for (int64_t v = 0; v < ow; ++v) {
        double best = -kInf;
        int64_t winner = -1;
        for (int64_t i = 0; i < c.kernel[0]; ++i)
          for (int64_t j = 0; j < c.kernel[1]; ++j) {
            const int64_t iy = y * c.stride[0] - c.padding[0] + i * c.dilation[0];
            const int64_t ix = v * c.stride[1] - c.padding[1] + j * c.dilation[1];
            if (iy < 0 || iy >= H || ix < 0 || ix >= W) continue;
            const double value = in.data_ptr<double>()[plane * H * W + iy * W + ix];
            if (winner < 0 || value > best || std::isnan(value)) best = value, winner = iy * W + ix;
          }
        const int64_t o = (plane * oh + y) * ow + v;
        e.values.data_ptr<double>()[o] = best;
        e.indices.data_ptr<int64_t>()[o] = winner;
        e.grad.data_ptr<double>()[plane * H * W + winner] += 1;
      }
  return e;
}

class MaxPoolCases : public ::testing::TestWithParam<PoolCase> {};

TEST_P(MaxPoolCases, AgreesWithTheDefinition) {
  const PoolCase& c = GetParam();
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) {
    SCOPED_TRACE(::testing::Message() << dtype);
    const Tensor x = scrambled(c.in, dtype);
    const Tensor leaf = x.clone().requires_grad_();
    const Tensor out = max_pool2d(leaf, c.kernel, c.stride, c.padding, c.dilation, c.ceil_mode);
    const Expected want = reference(x, c, out.sizes());
    expect_same(out.detach(), want.values);
    expect_same(max_pool2d(x, c.kernel, c.stride, c.padding, c.dilation, c.ceil_mode), want.values);
    const auto [values, indices] =
        max_pool2d_with_indices(x, c.kernel, c.stride, c.padding, c.dilation, c.ceil_mode);
    expect_same(values, want.values);
    expect_same(indices, want.indices);
    expect_same(autograd::grad({out}, {leaf}, {ones(out.sizes(), dtype)})[0], want.grad);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Windows, MaxPoolCases,
    ::testing::Values(PoolCase{"pairs", {2, 3, 8, 8}, {2, 2}, {2, 2}},
                      PoolCase{"pairs_wide", {1, 2, 24, 70}, {2, 2}, {2, 2}},
                      PoolCase{"pairs_odd", {2, 2, 9, 37}, {2, 2}, {2, 2}},
                      PoolCase{"pairs_ceil", {2, 2, 9, 7}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, true},
                      PoolCase{"stem", {2, 3, 15, 16}, {3, 3}, {2, 2}, {1, 1}},
                      PoolCase{"overlapping", {1, 2, 7, 9}, {3, 2}, {1, 1}},
                      PoolCase{"dilated", {1, 2, 11, 12}, {3, 3}, {2, 1}, {1, 1}, {2, 3}},
                      PoolCase{"ceil", {1, 2, 10, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true},
                      PoolCase{"large_window", {1, 1, 20, 30}, {17, 18}, {3, 4}},
                      PoolCase{"together", {3, 25, 15, 16}, {3, 3}, {2, 2}, {1, 1}},
                      PoolCase{"together_large", {1, 21, 150, 70}, {3, 3}, {2, 2}, {1, 1}},
                      PoolCase{"together_dilated", {2, 40, 11, 12}, {3, 3}, {2, 1}, {1, 1}, {2, 3}},
                      PoolCase{"together_large_window", {2, 9, 20, 30}, {17, 18}, {3, 4}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(MaxPool, NotANumberWinsAndPaddingNever) {
  const Tensor x =
      from({1, 4, 4}, {1, kNan, 3, 4, 5, 6, 7, 8, -kInf, -kInf, -3, -1, -kInf, -kInf, -2, -4});
  expect_same(max_pool2d(x, 2), from({1, 2, 2}, {kNan, 8, -kInf, -1}));
  const auto [values, indices] = max_pool2d_with_indices(x, 2);
  expect_same(indices, from({1, 2, 2}, {1, 7, 8, 11}));
  expect_same(max_pool2d(from({1, 1, 2}, {-5, -7}), {1, 2}, 1, {0, 1}),
              from({1, 1, 3}, {-5, -5, -7}));
}

TEST(MaxPool, OneAndThreeDimensions) {
  const Tensor x = scrambled({2, 3, 11});
  expect_same(max_pool1d(x, 3, 2, 1),
              max_pool2d(x.unsqueeze(2), {1, 3}, {1, 2}, {0, 1}).squeeze(2));
  const Tensor y = scrambled({2, 3, 4, 6, 6});
  const Tensor flat = max_pool3d(y, {1, 2, 2});
  expect_same(flat.select(2, 1), max_pool2d(y.select(2, 1).contiguous(), 2));
}

/// Pairs side by side, which have a loop of their own, against pairs that are views.
TEST(MaxPool, PairsOfARow) {
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16, kDouble})
    for (const int64_t width : {2, 3, 31, 32, 33, 250}) {
      SCOPED_TRACE(::testing::Message() << dtype << ", " << width);
      Tensor x = scrambled({2, 3, width}).to(dtype);
      x.masked_fill_(scrambled({2, 3, width}).remainder(7).eq(3), kNan);
      x.masked_fill_(scrambled({2, 3, width}).remainder(5).eq(1), -kInf);
      x.requires_grad_();
      const Tensor pairs = x.unfold(2, 2, 2), y = max_pool1d(x, 2), first = pairs.select(3, 0),
                   second = pairs.select(3, 1);
      const Tensor wins = second.gt(first).logical_or(second.ne(second));
      expect_same(y.detach(), where(wins, second, first).detach());
      expect_same(max_pool1d(x.detach(), 2), y.detach());
      const Tensor g = scrambled(y.sizes()).to(dtype), nothing = zeros(g.sizes(), g.options()),
                   got = autograd::grad({y}, {x}, {g})[0];
      Tensor want = zeros_like(got);
      want.unfold(2, 2, 2).copy_(stack({where(wins, nothing, g), where(wins, g, nothing)}, 3));
      expect_same(got, want);
      const Tensor mean = avg_pool1d(x, 2);
      expect_same(mean.detach().to(kFloat).nan_to_num(3),
                  pairs.detach().to(kFloat).mean({3}).to(dtype).to(kFloat).nan_to_num(3));
    }
}

TEST(MaxPool, UnbatchedEmptyAndStrided) {
  const Tensor x = scrambled({3, 6, 6});
  expect_same(max_pool2d(x, 2), max_pool2d(x.unsqueeze(0), 2).squeeze(0));
  EXPECT_EQ(max_pool2d(empty({0, 1, 3, 3}), 2).sizes(), IntArrayRef({0, 1, 1, 1}));
  const Tensor turned = x.transpose(1, 2);
  expect_same(max_pool2d(turned, 2), max_pool2d(turned.contiguous(), 2));
}

TEST(AveragePool, WindowsAndDivisors) {
  const Tensor x = from({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_same(avg_pool2d(x, 2, 1), from({1, 1, 2, 2}, {3, 4, 6, 7}), 1e-6);
  expect_same(avg_pool2d(x, 2, 2, 1), from({1, 1, 2, 2}, {0.25f, 1.25f, 2.75f, 7}), 1e-6);
  expect_same(avg_pool2d(x, 2, 2, 1, false, false), from({1, 1, 2, 2}, {1, 2.5f, 5.5f, 7}), 1e-6);
  expect_same(avg_pool2d(x, 2, 2, 0, true), from({1, 1, 2, 2}, {3, 4.5f, 7.5f, 9}), 1e-6);
  expect_same(avg_pool2d(x, 2, 1, 0, false, true, 2), from({1, 1, 2, 2}, {6, 8, 12, 14}), 1e-6);
  expect_same(avg_pool1d(x.squeeze(0), 3), from({1, 3, 1}, {2, 5, 8}), 1e-6);
  expect_same(avg_pool3d(x, {1, 3, 3}), from({1, 1, 1, 1}, {5}), 1e-6);
}

TEST(AdaptivePool, DividesTheInput) {
  const Tensor x = from({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_same(adaptive_avg_pool2d(x, 2), from({1, 1, 2, 2}, {3, 4, 6, 7}), 1e-6);
  expect_same(adaptive_avg_pool2d(x, {1, kSameSize}), from({1, 1, 1, 3}, {4, 5, 6}), 1e-6);
  expect_same(adaptive_avg_pool1d(x.squeeze(0), 2),
              from({1, 3, 2}, {1.5f, 2.5f, 4.5f, 5.5f, 7.5f, 8.5f}), 1e-6);
  const auto [values, indices] = adaptive_max_pool2d(x.squeeze(0), 2);
  expect_same(values, from({1, 2, 2}, {5, 6, 8, 9}));
  expect_same(indices, from({1, 2, 2}, {4, 5, 7, 8}));
}

TEST(Pool, GradientsOfFirstAndSecondOrder) {
  using Inputs = const std::vector<Tensor>&;
  const std::vector<std::pair<const char*, autograd::GradcheckFn>> all = {
      {"max",
       [](Inputs in) {
         return std::vector<Tensor>{max_pool2d(in[0], {2, 3}, {2, 1}, {1, 0})};
       }},
      {"avg",
       [](Inputs in) {
         return std::vector<Tensor>{avg_pool2d(in[0], {2, 3}, {2, 1}, {1, 0})};
       }},
      {"adaptive_avg", [](Inputs in) {
         return std::vector<Tensor>{adaptive_avg_pool2d(in[0], {3, 2})};
       }}};
  for (const auto& [name, f] : all) {
    SCOPED_TRACE(name);
    const Tensor x = scrambled({2, 2, 5, 6}, kDouble).requires_grad_();
    EXPECT_TRUE(autograd::gradcheck(f, {x}));
    EXPECT_TRUE(autograd::gradgradcheck(f, {x}));
  }
}

TEST(Pool, SecondDerivativesAreZero) {
  using Pool = Tensor (*)(const Tensor&);
  const Pool all[] = {[](const Tensor& t) { return max_pool2d(t, 2); },
                      [](const Tensor& t) { return avg_pool2d(t, 2); },
                      [](const Tensor& t) { return adaptive_avg_pool2d(t, {3}); },
                      [](const Tensor& t) { return std::get<0>(adaptive_max_pool2d(t, {3})); },
                      [](const Tensor& t) { return avg_pool1d(t.flatten(0, 1), 2); },
                      [](const Tensor& t) { return max_pool3d(t, 2); }};
  for (const Pool pool : all) {
    const Tensor x = scrambled({2, 2, 6, 6}).requires_grad_();
    const Tensor first = autograd::grad({pool(x).sum()}, {x}, {}, {}, true)[0];
    EXPECT_TRUE(first.requires_grad());
    const Tensor second = autograd::grad({first.sum()}, {x})[0];
    EXPECT_TRUE(second.equal(zeros_like(x)));
  }
  const Tensor out = avg_pool2d(ones({1, 1, 2, 2}).requires_grad_(), 2);  // outside of a pass
  const auto grads = out.grad_fn()->apply({ones({1, 1, 1, 1})}, autograd::Needs(1));
  EXPECT_EQ(grads[0].sum().item<float>(), 1);
}

TEST(Pool, ErrorsNameWhatIsWrong) {
  const Tensor x = zeros({1, 1, 3, 3});
  EXPECT_EQ(error_of([&] { max_pool2d(x, 2, {}, 2); }),
            "pad should be at most half of kernel size, but got pad=2 and kernel_size=2");
  EXPECT_EQ(error_of([&] { max_pool2d(x, 5); }),
            "Given input size: (1x3x3). Calculated output size: (1x0x0). Output size is too small");
  EXPECT_EQ(error_of([&] { max_pool2d(x, 2, 0); }), "stride should not be zero");
  EXPECT_EQ(error_of([&] {
              max_pool2d(x, {2, 2, 2});
            }),
            "max_pool2d: kernel_size must either be a single int, or a tuple of two ints");
  EXPECT_THAT(error_of([&] {
                max_pool2d(zeros({3, 3}), 2);
              }),
              HasSubstr("Expected 3D or 4D (batch mode)"));
  EXPECT_THAT(error_of([&] { max_pool2d(x, 2, 2, 0, 0); }),
              HasSubstr("dilation should be greater than zero"));
  EXPECT_THAT(error_of([&] { max_pool2d(x, 0); }),
              HasSubstr("kernel size should be greater than zero"));
  EXPECT_EQ(error_of([&] { max_pool2d(x.to(kLong), 2); }),
            "\"max_pool2d\" not implemented for 'Long'");
  EXPECT_EQ(error_of([&] { avg_pool2d(x, 2, 2, 0, false, true, 0); }), "divisor must be not zero");
  EXPECT_EQ(error_of([&] {
              adaptive_avg_pool2d(zeros({3, 3}), 2);
            }),
            "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got [3, 3]");
  EXPECT_EQ(error_of([&] {
              adaptive_avg_pool2d(x, {2, 2, 2});
            }),
            "adaptive_avg_pool2d: output_size must be 2");
  EXPECT_THAT(error_of([&] {
                adaptive_avg_pool2d(zeros({1, 1, 0, 3}), 2);
              }),
              HasSubstr("being empty"));
}

/// Memory orders go different ways: neighbouring channels together, or a row of outputs.
TEST(AvgPool, OfEveryGeometryIsTheSameInEveryOrderOfMemory) {
  manual_seed(11);
  const auto number = [](int64_t from, int64_t to) {
    return randint(from, to, {1}).item<int64_t>();
  };
  for (int trial = 0; trial < 200; ++trial) {
    const int64_t h = number(4, 40), w = number(4, 90), kernel = number(1, 5),
                  stride = number(1, 4), padding = number(0, kernel / 2 + 1);
    const bool ceil = number(0, 2) == 1, count = number(0, 2) == 1;
    const std::optional<int64_t> divisor =
        number(0, 3) == 0 ? std::optional(number(1, 7)) : std::nullopt;
    SCOPED_TRACE(::testing::Message()
                 << h << " x " << w << ", kernel " << kernel << ", stride " << stride
                 << ", padding " << padding << ", ceil " << ceil << ", count " << count);
    const Tensor x = randn({2, 3, h, w}).requires_grad_();
    const Tensor y = x.detach().contiguous(MemoryFormat::ChannelsLast).requires_grad_();
    const auto pool = [&](const Tensor& t) {
      return avg_pool2d(t, kernel, stride, padding, ceil, count, divisor);
    };
    const Tensor a = pool(x), b = pool(y);
    ASSERT_TRUE(a.equal(b));
    const Tensor g = randn(a.sizes());
    a.backward(g);
    b.backward(g);
    expect_same(x.grad(), y.grad(), 1e-5);
  }
}

/// Any number of channels: whole registers, parts of one, and less than one.
TEST(ChannelsLastPools, HaveTheBitsOfPlanes) {
  manual_seed(6);
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (const int64_t channels : {2, 3, 7, 8, 16, 21, 32, 67}) {
      SCOPED_TRACE(::testing::Message() << to_string(dtype) << ", " << channels << " channels");
      Tensor x = randn({2, channels, 9, 7}).to(dtype);
      x.select(2, 4).select(2, 3).fill_(kNan);
      x.select(2, 1).fill_(-kInf);
      const Tensor y = x.contiguous(MemoryFormat::ChannelsLast);
      for (const int64_t kernel : {2, 3}) {
        expect_same(avg_pool2d(y, kernel, 2, 1, true, false),
                    avg_pool2d(x, kernel, 2, 1, true, false));
        const auto [a, i] = max_pool2d_with_indices(y, kernel, 2, 1);
        const auto [b, j] = max_pool2d_with_indices(x, kernel, 2, 1);
        expect_same(a, b);
        EXPECT_TRUE(i.equal(j));
        expect_same(max_pool2d(y, kernel, 1), max_pool2d(x, kernel, 1));
      }
      for (const int64_t size : {1, 4, 12})
        expect_same(adaptive_avg_pool2d(y, {size, size}), adaptive_avg_pool2d(x, {size, size}));
    }
}

TEST(MaxPool, OnePictureInThreeDimensionsIsNoBatchInTwo) {
  const Tensor x = arange(240, kFloat).mul(0.7).sin().view({3, 4, 4, 5});
  const Tensor last = x.contiguous(MemoryFormat::ChannelsLast);
  const auto [values, places] = max_pool3d_with_indices(last, {3, 1, 3}, {}, 0, 1, true);
  const auto [want, want_places] = max_pool3d_with_indices(x, {3, 1, 3}, {}, 0, 1, true);
  EXPECT_TRUE(values.equal(want));
  EXPECT_TRUE(places.equal(want_places));
  EXPECT_TRUE(avg_pool3d(last, 2).equal(avg_pool3d(x, 2)));
  EXPECT_TRUE(adaptive_avg_pool3d(last, {2, 2, 2}).equal(adaptive_avg_pool3d(x, {2, 2, 2})));
}

}  // namespace
}  // namespace taeda
