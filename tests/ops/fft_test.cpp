// What rows cannot say of the Fourier transforms: many lengths, exactness, properties, errors.
#include "taeda/ops/spectral/fft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "taeda/amp/autocast.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/base/parallel_for.h"
#include "taeda/device/generator.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/spectral/stft.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using autograd::gradcheck;
using autograd::gradgradcheck;
using ::testing::HasSubstr;

Tensor complex_noise(IntArrayRef sizes, ScalarType dtype = kComplexDouble) {
  return randn(sizes, dtype);
}

/// The root mean square of the difference over that of `want`.
double relative_error(const Tensor& got, const Tensor& want) {
  const Tensor exact = want.to(kComplexDouble);
  const double error = got.to(kComplexDouble).sub(exact).abs().square().sum().item<double>();
  return std::sqrt(error / exact.abs().square().sum().item<double>());
}

/// What rounding leaves of a transform of n numbers.
double rounding(ScalarType dtype, int64_t n) {
  const double eps = to_real_type(dtype) == kDouble ? 0x1p-53 : 0x1p-24;
  return eps * std::sqrt(2 + std::log2(static_cast<double>(n)));
}

// Lengths of every kind: single radices and their products, generic radices, primes by Bluestein;
// each as one line, as less and as more lines than a vector has lanes. Above 4096 lines are cut.
const int64_t kLengths[] = {1,    2,    3,    4,    5,    6,    7,     8,    11,  12,   13,
                            15,   16,   17,   30,   31,   47,   48,    53,   64,  77,   97,
                            100,  128,  210,  243,  256,  257,  343,   512,  625, 1000, 1009,
                            1024, 2209, 4096, 5000, 4099, 8192, 10007, 30030};

Tensor naive_dft(const Tensor& line) {
  const int64_t n = line.size(0);
  const Tensor k = arange(n, kLong);
  const Tensor turns = k.unsqueeze(1).mul(k).remainder(n).to(kDouble).mul(-2 * std::numbers::pi /
                                                                          static_cast<double>(n));
  return polar(ones_like(turns), turns).mul(line).sum({1});
}

TEST(Fft, IsTheSumThatDefinesIt) {
  manual_seed(1);
  for (const int64_t n : kLengths) {
    if (n > 650 && n != 1009) continue;
    const Tensor line = complex_noise({n});
    EXPECT_LT(relative_error(fft::fft(line), naive_dft(line)), 1e-13) << n;
  }
}

TEST(Fft, IsExactForEveryLength) {
  manual_seed(2);
  for (const int64_t n : kLengths)
    for (const int64_t lines : {1, 3, 20}) {
      if (lines * n > 25000 && lines > 1) continue;
      SCOPED_TRACE(::testing::Message() << n << " numbers, " << lines << " lines");
      const Tensor x = complex_noise({lines, n}), spectrum = fft::fft(x);
      // A single line takes another way than many.
      EXPECT_LT(relative_error(spectrum[lines - 1], fft::fft(x[lines - 1])), 1e-14);
      EXPECT_LT(relative_error(fft::ifft(spectrum), x), 4 * rounding(kDouble, n));
      const Tensor single = x.to(kComplexFloat);
      EXPECT_LT(relative_error(fft::fft(single), fft::fft(single.to(kComplexDouble))),
                3 * rounding(kFloat, n));
      const Tensor columns = fft::fft(x.t().contiguous(), {}, 0);
      EXPECT_LT(relative_error(columns, spectrum.t()), 1e-14);
    }
}

TEST(Fft, OfRealNumbersIsHalfOfTheComplexOne) {
  manual_seed(3);
  for (const int64_t n : kLengths)
    for (const auto& [before, behind] :
         {std::pair(1, 1), std::pair(9, 1), std::pair(2, 3), std::pair(2, 20)}) {
      if (before * n * behind > 25000 && before * behind > 1) continue;
      SCOPED_TRACE(::testing::Message() << before << " x " << n << " x " << behind);
      const Tensor x = randn({before, n, behind}, kDouble), half = fft::rfft(x, {}, 1);
      EXPECT_LT(relative_error(half, fft::fft(x, {}, 1).narrow(1, 0, n / 2 + 1)), 1e-14);
      EXPECT_LT(relative_error(fft::irfft(half, n, 1), x), 4 * rounding(kDouble, n));
      EXPECT_LT(relative_error(fft::hfft(fft::ihfft(x, {}, 1), n, 1), x), 4 * rounding(kDouble, n));
    }
}

