// Convolutions against the definition, for the shapes that each kernel serves, with and without
// oneDNN; gradients of first and second order; errors.
#include "taeda/ops/nn/conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <latch>
#include <thread>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"
#include "taeda/cpu/onednn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;

/// Numbers in [-1, 1] without a pattern, the same in every run.
Tensor noise(IntArrayRef sizes, ScalarType dtype = kFloat, uint32_t seed = 1) {
  Tensor t = empty(sizes, kDouble);
  uint32_t state = seed * 2654435761u + 12345u;
  for (int64_t i = 0; i < t.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    t.data_ptr<double>()[i] = static_cast<double>(state >> 8) / (1 << 23) - 1.0;
  }
  return t.to(dtype);
}

struct ConvCase {
  const char* name;
  DimVector in, weight;
  DimVector stride{1, 1}, padding{0, 0}, dilation{1, 1};
  int64_t groups = 1;
};

std::ostream& operator<<(std::ostream& out, const ConvCase& c) { return out << c.name; }

/// The convolution by its definition, in double, two dimensions.
Tensor reference(const Tensor& in, const Tensor& weight, const Tensor& bias, const ConvCase& c) {
  const Tensor x = in.to(kDouble).contiguous(), w = weight.to(kDouble).contiguous();
  const int64_t C = x.size(1), H = x.size(2), W = x.size(3), O = w.size(0), G = w.size(1);
  const int64_t KH = w.size(2), KW = w.size(3);
  const int64_t oh = (H + 2 * c.padding[0] - c.dilation[0] * (KH - 1) - 1) / c.stride[0] + 1;
  const int64_t ow = (W + 2 * c.padding[1] - c.dilation[1] * (KW - 1) - 1) / c.stride[1] + 1;
  Tensor out = empty({x.size(0), O, oh, ow}, kDouble);
  const Tensor b = bias.defined() ? bias.to(kDouble) : zeros({O}, kDouble);
  const double *const px = x.data_ptr<double>(), *const pw = w.data_ptr<double>();
  double* to = out.data_ptr<double>();
  for (int64_t n = 0; n < x.size(0); ++n)
    for (int64_t o = 0; o < O; ++o)
      for (int64_t y = 0; y < oh; ++y)
        for (int64_t v = 0; v < ow; ++v) {
          double sum = b.data_ptr<double>()[o];
          for (int64_t g = 0; g < G; ++g)
            for (int64_t i = 0; i < KH; ++i)
              for (int64_t j = 0; j < KW; ++j) {
                const int64_t iy = y * c.stride[0] - c.padding[0] + i * c.dilation[0];
                const int64_t ix = v * c.stride[1] - c.padding[1] + j * c.dilation[1];
                if (iy < 0 || iy >= H || ix < 0 || ix >= W) continue;
                const int64_t channel = o / (O / c.groups) * G + g;
                sum +=
                    px[((n * C + channel) * H + iy) * W + ix] * pw[((o * G + g) * KH + i) * KW + j];
              }
          *to++ = sum;
        }
  return out;
}

void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.sizes(), want.sizes());
  const Tensor g = got.to(kDouble).contiguous(), w = want.to(kDouble).contiguous();
  for (int64_t i = 0; i < g.numel(); ++i)
    ASSERT_NEAR(g.data_ptr<double>()[i], w.data_ptr<double>()[i], tolerance) << "element " << i;
}

void expect_same_bytes(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.sizes(), want.sizes());
  ASSERT_EQ(std::memcmp(got.data_ptr(), want.data_ptr(), static_cast<size_t>(got.nbytes())), 0);
}

/// Both with oneDNN and without.
class ConvCases : public ::testing::TestWithParam<std::tuple<ConvCase, bool>> {
 protected:
  void SetUp() override { cpu::set_onednn_enabled(std::get<1>(GetParam())); }
  void TearDown() override { cpu::set_onednn_enabled(true); }
  static const ConvCase& conv() { return std::get<0>(GetParam()); }
  static Tensor run(const Tensor& x, const Tensor& w, const Tensor& b) {
    const ConvCase& c = conv();
    return conv2d(x, w, b, c.stride, IntArrayRef(c.padding), c.dilation, c.groups);
  }
};

