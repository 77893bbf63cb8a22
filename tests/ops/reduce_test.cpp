#include "taeda/ops/reduce/reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "taeda/autograd/node.h"
#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"
#include "taeda/ops/create/create.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::floats;

/// 0, 1, 2, ... modulo `wrap`, so that sums are exact.
Tensor ramp(IntArrayRef sizes, ScalarType dtype = kFloat, int64_t wrap = 97) {
  Tensor t = empty(sizes, kDouble);
  for (int64_t i = 0; i < t.numel(); ++i) t.data_ptr<double>()[i] = static_cast<double>(i % wrap);
  return t.to(dtype);
}

std::vector<double> doubles(const Tensor& t) {
  const Tensor d = t.to(kDouble).contiguous();
  const double* p = d.data_ptr<double>();
  return {p, p + d.numel()};
}

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "no exception of this type";
}

/// Sums by index arithmetic, over any strides.
std::vector<double> reference_sum(const Tensor& t, std::vector<bool> reduced) {
  const Tensor d = t.to(kDouble).contiguous();
  std::vector<double> out;
  std::vector<int64_t> stride(reduced.size());
  int64_t n = 1;
  for (size_t k = reduced.size(); k-- > 0;)
    if (!reduced[k]) stride[k] = n, n *= t.size(static_cast<int64_t>(k));
  out.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < d.numel(); ++i) {
    int64_t rest = i, at = 0;
    for (size_t k = reduced.size(); k-- > 0;) {
      const int64_t size = t.size(static_cast<int64_t>(k));
      at += rest % size * stride[k];
      rest /= size;
    }
    out[static_cast<size_t>(at)] += d.data_ptr<double>()[i];
  }
  return out;
}

TEST(Sum, AllElementsOfEveryDtype) {
  for (const ScalarType t :
       {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte}) {
    const Tensor s = ramp({3, 5}, t).sum();
    EXPECT_EQ(s.dtype(), is_floating_point(t) ? t : kLong);
    EXPECT_EQ(s.dim(), 0);
    EXPECT_EQ(s.item<double>(), 105) << t;
  }
  EXPECT_EQ(ones({4, 7}, kBool).sum().item<int64_t>(), 28);
  EXPECT_EQ(ramp({10}, kInt).sum(kInt).dtype(), kInt);
  EXPECT_EQ(ramp({10}, kInt).sum(kFloat).dtype(), kFloat);
}

TEST(Sum, EveryShapePathAgreesWithIndexArithmetic) {
  const std::vector<std::vector<int64_t>> shapes = {
      {7, 1000},  {1000, 7},      {130, 300}, {3, 5, 70}, {2, 70000},
      {70000, 2}, {4, 6, 12, 12}, {300, 3},   {1, 9},     {64, 33}};
  for (const auto& shape : shapes) {
    for (const ScalarType dtype : {kFloat, kBFloat16, kInt}) {
      const Tensor base = ramp(shape, dtype, dtype == kBFloat16 ? 2 : 97);
      std::vector<Tensor> variants = {base, base.transpose(0, 1)};
      if (shape[0] > 3) variants.push_back(base.slice(0, 1, shape[0], 2));
      for (const Tensor& t : variants) {
        for (int64_t mask = 1; mask < (int64_t{1} << t.dim()); ++mask) {
          std::vector<int64_t> dims;
          std::vector<bool> reduced;
          for (int64_t d = 0; d < t.dim(); ++d) {
            reduced.push_back(mask >> d & 1);
            if (reduced.back()) dims.push_back(d);
          }
          const Tensor s = dtype == kBFloat16 ? t.to(kFloat).sum(dims) : t.sum(dims);
          EXPECT_EQ(doubles(s), reference_sum(t, reduced))
              << t.sizes() << ' ' << mask << ' ' << dtype;
        }
      }
    }
  }
}

TEST(Sum, KeepsDimensionsAndTakesNegativeOnes) {
  const Tensor x = ramp({2, 3, 4});
  EXPECT_EQ(x.sum({0, -1}, true).sizes().vec(), (std::vector<int64_t>{1, 3, 1}));
  EXPECT_EQ(x.sum(-1).sizes().vec(), (std::vector<int64_t>{2, 3}));
  EXPECT_THAT(doubles(x.sum({0, -1})), ElementsAre(60, 92, 124));
  EXPECT_EQ(x.sum(IntArrayRef()).dim(), 0);
}