TEST(Fft, KeepsEnergyAndSums) {
  manual_seed(4);
  const Tensor x = complex_noise({6, 7, 30}), y = complex_noise({6, 7, 30});
  const double energy = x.abs().square().sum().item<double>();
  EXPECT_NEAR(fft::fftn(x, {}, {}, "ortho").abs().square().sum().item<double>(), energy,
              1e-10 * energy);
  EXPECT_LT(relative_error(fft::fft2(x.mul(2).add(y)), fft::fft2(x).mul(2).add(fft::fft2(y))),
            1e-14);
  EXPECT_LT(relative_error(fft::ifftn(fft::fftn(x, {}, {}, "forward"), {}, {}, "forward"), x),
            1e-14);
  EXPECT_LT(relative_error(fft::irfftn(fft::rfftn(real(x)), {6, 7, 30}), real(x)), 1e-14);
  const int one = 1;  // of another type than a list's elements
  EXPECT_LT(relative_error(fft::fftn(x, {}, one), fft::fft(x, {}, 1)), 1e-14);
}

TEST(Fft, DoesNotDependOnThreads) {
  manual_seed(5);
  const int threads = get_num_threads();
  // Many lines, columns, a long line, a long prime line, and their real forms.
  const std::vector<std::function<Tensor()>> cases = {
      [x = complex_noise({200, 300})] { return fft::fft(x); },
      [x = complex_noise({3, 200, 90})] {
        return fft::fft2(x, {}, {1, 2});
      },
      [x = complex_noise({1 << 16})] { return fft::ifft(x); },
      [x = complex_noise({20011})] { return fft::fft(x); },
      [x = randn({1 << 16}, kDouble)] { return fft::rfft(x); },
      [x = complex_noise({(1 << 15) + 1})] { return fft::irfft(x); }};
  for (size_t i = 0; i < cases.size(); ++i) {
    set_num_threads(1);
    const Tensor one = cases[i]();
    set_num_threads(3);
    EXPECT_TRUE(one.equal(cases[i]())) << "case " << i;
  }
  set_num_threads(threads);
}

TEST(Fft, LinesDoNotTouchEachOther) {
  Tensor x = ones({20, 12}, kDouble);
  x[3].fill_(std::nan(""));
  x[4].mul_(1e-200);
  for (const Tensor& y : {fft::rfft(x).abs(), fft::fft(x).abs(), fft::irfft(x), fft::hfft(x)}) {
    const Tensor bad = y.isnan().any(1);
    EXPECT_EQ(bad.to(kLong).sum().item<int64_t>(), 1);
    EXPECT_TRUE(bad[3].item<bool>());
    EXPECT_NEAR(y[4][0].item<double>(), y[5][0].item<double>() * 1e-200, 1e-210);
  }
}

TEST(Fft, IgnoresImaginaryPartsThatRealNumbersCannotHave) {
  manual_seed(6);
  for (const int64_t n : {1, 2, 7, 8, 16, 4096, 10007, 16384}) {
    const Tensor x = complex_noise({2, n / 2 + 1});
    Tensor clean = x.clone();
    imag(clean).narrow(1, 0, 1).zero_();
    if (n % 2 == 0) imag(clean).narrow(1, n / 2, 1).zero_();
    EXPECT_TRUE(fft::irfft(x, n).equal(fft::irfft(clean, n))) << n;
    EXPECT_TRUE(fft::irfft(x.t(), n, 0).equal(fft::irfft(clean.t(), n, 0))) << n;
  }
}

