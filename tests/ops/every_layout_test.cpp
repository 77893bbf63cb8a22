// Operations on every layout that a tensor comes in give the bits that they give on contiguous
// memory, for any number of threads: sizes are such that kernels take their ways for rows, squares
// and edges.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "taeda/base/parallel_for.h"
#include "taeda/taeda.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"
#include "tests/values.h"

namespace taeda {
namespace {

struct NamedLayout {
  const char* name;
  Tensor x;
};

/// Matrices of a size, in every layout; some with gaps behind each row.
std::vector<NamedLayout> matrix_layouts(int64_t rows, int64_t columns, ScalarType dtype) {
  const auto draw = [&](int64_t r, int64_t c) { return (rand({r, c}) * 8 - 3).to(dtype); };
  return {
      {"transposed", draw(columns, rows).t()},
      {"part", draw(rows, columns + 5).narrow(1, 2, columns)},
      {"part of transposed", draw(columns, rows + 3).t().narrow(0, 1, rows)},
      {"stepped", draw(rows, 2 * columns).slice(1, 0, 2 * columns, 2)},
      {"third ones", draw(rows, 3 * columns).slice(1, 0, 3 * columns, 3)},
      {"one row", draw(1, columns).expand({rows, columns})},
      {"one column", draw(rows, 1).expand({rows, columns})},
      {"rows from a cube", draw(2 * rows, columns).view({rows, 2, columns}).select(1, 1)},
      {"planes", draw(columns, 2 * rows).view({columns, rows, 2}).permute({1, 0, 2}).select(2, 1)}};
}

using OfTwo = std::function<Tensor(const Tensor&, const Tensor&)>;
struct NamedOperation {
  const char* name;
  OfTwo run;  ///< x in some layout, y contiguous
};

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const Tensor p = a.contiguous(), q = b.contiguous();
  return p.numel() == 0 ||
         std::memcmp(p.data_ptr(), q.data_ptr(), static_cast<size_t>(p.nbytes())) == 0;
}

void expect_same_everywhere(const NamedOperation& op, int64_t rows, int64_t columns,
                            ScalarType dtype) {
  const Tensor y = (rand({rows, columns}) * 4 + 1).to(dtype);
  for (const NamedLayout& l : matrix_layouts(rows, columns, dtype)) {
    const Tensor want = op.run(l.x.contiguous(), y);
    for (const int threads : {1, 3}) {
      const NumThreadsGuard guard(threads);
      EXPECT_TRUE(same_bits(op.run(l.x, y), want))
          << op.name << " of " << l.name << " " << rows << "x" << columns << " " << dtype
          << " with " << threads << " threads";
    }
  }
}

const std::pair<int64_t, int64_t> kSizes[] = {{3, 5}, {9, 30}, {33, 130}, {70, 300}};

TEST(EveryLayout, PointwiseOperations) {
  manual_seed(1);
  const NamedOperation operations[] = {
      {"add", [](const Tensor& x, const Tensor& y) { return x + y; }},
      {"subtract", [](const Tensor& x, const Tensor& y) { return x - y; }},
      {"subtract from", [](const Tensor& x, const Tensor& y) { return y - x; }},
      {"divide", [](const Tensor& x, const Tensor& y) { return x / y; }},
      {"divide by", [](const Tensor& x, const Tensor& y) { return y / x; }},
      {"maximum", [](const Tensor& x, const Tensor& y) { return maximum(y, x); }},
      {"add a part",
       [](const Tensor& x, const Tensor& y) {
         return y.add(x, y.is_floating_point() ? Scalar(0.3) : Scalar(3));
       }},
      {"relu", [](const Tensor& x, const Tensor&) { return relu(x); }},
      {"where", [](const Tensor& x, const Tensor& y) { return where(x > 0, y, x); }},
      {"compare", [](const Tensor& x, const Tensor& y) { return x < y; }},
      {"three", [](const Tensor& x, const Tensor& y) { return addcmul(y, x, x); }},
      {"in place", [](const Tensor& x, const Tensor& y) { return y.clone().mul_(x); }},
      {"into a part",
       [](const Tensor& x, const Tensor& y) {
         Tensor wide = zeros({y.size(0), y.size(1) + 3}, y.dtype());
         wide.narrow(1, 1, y.size(1)).copy_(y).add_(x);
         return wide;
       }},
      {"number", [](const Tensor& x, const Tensor& y) { return clamp(x, 0, 2) * 3 + y; }},
      {"masked_fill", [](const Tensor& x, const Tensor& y) { return x.masked_fill(y > 3, 1); }}};
  for (const auto& [rows, columns] : kSizes)
    for (const ScalarType dtype : {kFloat, kBFloat16, kDouble, kByte})
      for (const NamedOperation& op : operations) {
        if (dtype == kByte && std::string(op.name) == "three") continue;
        expect_same_everywhere(op, rows, columns, dtype);
      }
}

TEST(EveryLayout, RowsThatRepeat) {
  manual_seed(2);
  for (const int64_t width : {1, 3, 50, 64, 600})
    for (const ScalarType dtype : {kFloat, kBFloat16, kDouble}) {
      const Tensor x = rand({40, 9, width}).to(dtype), bias = rand({width}).to(dtype);
      const Tensor want = x + bias.expand({40, 9, width}).contiguous();
      for (const int threads : {1, 3}) {
        const NumThreadsGuard guard(threads);
        EXPECT_TRUE(same_bits(x + bias, want)) << width << " " << dtype;
      }
      const Tensor images = rand({4, width, 7, 9}).to(dtype).contiguous(MemoryFormat::ChannelsLast);
      const Tensor sum = images + bias.view({1, width, 1, 1});
      EXPECT_EQ(sum.strides(), images.strides());
      EXPECT_TRUE(same_bits(
          sum, images.contiguous() + bias.view({1, width, 1, 1}).expand_as(images).contiguous()));
    }
}

TEST(EveryLayout, LargeResultsPastTheCaches) {
  const Tensor x = rand({1100, 4100}), row = rand({4100}), other = rand({4100, 1100});
  const Tensor row_sum = x + row, transposed_sum = x + other.t();
  EXPECT_TRUE(same_bits(row_sum.select(0, 1099), x.select(0, 1099) + row));
  EXPECT_TRUE(same_bits(row_sum.select(0, 0), x.select(0, 0) + row));
  EXPECT_TRUE(same_bits(transposed_sum, x + other.t().contiguous()));
}

TEST(EveryLayout, AlongDimensions) {
  manual_seed(3);
  const NamedOperation operations[] = {
      {"maximum", [](const Tensor& x, const Tensor&) { return x.amax(1); }},
      {"cat 0",
       [](const Tensor& x, const Tensor& y) {
         return cat({x, y, x}, 0);
       }},
      {"cat 1",
       [](const Tensor& x, const Tensor& y) {
         return cat({y, x}, 1);
       }},
      {"flip", [](const Tensor& x, const Tensor&) { return flip(x, {1}); }},
      {"contiguous",
       [](const Tensor& x, const Tensor&) { return x.clone(MemoryFormat::Contiguous); }},
      {"index_select",
       [](const Tensor& x, const Tensor&) {
         return x.index_select(0, tensor({2, 0, 1, 2, 2}, kLong));
       }},
      {"gather along rows",
       [](const Tensor& x, const Tensor& y) {
         return x.gather(1, (y.to(kFloat).abs() * 7).to(kLong).remainder(x.size(1)));
       }},
      {"gather along columns",
       [](const Tensor& x, const Tensor& y) {
         return x.gather(0, (y.to(kFloat).abs() * 7).to(kLong).remainder(x.size(0)));
       }},
      {"scatter_add", [](const Tensor& x, const Tensor& y) {
         return y.scatter_add(1, (y.to(kFloat).abs() * 7).to(kLong).remainder(y.size(1)), x);
       }}};
  for (const auto& [rows, columns] : kSizes)
    for (const ScalarType dtype : {kFloat, kBFloat16})
      for (const NamedOperation& op : operations) expect_same_everywhere(op, rows, columns, dtype);
}

TEST(EveryLayout, SumsDoNotDependOnTheNumberOfThreads) {
  manual_seed(5);
  for (const NamedLayout& l : matrix_layouts(70, 1030, kFloat))
    for (const int64_t dim : {0, 1}) {
      const Tensor exact = l.x.to(kDouble).contiguous().sum(dim), want = l.x.sum(dim);
      EXPECT_LE((want.to(kDouble) - exact).abs().max().item<double>(), 1e-2)
          << l.name << " " << dim;
      const NumThreadsGuard guard(3);
      EXPECT_TRUE(same_bits(l.x.sum(dim), want)) << l.name << " " << dim;
    }
}

TEST(EveryLayout, FewColumns) {
  manual_seed(6);
  for (const int64_t width : {1, 2, 3, 5, 8, 15, 16, 17})
    for (const int64_t rows : {1, 7, 63, 64, 257, 6001})
      for (const ScalarType dtype : {kFloat, kHalf, kDouble, kLong}) {
        const Tensor x = (rand({rows, width}) * 8 - 3).to(dtype), lines = x.t().contiguous();
        const auto expect_near = [&](const char* name, const Tensor& got, const Tensor& want) {
          EXPECT_TRUE(
              allclose(got.to(kDouble), want.to(kDouble), dtype == kHalf ? 2e-3 : 1e-5, 1e-3))
              << name << " of " << rows << "x" << width << " " << dtype;
        };
        expect_near("sum", x.sum(0), lines.to(kDouble).sum(1));
        EXPECT_TRUE(same_bits(x.amax(0), lines.amax(1))) << rows << "x" << width << " " << dtype;
        if (dtype == kLong) {
          EXPECT_TRUE(same_bits(x.sum(0), lines.sum(1)));
        }
        if (dtype != kLong && rows > 1) expect_near("var", x.var(0), lines.var(1));
        const Tensor want = x.sum(0);
        const NumThreadsGuard guard(3);
        EXPECT_TRUE(same_bits(x.sum(0), want)) << rows << "x" << width << " " << dtype;
      }
}

TEST(EveryLayout, GatherNamesAnIndexThatIsNotThere) {
  const Tensor x = rand({3, 40}), index = zeros({3, 40}, kLong);
  index.select(0, 2).select(0, 39).fill_(40);
  EXPECT_NE(error_of([&] {
              x.gather(1, index);
            }).find("index 40 is out of bounds for dimension 1 with size 40"),
            std::string::npos);
  index.select(0, 2).select(0, 39).fill_(-1);
  EXPECT_NE(error_of([&] { x.gather(1, index); }).find("index -1 is out of bounds"),
            std::string::npos);
}

/// Of numbers of many sizes; the factors are about the quotients.
template <class T>
void expect_remainders_of_c(ScalarType dtype, std::initializer_list<double> factors) {
  const Tensor sizes =
      tensor({1.0, 1e-3, 7.5, 1e6, 1e30, 1e-40, 3.4e38, INFINITY, NAN, 0.0}, dtype);
  for (const double factor : factors) {
    const Tensor a = (rand({37, 10}, dtype) - 0.5) * factor * sizes,
                 b = (rand({37, 10}, dtype) - 0.5) * sizes.flip({0});
    for (const bool aligned : {true, false}) {
      Tensor y = aligned ? (rand({37, 10}, dtype) - 0.3) * sizes : b;
      if (aligned) y = where(y.mul(100).floor().remainder(2).eq(0), a / 96, y);  // whole quotients
      const std::vector<T> x = values<T>(a), d = values<T>(y), f = values<T>(fmod(a, y)),
                           r = values<T>(remainder(a, y));
      for (size_t i = 0; i < x.size(); ++i) {
        const T want = std::fmod(x[i], d[i]);
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(f[i])) << x[i] << " " << d[i];
          continue;
        }
        EXPECT_EQ(f[i], want) << x[i] << " " << d[i];
        EXPECT_EQ(std::signbit(f[i]), std::signbit(want)) << x[i] << " " << d[i];
        EXPECT_EQ(r[i], want != 0 && (d[i] < 0) != (want < 0) ? want + d[i] : want)
            << x[i] << " " << d[i];
      }
    }
  }
}