TEST(Sum, OfNothingIsZero) {
  EXPECT_EQ(empty({0}).sum().item<float>(), 0);
  EXPECT_THAT(doubles(empty({0, 3}).sum(0)), ElementsAre(0, 0, 0));
  EXPECT_EQ(empty({0, 3}).sum(1).numel(), 0);
  EXPECT_TRUE(std::isnan(empty({0}).mean().item<float>()));
}

TEST(Sum, DoesNotDependOnTheNumberOfThreads) {
  const int before = get_num_threads();
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{1000003}, {2000, 517}, {3, 400001}}) {
    Tensor x = taeda::empty(shape);
    for (int64_t i = 0; i < x.numel(); ++i)
      x.data_ptr<float>()[i] = std::sin(static_cast<float>(i)) * static_cast<float>(1 + i % 1000);
    set_num_threads(1);
    const auto all = doubles(x.sum()), first = doubles(x.sum(0));
    for (const int threads : {2, 3}) {
      set_num_threads(threads);
      EXPECT_EQ(doubles(x.sum()), all);
      EXPECT_EQ(doubles(x.sum(0)), first);
    }
  }
  set_num_threads(before);
}

TEST(Sum, KeepsPrecisionOverManyElements) {
  const Tensor x = full({1 << 24}, 0.1f);
  EXPECT_NEAR(x.sum().item<double>(), double(0.1f) * (1 << 24), 1.0);
  EXPECT_NEAR(x.view({1 << 20, 16}).sum(0).slice(0, 3, 4).item<double>(), double(0.1f) * (1 << 20),
              0.06);
}

TEST(Sum, RejectsWrongDimensions) {
  const Tensor x = ramp({2, 3});
  EXPECT_EQ(message_of<IndexError>([&] { x.sum(2); }),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  EXPECT_EQ(message_of<Error>([&] {
              x.sum({1, -1});
            }),
            "dim 1 appears multiple times in the list of dims");
}

TEST(Sum, GradientIsSpreadOverTheInput) {
  const Tensor x = ramp({2, 3}).requires_grad_();
  const Tensor y = x.sum(0);
  EXPECT_STREQ(y.grad_fn()->name(), "SumBackward1");
  y.backward(ramp({3}));
  EXPECT_THAT(doubles(x.grad()), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_STREQ(x.sum().grad_fn()->name(), "SumBackward0");
}

TEST(SumToSize, UndoesBroadcasting) {
  const Tensor x = ramp({2, 3, 4});
  EXPECT_THAT(doubles(x.sum_to_size({3, 1})), ElementsAre(60, 92, 124));
  EXPECT_EQ(x.sum_to_size({1, 3, 1}).sizes().vec(), (std::vector<int64_t>{1, 3, 1}));
  EXPECT_TRUE(x.sum_to_size({2, 3, 4}).is_same(x));
  EXPECT_EQ(message_of<Error>([&] {
              x.sum_to_size({2, 2});
            }),
            "size {[2, 2]} is not expandable to size {[2, 3, 4]}.");
}

TEST(Mean, DividesByTheNumberOfElements) {
  const Tensor x = ramp({2, 3});
  EXPECT_EQ(x.mean().item<float>(), 2.5f);
  EXPECT_THAT(doubles(x.mean(0)), ElementsAre(1.5, 2.5, 3.5));
  EXPECT_EQ(ramp({4}, kInt).mean(kFloat).item<float>(), 1.5f);
  EXPECT_EQ(full({70000}, 2, kHalf).mean().item<float>(), 2.0f) << "the sum does not fit a half";
}

TEST(Sum, EveryLengthOfARow) {  // whole vectors four by four, one by one, and what is left
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kByte})
    for (int64_t n = 1; n <= 150; n += n < 70 ? 1 : 7) {
      const Tensor x = ramp({3, n}, dtype, 3);  // sums that every dtype can hold
      EXPECT_EQ(doubles(x.sum(1)), reference_sum(x, {false, true})) << dtype << n;
      EXPECT_EQ(doubles(x.amax(1))[0], std::min<int64_t>(n - 1, 2)) << dtype << n;
      EXPECT_EQ(doubles(x.amin(1))[0], 0) << dtype << n;
    }
}