TEST(Fft, OfRealNumbersIsFiniteWhereItsSumsAre) {
  const float big = 3e38f;
  const auto parts = [](const Tensor& x) { return values<float>(view_as_real(x).reshape({-1})); };
  using Floats = std::vector<float>;
  EXPECT_EQ(parts(fft::rfft(tensor({big, 0.0f}))), (Floats{big, 0, big, 0}));
  EXPECT_EQ(parts(fft::rfft(tensor({0.0f, -big}))), (Floats{-big, 0, big, 0}));
  const auto back = [](const std::vector<float>& x, fft::OptionalNorm norm) {
    return values<float>(fft::irfft(tensor(x).to(kComplexFloat), {}, -1, norm));
  };
  EXPECT_EQ(back({big, big}, {}), (Floats{big, 0}));
  EXPECT_EQ(back({big, 0}, "forward"), (Floats{big, big}));
  EXPECT_EQ(back({0, big, 0}, {}), (Floats{big / 2, 0, -big / 2, 0}));
}

TEST(Fft, PromotesAsPyTorchDoes) {
  EXPECT_EQ(fft::fft(arange(4)).dtype(), kComplexFloat);
  EXPECT_EQ(fft::rfft(ones({4}, kBool)).dtype(), kComplexFloat);
  EXPECT_EQ(fft::irfft(ones({4}, kLong)).dtype(), kFloat);
  EXPECT_EQ(fft::hfft(ones({4}, kDouble)).dtype(), kDouble);
  EXPECT_EQ(fft::fftshift(arange(5)).dtype(), kLong);
  EXPECT_EQ(fft::fftfreq(3).dtype(), kFloat);
  EXPECT_EQ(fft::fftn(full({}, 2.5)).item<std::complex<double>>(), 2.5);
  EXPECT_EQ(fft::fftn(ones({2, 2}), {}, IntArrayRef()).dtype(), kComplexFloat);
  const amp::autocast guard(kCPU);
  EXPECT_EQ(fft::fft(ones({4}, kBFloat16)).dtype(), kComplexFloat);
}