TEST_P(ConvCases, AgreesWithTheDefinition) {
  const ConvCase& c = conv();
  const double terms = std::sqrt(static_cast<double>(product(c.weight) / c.weight[0]));
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) {
    SCOPED_TRACE(::testing::Message() << dtype);
    const Tensor x = noise(c.in, dtype), w = noise(c.weight, dtype, 2);
    const Tensor b = noise({c.weight[0]}, dtype, 3);
    const double unit = dtype == kDouble  ? 1e-14
                        : dtype == kFloat ? 4e-6
                        : dtype == kHalf  ? 4e-3
                                          : 3e-2;
    expect_close(run(x, w, b), reference(x, w, b, c), unit * terms);
    expect_close(run(x, w, {}), reference(x, w, {}, c), unit * terms);
  }
}

TEST_P(ConvCases, FloatGradientsAgreeWithDouble) {
  const ConvCase& c = conv();
  std::vector<Tensor> grads[2];
  for (int i = 0; i < 2; ++i) {
    const ScalarType dtype = i == 0 ? kFloat : kDouble;
    const Tensor x = noise(c.in).to(dtype).requires_grad_();
    const Tensor w = noise(c.weight, kFloat, 2).to(dtype).requires_grad_();
    const Tensor b = noise({c.weight[0]}, kFloat, 3).to(dtype).requires_grad_();
    const Tensor y = run(x, w, b);
    grads[i] = autograd::grad({y}, {x, w, b}, {noise(y.sizes(), kFloat, 4).to(dtype)});
  }
  for (size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(::testing::Message() << "gradient " << i);
    expect_close(grads[0][i], grads[1][i], 2e-3);
  }
}

TEST_P(ConvCases, DoesNotDependOnTheNumberOfThreads) {
  const ConvCase& c = conv();
  const int threads = get_num_threads();
  std::vector<Tensor> first;
  for (const int n : {1, 2, 3}) {
    set_num_threads(n);
    const Tensor x = noise(c.in).requires_grad_(), w = noise(c.weight, kFloat, 2).requires_grad_();
    const Tensor b = noise({c.weight[0]}, kFloat, 3).requires_grad_();
    const Tensor y = run(x, w, b);
    std::vector<Tensor> all = autograd::grad({y}, {x, w, b}, {noise(y.sizes(), kFloat, 4)});
    all.push_back(y.detach());
    if (n == 1) first = all;
    for (size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << n << " threads, result " << i);
      expect_same_bytes(all[i], first[i]);
    }
  }
  set_num_threads(threads);
}