TEST(RemainderOfFloats, IsThatOfC) {
  manual_seed(4);
  expect_remainders_of_c<float>(kFloat, {1, 3, 1e7, 1e12});
  expect_remainders_of_c<double>(kDouble, {1, 3, 1e7, 1e14, 1e17});
  const Tensor a = tensor({6, -6, 7.5, -7.5, 1, 0.3, -0.3, 5e9}, kFloat),
               b = tensor({3, 3, -2, 2, 0.1, 0.1, 0.1, 3}, kFloat);
  EXPECT_EQ(values<float>(floor_divide(a, b)),
            (std::vector<float>{2, -2, -4, -4, 9, 3, -4, 1666666624}));
  EXPECT_TRUE(std::signbit(values<float>(fmod(a, b))[1]));
  EXPECT_EQ(values<double>(floor_divide(a.to(kDouble), b.to(kDouble))),
            (std::vector<double>{2, -2, -4, -4, 9, 3, -4, 1666666666}));
}

TEST(DivisionOfIntegers, IsThatOfCForNumbersOfAllSizes) {
  manual_seed(5);
  constexpr int64_t kEdge = int64_t{1} << 51, kLast = std::numeric_limits<int64_t>::max();
  const int64_t edges[] = {0,         1,     -1,     2,      -3,         7,         kEdge - 1,
                           1 - kEdge, kEdge, -kEdge, -kLast, -kLast - 1, kEdge / 3, kLast};
  for (const int bits : {4, 31, 50, 51, 63}) {
    Tensor a = empty({2000}, kLong).random_() >> (63 - bits), b = empty({2000}, kLong).random_();
    a = a - (int64_t{1} << (bits - 1));
    b = (b >> (b % 60)).mul(b.div(2, "floor") % 2 * 2 - 1);
    b = b.masked_fill(b == 0, 3);
    a = where(b % 5 == 0, b * (a % 1000), a);  // whole quotients, and overflow
    if (bits == 63)
      for (int64_t i = 0; i < 14 * 14; ++i) {
        a.select(0, i).fill_(edges[i / 14]);
        b.select(0, i).fill_(edges[i % 14] == 0 ? 5 : edges[i % 14]);
      }
    const auto x = values<int64_t>(a), y = values<int64_t>(b),
               down = values<int64_t>(floor_divide(a, b)), cut = values<int64_t>(a.div(b, "trunc")),
               mod = values<int64_t>(remainder(a, b)), rest = values<int64_t>(fmod(a, b));
    for (size_t i = 0; i < x.size(); ++i) {
      const __int128 p = x[i], q = y[i], quotient = p / q, left = p % q;
      const bool lower = left != 0 && (left < 0) != (q < 0);
      EXPECT_EQ(cut[i], static_cast<int64_t>(quotient)) << x[i] << " " << y[i];
      EXPECT_EQ(down[i], static_cast<int64_t>(quotient - lower)) << x[i] << " " << y[i];
      EXPECT_EQ(rest[i], static_cast<int64_t>(left)) << x[i] << " " << y[i];
      EXPECT_EQ(mod[i], static_cast<int64_t>(lower ? left + q : left)) << x[i] << " " << y[i];
    }
  }
}