TEST(Fft, SaysWhatIsWrong) {
  const Tensor x = ones({4, 5}), z = x.to(kComplexFloat), number = ones({}), none = ones({3, 0});
  const auto points = [](const char* n) {
    return "Invalid number of data points (" + std::string(n) + ") specified";
  };
  EXPECT_EQ(error_of([&] { fft::fft(x, 0); }), points("0"));
  EXPECT_EQ(error_of([&] { fft::ifft(x, -3); }), points("-3"));
  EXPECT_EQ(error_of([&] { fft::fft(none); }), points("0"));
  EXPECT_EQ(error_of([&] { fft::rfft(none); }), points("0"));
  EXPECT_EQ(error_of([&] { fft::irfft(none); }), points("-2"));
  EXPECT_EQ(error_of([&] { fft::hfft(ones({3, 1})); }), points("0"));
  EXPECT_EQ(error_of([&] { fft::fftn(x, {3, 0}); }), points("0"));
  EXPECT_EQ(error_of([&] { fft::fftn(x, {3, -2}); }), points("-2"));
  EXPECT_EQ(error_of([&] { fft::irfftn(ones({3, 1})); }), points("0"));
  EXPECT_EQ(error_of([&] { fft::fft(x, {}, -1, "abc"); }), "Invalid normalization mode: \"abc\"");
  EXPECT_EQ(error_of([&] { fft::fft(x.to(kHalf)); }), "Unsupported dtype Half");
  EXPECT_EQ(error_of([&] { fft::rfft(x.to(kBFloat16)); }), "Unsupported dtype BFloat16");
  EXPECT_EQ(error_of([&] { fft::rfft(z); }),
            "rfft expects a real input tensor, but got ComplexFloat");
  EXPECT_EQ(error_of([&] { fft::ihfft(z); }),
            "ihfft expects a real input tensor, but got ComplexFloat");
  EXPECT_EQ(error_of([&] { fft::rfft2(z); }),
            "rfftn expects a real-valued input tensor, but got ComplexFloat");
  EXPECT_EQ(error_of([&] { fft::fft(x, {}, 2); }),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  EXPECT_EQ(error_of([&] { fft::fft2(ones({4})); }),
            "Dimension out of range (expected to be in range of [-1, 0], but got -2)");
  EXPECT_EQ(error_of([&] { fft::fft(number); }),
            "Dimension specified as -1 but tensor has no dimensions");
  EXPECT_EQ(error_of([&] { fft::fftn(x, {}, {0, -2}); }), "FFT dims must be unique");
  EXPECT_EQ(error_of([&] {
              fft::fftn(x, {3}, {0, 1});
            }),
            "When given, dim and shape arguments must have the same length");
  EXPECT_EQ(error_of([&] {
              fft::fftn(x, {3, 3, 3});
            }),
            "Got shape with 3 values but input tensor only has 2 dimensions.");
  EXPECT_EQ(error_of([&] { fft::rfftn(number); }), "rfftn must transform at least one axis");
  EXPECT_EQ(error_of([&] { fft::irfftn(number); }), "irfftn must transform at least one axis");
  EXPECT_EQ(error_of([&] { fft::fftfreq(3, 1, kLong); }),
            "fftfreq requires a floating point or complex dtype");
  EXPECT_EQ(error_of([&] { fft::fftfreq(-1); }),
            "Trying to create tensor with negative dimension -1: [-1]");
  EXPECT_EQ(error_of([&] { fft::fftshift(number); }), "`shifts` required");
}

// ---- complex gradients ----

using Fn = std::function<Tensor(const Tensor&)>;

void check_complex_gradients(const Fn& fn, const Tensor& x) {
  const auto list = [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{fn(in[0])}; };
  const Tensor leaf = x.detach().clone().requires_grad_();
  EXPECT_NO_THROW(gradcheck(list, {leaf}));
  EXPECT_NO_THROW(gradgradcheck(list, {leaf}));
}

TEST(ComplexGradients, OfViewsAndParts) {
  manual_seed(7);
  const Tensor z = complex_noise({3, 2}), x = randn({3, 2}, kDouble);
  check_complex_gradients([](const Tensor& t) { return view_as_real(t); }, z);
  check_complex_gradients([](const Tensor& t) { return view_as_complex(t); }, x);
  check_complex_gradients([](const Tensor& t) { return real(t); }, z);
  check_complex_gradients([](const Tensor& t) { return imag(t); }, z);
  check_complex_gradients([](const Tensor& t) { return conj(t); }, z);
  check_complex_gradients([](const Tensor& t) { return abs(t); }, z);
  check_complex_gradients([](const Tensor& t) { return angle(t); }, z);
  check_complex_gradients([x](const Tensor& t) { return make_complex(t, x); }, x);
  check_complex_gradients([x](const Tensor& t) { return polar(t, x); }, x);
  check_complex_gradients([x](const Tensor& t) { return polar(x, t); }, x);
}

TEST(ComplexGradients, OfArithmetic) {
  manual_seed(8);
  const Tensor z = complex_noise({3}), w = complex_noise({3}), x = randn({3}, kDouble);
  check_complex_gradients([w](const Tensor& t) { return t.mul(w); }, x);  // a real factor
  check_complex_gradients([x](const Tensor& t) { return t.mul(x).add(t.conj()); }, z);
  check_complex_gradients([w](const Tensor& t) { return w.div(t); }, z);
  check_complex_gradients([](const Tensor& t) { return t.exp().sum(); }, z);
  check_complex_gradients([](const Tensor& t) { return t.to(kComplexDouble); }, x);
}

TEST(ComplexGradients, OfComplexLeavesThroughTransforms) {
  manual_seed(9);
  const Tensor z = complex_noise({2, 5});
  check_complex_gradients([](const Tensor& t) { return fft::fft(t, 6); }, z);
  check_complex_gradients([](const Tensor& t) { return fft::ifft2(t, {3, 4}); }, z);
  check_complex_gradients([](const Tensor& t) { return fft::irfft(t, 7); }, z);
  check_complex_gradients([](const Tensor& t) { return fft::irfftn(t).square().mean(); }, z);
}

/// Complex weights between two transforms, as in a Fourier neural operator.
TEST(ComplexGradients, OfASpectralLayer) {
  manual_seed(12);
  const Tensor x = randn({2, 3, 6}, kDouble).requires_grad_();
  const Tensor w = complex_noise({3, 2, 4}).requires_grad_();
  const auto layer = [](const std::vector<Tensor>& in) {
    const Tensor mixed = einsum("bix,iox->box", {fft::rfft(in[0]), in[1]});
    return std::vector<Tensor>{fft::irfft(mixed, 6)};
  };
  EXPECT_NO_THROW(gradcheck(layer, {x, w}));
  EXPECT_NO_THROW(gradgradcheck(layer, {x, w}));
}

TEST(ComplexGradients, OfAbsAndAngleAreZeroAtZero) {
  const Tensor z = zeros({2}, kComplexDouble).requires_grad_();
  z.abs().add(angle(z)).sum().backward();
  EXPECT_TRUE(z.grad().equal(zeros({2}, kComplexDouble)));
}

// ---- short-time transforms ----

TEST(Stft, ComesBack) {
  manual_seed(10);
  const Tensor x = randn({2, 1000}, kDouble), window = hann_window(100, true, kDouble);
  for (const char* mode : {"reflect", "constant", "replicate", "circular"}) {
    const Tensor s = stft(x, 128, 32, 100, window, true, mode, true, {}, true);
    EXPECT_EQ(s.sizes().vec(), (std::vector<int64_t>{2, 65, 32}));
    const Tensor y = istft(s, 128, 32, 100, window, true, true, {}, 1000);
    testing::expect_same(y.narrow(1, 0, 990), x.narrow(1, 0, 990), 1e-12);
  }
  const Tensor whole = stft(x[0], 64, 16, {}, {}, true, "reflect", false, false, true);
  EXPECT_EQ(whole.sizes().vec(), (std::vector<int64_t>{64, 63}));
  testing::expect_same(istft(whole, 64, 16), x[0].narrow(0, 0, 992), 1e-12);
  const Tensor same = istft(whole, 64, 16, {}, {}, true, false, false, {}, true);
  EXPECT_EQ(same.dtype(), kComplexDouble);
  testing::expect_same(real(same), x[0].narrow(0, 0, 992), 1e-12);
}

TEST(Stft, TakesComplexSignalsAndOldForms) {
  manual_seed(11);
  const Tensor x = randn({100}, kDouble), z = complex_noise({100});
  EXPECT_EQ(stft(z, 16).sizes().vec(), (std::vector<int64_t>{16, 26}));
  EXPECT_EQ(stft(x, 16, {}, {}, ones({16}, kComplexDouble)).size(0), 16);
  const Tensor pairs = stft(x, 16, {}, {}, {}, true, "reflect", false, {}, false);
  EXPECT_EQ(pairs.sizes().vec(), (std::vector<int64_t>{9, 26, 2}));
  // libtorch's order: `normalized` follows the window, and nothing is centred.
  const Tensor old = stft(x, 16, 4, 16, Tensor(), false, true, true);
  testing::expect_same(view_as_real(old), pairs.narrow(1, 2, 22), 1e-13);
  // Samples behind the last frame are zero where a longer signal is asked for.
  const Tensor longer = istft(view_as_complex(pairs), 16, {}, {}, {}, true, false, {}, 130);
  testing::expect_same(longer.narrow(0, 0, 100), x, 1e-12);
  EXPECT_EQ(longer.narrow(0, 108, 22).abs().sum().item<double>(), 0);
}

TEST(Stft, SaysWhatIsWrong) {
  const Tensor x = ones({2, 100}), z = x.to(kComplexFloat);
  const auto with = [&](int64_t n_fft, OptionalDim hop, OptionalDim win, const Tensor& window,
                        bool center = true, const char* mode = "reflect") {
    return error_of([&] { stft(x, n_fft, hop, win, window, center, mode, false, {}, true); });
  };
  EXPECT_THAT(error_of([&] { stft(x, 16); }),
              HasSubstr("stft requires the return_complex parameter be given for real inputs"));
  EXPECT_EQ(with(0, {}, {}, {}),
            "stft(torch.FloatTensor[2, 100], n_fft=0, hop_length=0, win_length=0, window=None, "
            "normalized=0, onesided=None) : expected 0 < n_fft < 100, but got n_fft=0");
  EXPECT_THAT(with(300, {}, {}, {}, false),
              HasSubstr("expected 0 < n_fft < 100, but got n_fft=300"));
  EXPECT_EQ(with(300, {}, {}, {}),
            "Argument #4: Padding size should be less than the corresponding input dimension, but "
            "got: padding (150, 150) at dimension 1 of input [2, 100]");
  EXPECT_THAT(with(16, 0, {}, {}), HasSubstr("expected hop_length > 0, but got hop_length=0"));
  EXPECT_THAT(with(16, {}, 17, {}),
              HasSubstr("expected 0 < win_length <= n_fft, but got win_length=17"));
  EXPECT_THAT(with(16, {}, {}, ones({15})),
              HasSubstr("window=torch.FloatTensor{[15]}, normalized=0, onesided=None) : expected a "
                        "1D window tensor of size equal to win_length=16, but got window with size "
                        "[15]"));
  EXPECT_EQ(with(16, {}, {}, {}, true, "abc"), "Unrecognised padding mode abc");
  EXPECT_EQ(with(300, {}, {}, {}, true, "circular"),
            "Padding value causes wrapping around more than once.");
  EXPECT_EQ(error_of([&] { stft(ones({0}), 2, 1, {}, {}, true, "replicate", false, {}, true); }),
            "Expected a non-empty input to pad, but got [0]");
  EXPECT_THAT(error_of([&] {
                stft(ones({2, 3, 9}), 4, 1, {}, {}, true, "reflect", false, {}, true);
              }),
              HasSubstr("expected a 1D or 2D tensor"));
  EXPECT_THAT(error_of([&] { stft(arange(9), 4, 1, {}, {}, false, "reflect", false, {}, true); }),
              HasSubstr("expected a tensor of floating point or complex values"));
  EXPECT_EQ(error_of([&] { stft(z, 16, {}, {}, {}, true, "reflect", false, true); }),
            "Cannot have onesided output if window or input is complex");
}

TEST(Istft, SaysWhatIsWrong) {
  const Tensor s = ones({2, 9, 26}, kComplexFloat);
  EXPECT_THAT(error_of([&] {
                istft(ones({2, 9, 26}), 16);
              }),
              HasSubstr("istft requires a complex-valued input tensor"));
  EXPECT_THAT(error_of([&] { istft(s[0][0], 16); }),
              HasSubstr(" : expected a tensor with 2 or 3 dimensions, but got 1"));
  EXPECT_THAT(error_of([&] { istft(s.narrow(2, 0, 0), 16); }),
              HasSubstr(" : input tensor cannot be empty."));
  EXPECT_THAT(error_of([&] { istft(s, 18); }),
              HasSubstr("to match n_fft / 2 + 1 when onesided=True, but got 9"));
  EXPECT_THAT(error_of([&] { istft(s, 16, {}, {}, {}, true, false, false); }),
              HasSubstr("to match n_fft when onesided=False, but got 9"));
  EXPECT_THAT(error_of([&] { istft(s, 16, 20); }),
              HasSubstr(" : expected 0 < hop_length <= win_length"));
  EXPECT_THAT(error_of([&] { istft(s, 16, 4, 17); }),
              HasSubstr(" : expected 0 < win_length <= n_fft"));
  EXPECT_THAT(error_of([&] { istft(s, 16, {}, {}, ones({15})); }),
              HasSubstr("Invalid window shape. window has to be 1D and length of `win_length`"));
  EXPECT_THAT(error_of([&] { istft(s, 16, {}, {}, zeros({16})); }),
              HasSubstr("window overlap add min: 1"));
  EXPECT_EQ(error_of([&] { istft(s, 16, {}, {}, {}, true, false, {}, {}, true); }),
            "Cannot have onesided output if window or input is complex");
  EXPECT_EQ(error_of([&] { istft(s, 16, {}, {}, ones({16}, kComplexFloat)); }),
            "Complex windows are incompatible with return_complex=False");
}

TEST(Windows, SayWhatIsWrong) {
  EXPECT_EQ(error_of([] { hann_window(-1); }),
            "hann_window requires non-negative window_length, got window_length=-1");
  EXPECT_EQ(error_of([] { bartlett_window(3, true, kLong); }),
            "bartlett_window expects floating point dtypes, got: Long");
  EXPECT_EQ(blackman_window(0).sizes().vec(), std::vector<int64_t>{0});
  EXPECT_EQ(hamming_window(1).item<float>(), 1);
}

}  // namespace
}  // namespace taeda