const ConvCase kCases[] = {
    {"lenet1", {5, 1, 28, 28}, {6, 1, 5, 5}},
    {"lenet2", {20, 6, 12, 12}, {12, 6, 5, 5}},
    {"padded3x3", {3, 3, 32, 32}, {16, 3, 3, 3}, {1, 1}, {1, 1}},
    {"tiny", {1, 1, 3, 3}, {1, 1, 3, 3}},
    {"wide_kernel", {2, 2, 9, 20}, {3, 2, 2, 7}, {1, 1}, {1, 3}},
    {"dilated", {2, 3, 15, 14}, {4, 3, 3, 3}, {1, 1}, {2, 1}, {2, 2}},
    {"strided", {2, 3, 17, 16}, {8, 3, 3, 3}, {2, 2}, {1, 1}},
    {"stem", {2, 3, 30, 30}, {16, 3, 7, 7}, {2, 2}, {3, 3}},
    {"pointwise", {2, 32, 8, 8}, {48, 32, 1, 1}},
    {"many_channels", {3, 32, 10, 11}, {32, 32, 3, 3}, {1, 1}, {1, 1}},
    {"odd_channels", {2, 33, 9, 9}, {29, 33, 3, 3}, {1, 1}, {1, 1}},
    {"groups", {2, 8, 9, 9}, {12, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
    {"depthwise", {2, 32, 12, 12}, {32, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 32},
    {"padding_beyond_kernel", {1, 2, 4, 4}, {2, 2, 2, 2}, {1, 1}, {3, 3}},
    {"small_images", {9, 40, 4, 3}, {48, 40, 3, 3}, {1, 1}, {1, 1}},
    {"small_strided", {17, 40, 4, 5}, {33, 40, 3, 2}, {2, 1}, {1, 0}},
    {"small_dilated", {17, 40, 5, 5}, {33, 40, 3, 3}, {1, 1}, {2, 1}, {2, 2}},
    {"small_pointwise", {5, 64, 4, 4}, {40, 64, 1, 1}},
    {"small_in_parts", {150, 128, 4, 4}, {32, 128, 3, 3}, {1, 1}, {1, 1}},
    {"one_pixel", {33, 64, 1, 1}, {32, 64, 3, 3}, {1, 1}, {1, 1}},
    {"two_pixels", {16, 64, 2, 2}, {48, 64, 3, 3}, {2, 2}, {1, 1}},
    {"tiles", {3, 32, 35, 36}, {32, 32, 3, 3}, {1, 1}, {1, 1}},
    {"tiles_unpadded", {4, 32, 33, 30}, {32, 32, 3, 3}},
    {"tiles_of_padding", {4, 32, 25, 30}, {32, 32, 3, 3}, {1, 1}, {2, 0}},
    {"taps_over_padding_alone", {2, 8, 1, 9}, {8, 8, 5, 3}, {1, 1}, {2, 1}},
};

INSTANTIATE_TEST_SUITE_P(Kernels, ConvCases,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "_onednn" : "_own");
                         });

TEST(Conv, GradientsOfFirstAndSecondOrder) {
  const Tensor x = noise({2, 4, 6, 5}, kDouble).requires_grad_();
  const Tensor w = noise({6, 2, 3, 2}, kDouble, 2).requires_grad_();
  const Tensor b = noise({6}, kDouble, 3).requires_grad_();
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{conv2d(in[0], in[1], in[2], {2, 1}, {1, 2}, {1, 2}, 2)};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {x, w, b}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x, w, b}));
}

TEST(Conv, TransposedGradientsOfFirstAndSecondOrder) {
  const Tensor x = noise({2, 4, 3, 4}, kDouble).requires_grad_();
  const Tensor w = noise({4, 3, 3, 2}, kDouble, 2).requires_grad_();
  const Tensor b = noise({6}, kDouble, 3).requires_grad_();
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{conv_transpose2d(in[0], in[1], in[2], {2, 1}, {1, 0}, {1, 0}, 2)};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {x, w, b}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x, w, b}));
}

TEST(Conv, GradientsWhereTapsMeetPaddingAlone) {
  const Tensor x = noise({2, 3, 1, 2}, kDouble).requires_grad_();
  const Tensor w = noise({4, 3, 3, 3}, kDouble, 2).requires_grad_();
  const auto f = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{conv2d(in[0], in[1], {}, {1, 2}, {1, 1})};
  };
  EXPECT_TRUE(autograd::gradcheck(f, {x, w}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x, w}));
}

TEST(Conv, OneAndThreeDimensionsAgreeWithTwo) {
  const Tensor x = noise({2, 3, 4, 10}), w = noise({5, 3, 1, 3}, kFloat, 2);
  const Tensor two = conv2d(x, w, {}, 1, {0, 1});
  const Tensor three = conv3d(x.unsqueeze(2), w.unsqueeze(2), {}, 1, {0, 0, 1});
  expect_close(three.squeeze(2), two, 1e-5);
  const Tensor one = conv1d(x.select(2, 1), w.squeeze(2), {}, 1, 1);
  expect_close(one, two.select(2, 1), 1e-5);
}

TEST(Conv, PaddingByName) {
  const Tensor x = noise({1, 4, 8, 8}), w = noise({5, 4, 4, 3}, kFloat, 2);
  EXPECT_EQ(conv2d(x, w, {}, 1, "same").sizes(), IntArrayRef({1, 5, 8, 8}));
  EXPECT_EQ(conv2d(x, w, {}, 1, "valid").sizes(), IntArrayRef({1, 5, 5, 6}));
  // Three rows around a kernel of four: one before, two behind.
  expect_close(conv2d(x, w, {}, 1, "same").slice(2, 0, 7), conv2d(x, w, {}, 1, {1, 1}), 1e-5);
}