TEST(DivisionOfIntegers, Of32BitsIsThatOfC) {
  manual_seed(6);
  constexpr int32_t kLast = std::numeric_limits<int32_t>::max();
  Tensor a = empty({4000}, kLong).random_().to(kInt), b = empty({4000}, kLong).random_().to(kInt);
  b = b.div(full({}, 1, kInt).mul(2).pow(b.remainder(30).to(kInt)), "trunc").to(kInt);
  b = b.masked_fill(b == 0, -3);
  a = where(b % 5 == 0, b * (a % 100), a);  // whole quotients
  const int32_t edges[] = {0, 1, -1, 2, -3, kLast, -kLast, -kLast - 1, 1 << 30, 46341};
  for (int64_t i = 0; i < 100; ++i) {
    a.select(0, i).fill_(edges[i / 10]);
    b.select(0, i).fill_(edges[i % 10] == 0 ? 7 : edges[i % 10]);
  }
  const auto x = values<int32_t>(a), y = values<int32_t>(b),
             down = values<int32_t>(floor_divide(a, b)), cut = values<int32_t>(a.div(b, "trunc")),
             mod = values<int32_t>(remainder(a, b)), rest = values<int32_t>(fmod(a, b));
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t p = x[i], q = y[i], quotient = p / q, left = p % q;
    const bool lower = left != 0 && (left < 0) != (q < 0);
    EXPECT_EQ(cut[i], static_cast<int32_t>(quotient)) << x[i] << " " << y[i];
    EXPECT_EQ(down[i], static_cast<int32_t>(quotient - lower)) << x[i] << " " << y[i];
    EXPECT_EQ(rest[i], static_cast<int32_t>(left)) << x[i] << " " << y[i];
    EXPECT_EQ(mod[i], static_cast<int32_t>(lower ? left + q : left)) << x[i] << " " << y[i];
  }
}

TEST(SineOfLargeNumbers, DoesNotDependOnTheNumberOfThreads) {
  Tensor x = rand({100000}) * 1000;
  x.select(0, 70000).fill_(3e8);  // beyond what the quick form takes
  Tensor want;
  for (const int threads : {1, 2, 3, 4}) {
    const NumThreadsGuard guard(threads);
    if (threads == 1) want = sin(x);
    EXPECT_TRUE(same_bits(sin(x), want)) << threads;
  }
  // One large number sends its neighbours to the C library, not the others.
  EXPECT_TRUE(same_bits(want.narrow(0, 0, 65536), sin(x.narrow(0, 0, 65536))));
}

}  // namespace
}  // namespace taeda
