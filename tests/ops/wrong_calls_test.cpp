// Numbers that no call can mean: each is refused at once, by the library's own error, in words that
// name what was given; nothing is allocated, computed or wrapped around first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "taeda/base/error.h"
#include "taeda/nn/functional/upsampling.h"
#include "taeda/nn/functional/vision.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/operations.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/join.h"

namespace taeda {
namespace {

namespace F = nn::functional;

constexpr int64_t kHuge = int64_t{1} << 62, kLargest = std::numeric_limits<int64_t>::max();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor numbers() { return arange(4.0f); }
Tensor square() { return rand({4, 4}); }
Tensor image() { return rand({1, 2, 6, 6}); }
Tensor kernel() { return rand({3, 2, 3, 3}); }
Tensor transposed_kernel() { return rand({2, 3, 3, 3}); }
Tensor pivots(int first) { return tensor({first, 2, 3, 4}, kInt); }
F::InterpolateFuncOptions to_size(std::vector<int64_t> size) { return {.size = std::move(size)}; }
F::InterpolateFuncOptions by_factor(double factor) {
  return {.scale_factor = std::vector<double>{factor, 1}};
}

struct WrongCall {
  const char* text;
  std::function<void()> call;
  const char* words;
};
std::ostream& operator<<(std::ostream& out, const WrongCall& c) { return out << c.text; }

#define CALL(call, words)      \
  {                            \
#call, [] { call; }, words \
  }

const std::vector<WrongCall> calls = {
    // Sizes that follow from the arguments lie beyond 64 bits.
    CALL(conv2d(image(), kernel(), {}, 1, kLargest), "must be below 2^31, but got 922"),
    CALL(conv2d(image(), kernel(), {}, kHuge), "must be below 2^31, but got 461"),
    CALL(conv2d(image(), kernel(), {}, 1, 0, kHuge), "must be below 2^31, but got 461"),
    CALL(conv_transpose2d(image(), transposed_kernel(), {}, 1, 0, 0, 1, kLargest),
         "must be below 2^31, but got 922"),
    CALL(conv_transpose2d(image(), transposed_kernel(), {}, kLargest), "must be below 2^31"),
    CALL(conv_transpose2d(rand({1, 2, 1, 1}).expand({1, 2, 1, kHuge / 2}), transposed_kernel(), {},
                          16),
         "conv_transpose2d: integer overflow in the calculation of sizes"),
    CALL(max_pool2d(image(), 2, 1, 0, kLargest), "Given input size: (2x6x6)"),
    CALL(max_pool2d(image(), 3, 1, 0, kLargest), "max_pool2d: integer overflow"),
    CALL(max_pool2d(image(), 1 << 20, 1 << 21, 0, 1, true), "less than 2^31 elements"),
    CALL(adaptive_avg_pool2d(image(), {-1, -1}),
         "output_size must be greater than or equal to 0 but received [-1, -1]"),
    CALL(adaptive_max_pool2d(image(), -1), "but received [-1]"),
    CALL(F::interpolate(image(), to_size({kHuge, kHuge})), "Storage size calculation overflowed"),
    CALL(F::interpolate(image(), by_factor(1e300)), "no size 6 times scale_factor 1e+300"),
    CALL(F::interpolate(image(), by_factor(kNaN)), "no size 6 times scale_factor nan"),
    CALL(F::unfold(image(), {.kernel_size = {2, 2}, .padding = {kHuge, kHuge}}), "overflow"),
    CALL(tril_indices(kHuge, kHuge), "tril_indices: integer overflow"),
    CALL(triu_indices(kHuge, kHuge), "triu_indices: integer overflow"),
    CALL(combinations(arange(100), 50), "combinations: integer overflow"),
    CALL(combinations(arange(2), kLargest, true), "combinations: integer overflow"),
    // Numbers that the dtype does not have.
    CALL(full({2}, 300, kByte), "value cannot be converted to type uint8_t without overflow"),
    CALL(full({2}, 1e300), "type float without overflow"),
    CALL(zeros({2}).fill_(-1e39), "type float without overflow"),
    CALL(zeros({2}, kLong).fill_(kNaN), "type int64_t without overflow"),
    CALL(zeros({2}, kUInt64).fill_(-1e9), "type uint64_t without overflow"),
    CALL(zeros({2}, kLong).fill_(~uint64_t{0}), "type int64_t without overflow"),
    CALL(zeros({2}, kHalf).masked_fill(ones({2}, kBool), 1e9), "type c10::Half without overflow"),
    CALL(zeros({2}, kHalf).index_fill(0, tensor({0}), 1e9), "type c10::Half without overflow"),
    CALL(zeros({2}, kHalf).scatter(0, tensor({0}), 1e9), "type c10::Half without overflow"),
    CALL(zeros({2}, kHalf).clamp_max(1e9), "type c10::Half without overflow"),
    CALL(zeros({2}, kHalf).fill_(1e6), "type c10::Half without overflow"),
    CALL(full({2}, 1e6, kHalf), "type c10::Half without overflow"),
    CALL(zeros({2}, kHalf).add(zeros({2}, kHalf), 1e6), "type c10::Half without overflow"),
    CALL(zeros({2}, kHalf).sub(zeros({2}, kHalf), 1e6), "type c10::Half without overflow"),
    CALL(zeros({2}, kByte).add(zeros({2}, kByte), 300), "type uint8_t without overflow"),
    CALL(zeros({2}, kByte).index_add(0, tensor({0}), zeros({1}, kByte), 300),
         "type uint8_t without overflow"),
    CALL(linspace(0, 1e6, 3, kHalf), "type c10::Half without overflow"),
    CALL(linspace(0, 300, 3, kByte), "type uint8_t without overflow"),
    CALL(where(ones({2}, kBool), zeros({2}), 1e39), "type float without overflow"),
    CALL(where(ones({2}, kBool), 300, zeros({2}, kByte)), "type uint8_t without overflow"),
    CALL(where(ones({2}, kBool), 1e39, 1), "type float without overflow"),
    CALL(zeros({2}).lerp(ones({2}), 1e39), "type float without overflow"),
    CALL(zeros({2}).logit(1e39), "type float without overflow"),
    CALL(leaky_relu(zeros({2}), 1e39), "type float without overflow"),
    CALL(elu(zeros({2}), 1, 1, 1e39), "type float without overflow"),
    CALL(celu(zeros({2}), 1e-39), "type float without overflow"),
    CALL(softplus(zeros({2}), 1e39), "type float without overflow"),
    CALL(hardtanh(zeros({2}), -1, 1e39), "type float without overflow"),
    CALL(hardtanh(zeros({2}, kHalf), -1, 1e6), "type c10::Half without overflow"),
    CALL(hardtanh(zeros({2}, kByte), 300, 400), "Clamp min value 300 is outside"),
    CALL(hardtanh(zeros({2}, kInt), -1, kNaN), "type int64_t without overflow"),
    CALL(zeros({2}, kHalf).pow(1e6), "type c10::Half without overflow"),
    CALL(zeros({2}, kByte).pow(300), "type uint8_t without overflow"),
    CALL(zeros({2}).uniform_(0, 1e39), "to is out of bounds for float"),
    CALL(zeros({2}, kHalf).uniform_(-1e6, 1), "from is out of bounds for c10::Half"),
    CALL(zeros({2}).uniform_(-3e38, 3e38), "which result in to-from to exceed the limit"),
    CALL(hardshrink(zeros({2}, kHalf), 1e6), "type c10::Half without overflow"),
    CALL(softshrink(zeros({2}, kHalf), 1e6),
         "lambda must be in range [0, 65504] for input dtype Half, but found 1e+06"),
    CALL(zeros({2}, kUInt64).clamp_max(-1),
         "Clamp max value -1 is outside the representable range of UInt64"),
    CALL(zeros({2}, kChar).clamp_min(300),
         "Clamp min value 300 is outside the representable range of Char"),
    CALL(zeros({2}, kByte).clamp(0, -1),
         "Clamp max value -1 is outside the representable range of Byte"),
    CALL(threshold(zeros({2}, kChar), 300, 0), "type int8_t without overflow"),
    CALL(threshold(zeros({2}, kHalf), 1, 1e9), "type c10::Half without overflow"),
    CALL(zeros({2}, kBool).topk(1), "topk does not support bool dtypes on CPU"),
    CALL(zeros({2}, kBool).kthvalue(1), "\"kthvalue\" not implemented for 'Bool'"),
    CALL(zeros({2}, kBool).nanmedian(), "\"median\" not implemented for 'Bool'"),
    CALL(tensor(300).item<int8_t>(), "type int8_t without overflow"),
    CALL(tensor(1e30, kDouble).item<int64_t>(), "type int64_t without overflow"),
    CALL(tensor(kNaN).item<int>(), "type int without overflow"),
    CALL(tensor(1e300, kDouble).item<float>(), "type float without overflow"),
    CALL(tensor(std::complex<float>(1, 2)).item<float>(), "type float without overflow"),
    CALL(randperm(300, kByte), "n is too large for result tensor type: 'Byte', got 300"),
    CALL(randperm(129, kChar), "'Char', got 129"),
    CALL(randperm(2050, kHalf), "'Half', got 2050"),
    CALL(bernoulli(tensor({0.5f, 2.f})), "between 0 and 1, but got 2"),
    CALL(bernoulli(tensor({0.5f, -1.f})), "between 0 and 1, but got -1"),
    CALL(bernoulli(tensor({0.5, kNaN})), "between 0 and 1, but got nan"),
    // Rows that do not exist.
    CALL(linalg::lu_solve(square(), pivots(5), rand({4, 1})), "between 1 and 4"),
    CALL(linalg::lu_solve(square(), pivots(0), rand({4, 1})), "but got 0"),
    CALL(linalg::lu_solve(square(), pivots(-7), rand({4, 1})), "but got -7"),
    // Types that do not exist.
    CALL(Device(static_cast<DeviceType>(77), 0), "no device type has the number 77"),
    CALL(Device(static_cast<DeviceType>(-3)), "no device type has the number -3"),
    CALL(zeros({2}, static_cast<ScalarType>(99)), "a tensor of dtype 99 cannot be made"),
    CALL(empty({2}, ScalarType::Undefined), "a tensor of dtype 16 cannot be made"),
    CALL(numbers().to(ScalarType::Undefined), "dtype"),
};

class WrongCalls : public ::testing::TestWithParam<WrongCall> {};

TEST_P(WrongCalls, AreRefused) {
  try {
    GetParam().call();
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr(GetParam().words));
  }
}

INSTANTIATE_TEST_SUITE_P(, WrongCalls, ::testing::ValuesIn(calls));

TEST(Numbers, ThatATypeHasAreTaken) {
  EXPECT_EQ(Scalar(-1).to<uint8_t>(), 255);  // modulo 256, as in PyTorch
  EXPECT_EQ(Scalar(-128).to<int8_t>(), -128);
  EXPECT_EQ(Scalar(-0x1p63).to<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(kLargest).to<int64_t>(), kLargest);
  EXPECT_TRUE(std::isinf(Scalar(HUGE_VAL).to<float>()));
  EXPECT_TRUE(std::isnan(float(Scalar(kNaN).to<Half>())));
  EXPECT_EQ(Scalar(std::complex<double>(3, 0)).to<double>(), 3);
  EXPECT_TRUE(Scalar(300).to<bool>());
  EXPECT_EQ((numbers().to(kByte) + 300).dtype(), kByte);  // an operand wraps around
}

TEST(Triangles, AreCountedBeforeTheyAreMade) {
  for (int64_t row = 0; row < 5; ++row)
    for (int64_t col = 0; col < 5; ++col)
      for (int64_t offset = -6; offset <= 6; ++offset) {
        const Tensor all = ones({row, col});
        EXPECT_TRUE(tril_indices(row, col, offset).equal(all.tril(offset).nonzero().t()));
        EXPECT_TRUE(triu_indices(row, col, offset).equal(all.triu(offset).nonzero().t()));
      }
  EXPECT_EQ(tril_indices(kHuge, 2, -kHuge + 1).size(1), 1);
}

}  // namespace
}  // namespace taeda