TEST(Conv, UnbatchedAndEmptyInputs) {
  const Tensor x = noise({4, 8, 8}), w = noise({5, 4, 4, 3}, kFloat, 2), b = noise({5}, kFloat, 3);
  expect_close(conv2d(x, w, b), conv2d(x.unsqueeze(0), w, b).squeeze(0), 0);
  EXPECT_EQ(conv2d(empty({0, 4, 8, 8}), w, b).sizes(), IntArrayRef({0, 5, 5, 6}));
  const Tensor none = empty({0, 4, 8, 8}).requires_grad_(), weight = w.clone().requires_grad_();
  conv2d(none, weight, b).sum().backward();
  expect_close(weight.grad(), zeros({5, 4, 4, 3}), 0);
}

TEST(Conv, AnyMemoryOrder) {
  const Tensor x = noise({2, 6, 9, 8}), w = noise({5, 6, 3, 3}, kFloat, 2), want = conv2d(x, w);
  const Tensor last = x.contiguous(MemoryFormat::ChannelsLast);
  EXPECT_TRUE(conv2d(last, w).is_contiguous(MemoryFormat::ChannelsLast));
  expect_close(conv2d(last, w), want, 1e-5);
  expect_close(conv2d(x.transpose(2, 3).contiguous().transpose(2, 3), w), want, 1e-5);
  expect_close(conv2d(x, w.transpose(0, 1).contiguous().transpose(0, 1)), want, 1e-5);
}

TEST(Conv, SmallImagesInAnyMemoryOrder) {
  for (const int64_t size : {1, 2, 4}) {
    const Tensor x = noise({20, 40, size, size}), w = noise({48, 40, 3, 3}, kFloat, 2);
    const auto results = [](Tensor image, Tensor weight) {
      image = image.detach().requires_grad_(), weight = weight.detach().requires_grad_();
      const Tensor y = conv2d(image, weight, {}, 1, 1);
      std::vector<Tensor> all = autograd::grad({y}, {image, weight}, {noise(y.sizes(), kFloat, 4)});
      all.push_back(y.detach());
      return all;
    };
    const std::vector<Tensor> want = results(x, w);
    const Tensor last = x.contiguous(MemoryFormat::ChannelsLast),
                 filters = w.contiguous(MemoryFormat::ChannelsLast),
                 turned = w.transpose(2, 3).contiguous().transpose(2, 3);
    for (const Tensor& image : {x, last})
      for (const Tensor& weight : {w, filters, turned}) {
        const std::vector<Tensor> got = results(image, weight);
        for (size_t i = 0; i < got.size(); ++i) expect_close(got[i], want[i], 1e-4);
      }
  }
}

/// The convolution of `x` by `w` with a padding of 1: the output and both gradients.
std::vector<Tensor> with_gradients(const Tensor& x, const Tensor& w, const Tensor& grad) {
  const Tensor in = x.detach().requires_grad_(), weight = w.detach().requires_grad_();
  const Tensor y = conv2d(in, weight, {}, 1, 1);
  std::vector<Tensor> all = autograd::grad({y}, {in, weight}, {grad});
  all.push_back(y.detach());
  return all;
}

TEST(Conv, TilesInAnyMemoryOrder) {
  const Tensor x = noise({4, 32, 33, 32}), w = noise({64, 32, 3, 3}, kFloat, 2);
  const Tensor grad = noise({4, 64, 33, 32}, kFloat, 3);
  const std::vector<Tensor> want = with_gradients(x, w, grad);
  const auto last = [](const Tensor& t) { return t.contiguous(MemoryFormat::ChannelsLast); };
  const auto turned = [](const Tensor& t) {
    return t.transpose(2, 3).contiguous().transpose(2, 3);
  };
  for (const Tensor& weight : {w, last(w), turned(w)})
    for (const Tensor& image : {x, last(x), turned(x)}) {
      const std::vector<Tensor> got = with_gradients(image, weight, turned(grad));
      for (size_t i = 0; i < got.size(); ++i) expect_close(got[i], want[i], 1e-3);
    }
}