/// Rows and columns of a register, less and more, whose every place is the largest, the smallest
/// and the NaN once.
TEST(Amax, OfShortRowsAndOfColumns) {
  for (const int64_t width : {1, 3, 8, 16, 17, 40, 64, 100})
    for (const int64_t at : {int64_t{0}, width / 2, width - 1}) {
      Tensor x = zeros({6, width});
      x.select(0, 1).select(0, at).fill_(2);
      x.select(0, 2).select(0, at).fill_(-2);
      x.select(0, 4).select(0, at).fill_(std::nanf(""));
      for (const Tensor& y : {x, x.t().contiguous().t()}) {
        const std::vector<float> most = floats(y.amax(1)), least = floats(y.amin(1)),
                                 down = floats(y.amax(0)), part = floats(y.narrow(0, 0, 4).amin(0));
        for (size_t i = 0; i < 6; ++i) {
          if (i == 4) continue;
          EXPECT_EQ(most[i], i == 1 ? 2 : i == 2 && width == 1 ? -2 : 0) << width << " " << at;
          EXPECT_EQ(least[i], i == 2 ? -2 : i == 1 && width == 1 ? 2 : 0) << width << " " << at;
        }
        EXPECT_TRUE(std::isnan(most[4]) && std::isnan(least[4])) << width << " " << at;
        for (int64_t i = 0; i < width; ++i) {
          const auto k = static_cast<size_t>(i);
          EXPECT_EQ(std::isnan(down[k]), i == at);
          EXPECT_EQ(part[k], i == at ? -2 : 0);
        }
      }
    }
}

TEST(Amax, ANaNIsFoundWhereverItIs) {
  for (int64_t at = 0; at < 150; ++at) {
    Tensor x = ramp({150});
    x.data_ptr<float>()[at] = std::nanf("");
    EXPECT_TRUE(std::isnan(x.amax().item<float>())) << at;
    EXPECT_TRUE(std::isnan(x.amin().item<float>())) << at;
  }
}

TEST(Mean, RejectsIntegers) {
  EXPECT_EQ(message_of<Error>([] { ramp({2}, kLong).mean(); }),
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            "complex dtype. "
            "Got: Long");
  EXPECT_THAT(message_of<Error>([] { ramp({2}).mean(kInt); }), HasSubstr("Optional dtype must be"));
}

TEST(Var, RoundsOnce) {
  EXPECT_FLOAT_EQ(tensor({1e38F, -1e38F}).std().item<float>(), 1.4142136e38F);
  EXPECT_TRUE(std::isinf(tensor({1e38F, -1e38F}).var().item<float>()));
  const Tensor x = arange(50, kFloat).mul(0.1).add(1e6), exact = x.to(kDouble);
  EXPECT_FLOAT_EQ(x.var().item<float>(), exact.var().to(kFloat).item<float>());
  EXPECT_FLOAT_EQ(std::get<0>(std_mean(x)).item<float>(), exact.std().to(kFloat).item<float>());
  // Along rows, columns and both, in every dtype: PyTorch's definition in double.
  for (const ScalarType dtype : {kFloat, kHalf, kBFloat16, kDouble})
    for (const int64_t n : {3, 70, 1000}) {
      const Tensor t = ramp({n, 33}).add(200).to(dtype), d = t.to(kDouble);
      for (const Tensor& view : {t, t.t()})
        for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0}, {1}, {0, 1}}) {
          const Tensor wide = view.to(kDouble), centred = wide.sub(wide.mean(dims, true));
          const double count = static_cast<double>(wide.numel() / wide.sum(dims).numel());
          const Tensor want = centred.square().sum(dims).div(count - 1);
          EXPECT_TRUE(view.var(dims).allclose(want.to(dtype), 1e-6, 0));
          EXPECT_TRUE(view.std(dims).allclose(want.sqrt().to(dtype), 1e-6, 0));
        }
    }
}

TEST(Reductions, ANumberIsItsOwnSumOverDimensionZero) {
  for (const ScalarType dtype : {kFloat, kComplexFloat, kComplexDouble})
    for (const int64_t dim : {0, -1}) {
      const Tensor z =
          is_complex(dtype) ? full({}, std::complex<double>(1.5, -1), dtype) : full({}, 1.5, dtype);
      EXPECT_TRUE(z.sum({dim}).equal(z));
      EXPECT_TRUE(z.mean({dim}).equal(z));
      EXPECT_TRUE(z.mean({dim}, true).equal(z));
      EXPECT_TRUE(std::get<1>(std_mean(z, {dim}, false)).equal(z));
      EXPECT_TRUE(z.prod(dim).equal(z));
      EXPECT_TRUE(logsumexp(z, {dim}).sub(z).abs().lt(1e-6).item<bool>());
    }
}

}  // namespace
}  // namespace taeda