/// A number that is not finite, or so large that sums of its like are not, reaches what its taps
/// reach and nothing else, though outputs are computed in tiles.
TEST(Conv, InfinitiesDoNotSpreadOverTiles) {
  const Tensor w = noise({32, 32, 3, 3}, kFloat, 2), grad = noise({4, 32, 32, 32}, kFloat, 3);
  for (const float bad : {INFINITY, -INFINITY, NAN, 3e38f}) {
    const Tensor x = noise({4, 32, 32, 32});
    x.select(0, 1).select(0, 5).select(0, 9).select(0, 10).fill_(bad);
    const Tensor y = with_gradients(x, w, grad)[2];
    for (int64_t i = 0; i < y.numel(); ++i) {
      const int64_t column = i % 32, row = i / 32 % 32, channel = i / 1024 % 32, image = i / 32768;
      const bool met = image == 1 && std::abs(row - 9) <= 1 && std::abs(column - 10) <= 1;
      const float value = y.data_ptr<float>()[i];
      if (!met) {
        ASSERT_TRUE(std::isfinite(value)) << i;
        continue;
      }
      const int64_t tap = (9 - row + 1) * 3 + 10 - column + 1;
      const float weight = w.data_ptr<float>()[(channel * 32 + 5) * 9 + tap];
      if (std::isnan(bad))
        ASSERT_TRUE(std::isnan(value)) << i;
      else if (std::isinf(bad))
        ASSERT_EQ(value, weight > 0 ? bad : -bad) << i;
      else
        ASSERT_NEAR(value / bad, weight, 1e-5) << i;
    }
  }
}

TEST(Conv, GradientsOfInfinitiesDoNotSpread) {
  const Tensor x = noise({4, 32, 32, 32}), w = noise({32, 32, 3, 3}, kFloat, 2);
  const Tensor grad = noise({4, 32, 32, 32}, kFloat, 3);
  grad.select(0, 2).select(0, 7).select(0, 0).select(0, 0).fill_(INFINITY);
  const std::vector<Tensor> all = with_gradients(x, w, grad);
  for (int64_t i = 0; i < all[0].numel(); ++i) {
    const bool met = i / 32768 == 2 && i / 32 % 32 <= 1 && i % 32 <= 1;
    ASSERT_EQ(std::isfinite(all[0].data_ptr<float>()[i]), !met) << i;
  }
  for (int64_t i = 0; i < all[1].numel(); ++i) {
    const float value = all[1].data_ptr<float>()[i];
    if (i / 288 != 7)
      ASSERT_TRUE(std::isfinite(value)) << i;
    else if (i % 9 == 4)  // the tap in the middle, which meets an input there
      ASSERT_TRUE(std::isinf(value)) << i;
  }
}

/// The message of the Error that f throws.
TEST(Conv, ErrorsNameWhatIsWrong) {
  const Tensor w = zeros({6, 1, 5, 5});
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 3, 28, 28}), w);
            }),
            "Given groups=1, weight of size [6, 1, 5, 5], expected input[1, 3, 28, 28] to have 1 "
            "channels, but got 3 channels instead");
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 1, 3, 3}), w);
            }),
            "Calculated padded input size per channel: (3 x 3). Kernel size: (5 x 5). Kernel size "
            "can't be greater than actual input size");
  EXPECT_EQ(
      error_of([&] {
        conv2d(zeros({3, 3}), w);
      }),
      "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [3, 3]");
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 1, 8, 8}), w, zeros({5}));
            }),
            "Given weight of size [6, 1, 5, 5], expected bias to be 1-dimensional with 6 elements, "
            "but got bias of size [5] instead");
  EXPECT_EQ(
      error_of([&] {
        conv2d(zeros({1, 4, 8, 8}), zeros({5, 2, 5, 5}), {}, 1, 0, 1, 2);
      }),
      "Given groups=2, expected weight to be divisible by 2 at dimension 0, but got weight of "
      "size [[5, 2, 5, 5]] instead");
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 1, 8, 8}), w, {}, 0);
            }),
            "non-positive stride is not supported");
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 1, 8, 8}), w, {}, {1, 1, 1});
            }),
            "expected stride to be a single integer value or a list of 2 values to match the "
            "convolution dimensions, but got stride=[1, 1, 1]");
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 1, 8, 8}), w, {}, 1, -1);
            }),
            "negative padding is not supported");
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 1, 8, 8}), w, {}, 1, 0, 1, 0);
            }),
            "non-positive groups is not supported");
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 1, 8, 8}), w, {}, 2, "same");
            }),
            "padding='same' is not supported for strided convolutions");
  EXPECT_EQ(error_of([&] {
              conv2d(zeros({1, 1, 8, 8}), w, {}, 1, "full");
            }),
            "Invalid padding string: 'full'");
  EXPECT_THAT(error_of([&] {
                conv2d(zeros({1, 1, 8, 8}, kDouble), w);
              }),
              HasSubstr("should be the same"));
  EXPECT_EQ(error_of([&] {
              conv_transpose2d(zeros({2, 4, 8, 8}), zeros({5, 4, 4, 3}));
            }),
            "Given transposed=1, weight of size [5, 4, 4, 3], expected input[2, 4, 8, 8] to have 5 "
            "channels, but got 4 channels instead");
  EXPECT_EQ(error_of([&] {
              conv_transpose2d(zeros({2, 5, 1, 1}), zeros({5, 4, 1, 1}), {}, 1, 1);
            }),
            "Given input size per channel: (1 x 1). Calculated output size per channel: (-1 x -1). "
            "Output size is too small");
  EXPECT_THAT(error_of([&] {
                conv_transpose2d(zeros({2, 5, 4, 4}), zeros({5, 4, 2, 2}), {}, 1, 0, 1);
              }),
              HasSubstr("output padding must be smaller than either stride or dilation"));
}

TEST(Convolution, ThreadsMayMeetANewShapeTogether) {
  for (int64_t size = 8; size < 72; ++size) {
    const Tensor x = ones({1, 2, size, 9}), w = ones({3, 2, 3, 3});
    std::latch together(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        together.arrive_and_wait();
        EXPECT_EQ(conv2d(x, w).sum().item<float>(), 18 * 3 * (size - 2) * 7);
      });
    for (std::thread& t : threads) t.join();
  }
}

TEST(Conv, OfComplexNumbersIsMadeOfTheirParts) {
  const Tensor a = noise({2, 4, 5, 5}, kDouble), b = noise({2, 4, 5, 5}, kDouble, 2),
               c = noise({6, 2, 3, 3}, kDouble, 3), d = noise({6, 2, 3, 3}, kDouble, 4),
               bias = noise({6}, kDouble, 5);
  const Tensor x = make_complex(a, b), w = make_complex(c, d);
  const auto f = [](const Tensor& u, const Tensor& v) { return conv2d(u, v, {}, 2, 1, 1, 2); };
  const Tensor both = make_complex(f(a, c).sub(f(b, d)), f(a, d).add(f(b, c)));
  EXPECT_TRUE(allclose(f(x, w), both));
  EXPECT_TRUE(allclose(conv2d(x, w, make_complex(bias, bias.neg()), 2, 1, 1, 2),
                       both.add(make_complex(bias, bias.neg()).view({6, 1, 1}))));
  const Tensor back = conv_transpose2d(both, w, {}, 2, 1, 0, 2);
  EXPECT_TRUE(allclose(real(back), conv_transpose2d(real(both), c, {}, 2, 1, 0, 2)
                                       .sub(conv_transpose2d(imag(both), d, {}, 2, 1, 0, 2))));
  EXPECT_THAT(error_of([&] { conv2d(x, c); }), HasSubstr("should be the same"));
}

TEST(Conv, OfNoChannelsIsItsBias) {
  const TensorOptions learned = TensorOptions().requires_grad(true);
  const Tensor x = zeros({2, 0, 5, 5}, learned), w = zeros({4, 0, 3, 3}, learned),
               bias = full({4}, 3.0, learned);
  const Tensor y = conv2d(x, w, bias);
  EXPECT_TRUE(y.detach().equal(full({2, 4, 3, 3}, 3.0)));
  y.sum().backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
  EXPECT_EQ(w.grad().sizes(), w.sizes());
  EXPECT_TRUE(bias.grad().equal(full({4}, 18.0)));
}

}  // namespace
}  // namespace taeda
