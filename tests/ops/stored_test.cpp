// Dtypes that are kept, moved, compared and converted, and not computed with. Numbers and texts are
// PyTorch's (2.15).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
constexpr ScalarType kUnsigned[] = {kUInt16, kUInt32, kUInt64};

TEST(StoredDtypes, Kinds) {
  for (const ScalarType t : kStoredDtypes) {
    EXPECT_TRUE(is_stored(t));
    EXPECT_EQ(is_float8(t) + is_wide_unsigned(t) + is_complex(t), 1);
    EXPECT_EQ(is_floating_point(t), is_float8(t));
    EXPECT_EQ(is_integral(t), is_wide_unsigned(t));
    EXPECT_EQ(dtype_from_name(dtype_name(t)), t);
    EXPECT_EQ(empty({3}, t).nbytes(), 3 * element_size(t));
  }
  for (const ScalarType t : kAllDtypes) EXPECT_FALSE(is_stored(t));
  EXPECT_EQ(element_size(kFloat8_e5m2), 1);
  EXPECT_EQ(element_size(kUInt64), 8);
  EXPECT_STREQ(to_string(kFloat8_e4m3fn), "Float8_e4m3fn");
  EXPECT_FALSE(zeros({1}, kUInt16).is_signed());
  EXPECT_TRUE(zeros({1}, kFloat8_e5m2).is_signed());
}

/// Every code that is a number comes back from its float.
TEST(StoredDtypes, EveryCodeOfAnEightBitFloatIsANumberOrNan) {
  for (const ScalarType t : kStoredDtypes) {
    if (!is_float8(t)) continue;
    const Tensor codes = arange(256).to(kByte), numbers = codes.view(t).to(kFloat);
    const Tensor back = numbers.to(t).view(kByte), known = numbers.eq(numbers);
    EXPECT_TRUE(back.eq(codes).logical_or(known.logical_not()).all().item<bool>()) << t;
    EXPECT_TRUE(isnan(back.view(t).to(kFloat)).eq(known.logical_not()).all().item<bool>()) << t;
  }
}

TEST(StoredDtypes, RoundToTheNearestEvenCode) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = tensor({448.0f, 464.0f, 1e9f, inf, 240.0f, 248.0f, 61440.0f, 1.5f, -3.0f});
  const auto codes = [&](ScalarType t) { return longs(x.to(t).view(kByte).to(kLong)); };
  using Codes = std::vector<int64_t>;
  EXPECT_EQ(codes(kFloat8_e4m3fn), (Codes{0x7e, 0x7e, 0x7e, 0x7e, 0x77, 0x78, 0x7e, 0x3c, 0xc4}));
  EXPECT_EQ(codes(kFloat8_e5m2), (Codes{0x5f, 0x5f, 0x7c, 0x7c, 0x5c, 0x5c, 0x7c, 0x3e, 0xc2}));
  EXPECT_EQ(codes(kFloat8_e4m3fnuz), (Codes{0x80, 0x80, 0x80, 0x80, 0x7f, 0x80, 0x80, 0x44, 0xcc}));
  EXPECT_EQ(codes(kFloat8_e5m2fnuz), (Codes{0x63, 0x63, 0x80, 0x80, 0x60, 0x60, 0x80, 0x42, 0xc6}));
  EXPECT_EQ(codes(kFloat8_e8m0fnu), (Codes{0x88, 0x88, 0x9d, 0xff, 0x87, 0x87, 0x8f, 0x80, 0x81}));
}

TEST(StoredDtypes, IntegersWrapAround) {
  const Tensor given = tensor(std::vector<int64_t>{-1, 70000, (int64_t{1} << 40) + 5});
  EXPECT_EQ(longs(given.to(kUInt16).to(kLong)), (std::vector<int64_t>{65535, 4464, 5}));
  EXPECT_EQ(longs(given.to(kUInt32).to(kLong)), (std::vector<int64_t>{4294967295, 70000, 5}));
  EXPECT_TRUE(given.to(kUInt64).to(kLong).equal(given));
  EXPECT_EQ(given.to(kUInt64).to(kDouble)[0].item<double>(), 18446744073709551616.0);
  const Tensor large = tensor({9223372036854775808.0, -1.0, 1.9});
  EXPECT_TRUE(large.to(kUInt64).to(kDouble).equal(
      tensor({9223372036854775808.0, 18446744073709551616.0, 1.0})));
}

TEST(StoredDtypes, AreMadeMovedAndCompared) {
  for (const Device device : {Device(kCPU), Device(kSim)})
    for (const ScalarType t : kStoredDtypes) {
      SCOPED_TRACE(::testing::Message() << t << " on " << device.str());
      const TensorOptions options = TensorOptions(t).device(device);
      const Tensor x = tensor({1.0f, 2.0f, 4.0f}).to(options);
      const auto is = [&](const Tensor& got, const std::vector<float>& want) {
        EXPECT_EQ(got.dtype(), t);
        EXPECT_EQ(floats(got.cpu().to(kFloat)), want);
      };
      is(tensor({1, 2, 4}, options), {1, 2, 4});
      is(full({2}, 4, options), {4, 4});
      is(ones({2}, options), {1, 1});
      is(x.clone().fill_(2), {2, 2, 2});
      is(cat({x, x.narrow(0, 0, 1)}), {1, 2, 4, 1});
      is(stack({x, x}).t().contiguous().flatten(), {1, 1, 2, 2, 4, 4});
      const Tensor at = tensor({2, 0}).to(device);
      is(x.index_select(0, at), {4, 1});
      is(x.index({at}), {4, 1});
      is(x.gather(0, at), {4, 1});
      is(x.flip({0}), {4, 2, 1});
      is(where(x.to(kInt).gt(1), x, x.flip({0})), {4, 2, 4});
      is(x.clone().copy_(tensor({4.0, 2.0, 1.0}).to(device)), {4, 2, 1});
      EXPECT_EQ(x.select(0, 1).item<float>(), 2);
      EXPECT_TRUE(x.equal(x.clone()));
      EXPECT_EQ(bools(x.eq(2).cpu()), (std::vector<int>{0, 1, 0}));
      EXPECT_EQ(bools(x.ne(x.flip({0})).cpu()), (std::vector<int>{1, 0, 1}));
    }
}

/// What PyTorch computes with complex32.
TEST(StoredDtypes, ComplexHalvesComputeByComplexFloats) {
  using C = std::complex<float>;
  const Tensor wide = tensor(std::vector<C>{{1, 2}, {3, -4}}), x = wide.to(kComplexHalf);
  const auto is = [](const Tensor& got, ScalarType dtype, const Tensor& want) {
    EXPECT_EQ(got.dtype(), dtype);
    EXPECT_TRUE(got.to(kComplexFloat).equal(want.to(kComplexFloat))) << got << want;
  };
  const ScalarType half = kComplexHalf;
  is(x.add(x), half, wide.add(wide));
  is(x.sub(x, 2), half, wide.neg());
  is(x.mul(x), half, wide.mul(wide));
  is(x.neg(), half, wide.neg());
  is(x.conj(), half, wide.conj());
  is(x.addcmul(x, x), half, wide.addcmul(wide, wide));
  is(x.mul(tensor({2, 3}, kHalf)), half, wide.mul(tensor({2, 3})));
  is(x.mul(tensor({2.f, 3.f})), kComplexFloat, wide.mul(tensor({2, 3})));
  is(ones({2}, kHalf).mul(Scalar(C(0, 1))), half, ones({2}).mul(Scalar(C(0, 1))));
  is(x.masked_fill(tensor({true, false}), 1), half, wide.masked_fill(tensor({true, false}), 1));
  is(x.clone().mul_(x), half, wide.mul(wide));
  is(x.narrow(0, 1, 1).abs(), kHalf, tensor({5.f}));
  is(view_as_real(x).select(-1, 1), kHalf, tensor({2, -4}));
  is(make_complex(ones({1}, kHalf), zeros({1}, kHalf)), half, ones({1}));
  EXPECT_EQ(x.select(0, 1).item<C>(), C(3, -4));
  EXPECT_EQ(error_of([&] { x.div(x); }), "\"div\" not implemented for 'ComplexHalf'");
  EXPECT_EQ(error_of([&] { x.sum(); }), "\"sum\" not implemented for 'ComplexHalf'");
  EXPECT_EQ(error_of([&] { x.mean(); }), "\"mean\" not implemented for 'ComplexHalf'");
  EXPECT_EQ(promote_types(kComplexHalf, kBFloat16), kComplexFloat);
  EXPECT_EQ(promote_types(kDouble, kComplexHalf), kComplexDouble);
  const Tensor leaf = wide.detach().requires_grad_();
  leaf.to(kComplexHalf).mul(2).to(kComplexFloat).abs().sum().backward();
  EXPECT_EQ(leaf.grad().dtype(), kComplexFloat);
  EXPECT_TRUE(allclose(leaf.grad(), wide.div(wide.abs()).mul(2), 1e-2));
}

/// A number of 64 bits without a sign is a Scalar, and no double.
TEST(StoredDtypes, TheLargestIntegersAreNumbers) {
  const uint64_t largest = ~uint64_t{0};
  EXPECT_EQ(Scalar(largest).to<uint64_t>(), largest);
  EXPECT_EQ(Scalar(largest).type(), kUInt64);
  EXPECT_EQ(longs(full({1}, largest - 1, kUInt64).view(kLong)), (std::vector<int64_t>{-2}));
  EXPECT_EQ(full({1}, largest, kUInt64).item().to<uint64_t>(), largest);
  EXPECT_EQ(full({1}, largest, kDouble).item<double>(), 18446744073709551616.0);
}

TEST(StoredDtypes, UnsignedIntegersAreSummedAndSorted) {
  for (const ScalarType t : kUnsigned) {
    const Tensor x = tensor({7, 1, 65535, 1}, t);
    EXPECT_EQ(x.sum().dtype(), kLong);
    EXPECT_EQ(x.sum().item<int64_t>(), 65544);
    EXPECT_EQ(x.view({2, 2}).sum({0}, false, t).dtype(), t);
    const auto [values, places] = x.sort();
    EXPECT_EQ(values.dtype(), t);
    EXPECT_EQ(longs(values.to(kLong)), (std::vector<int64_t>{1, 1, 7, 65535}));
    EXPECT_EQ(longs(places), (std::vector<int64_t>{1, 3, 0, 2}));
    EXPECT_EQ(longs(x.view({2, 2}).argsort(0, true)), (std::vector<int64_t>{1, 0, 0, 1}));
    EXPECT_EQ(std::get<0>(x[2].sort()).to(kLong).item<int64_t>(), 65535);
  }
  const Tensor largest = tensor({-1, 5}, kLong).view(kUInt64);
  EXPECT_EQ(longs(largest.argsort()), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(error_of([] { ones({2}, kFloat8_e5m2).sort(); }),
            "\"sort\" not implemented for 'Float8_e5m2'");
}

/// What PyTorch computes with them: products, bits, bounds. 2^64 - 1 is the largest of uint64.
TEST(StoredDtypes, UnsignedIntegersAreMultipliedAndCompared) {
  using Longs = std::vector<int64_t>;
  const Tensor largest = tensor({-1, 5}, kLong).view(kUInt64);
  const uint64_t high = uint64_t{1} << 63;
  EXPECT_EQ(longs(largest.clamp_max(Scalar(high)).view(kLong)),
            (std::vector<int64_t>{static_cast<int64_t>(high), 5}));
  EXPECT_EQ(longs(largest.clamp_min(-1).view(kLong)), (std::vector<int64_t>{-1, 5}));
  EXPECT_EQ(longs(where(tensor({1, 0}).to(kBool), largest, 7).view(kLong)),
            (std::vector<int64_t>{-1, 7}));
  EXPECT_EQ(longs(largest.mul(Scalar(high + 1)).view(kLong)),
            (std::vector<int64_t>{static_cast<int64_t>(high - 1), static_cast<int64_t>(high + 5)}));
  const auto as_long = [](const Tensor& t) { return longs(t.to(kLong)); };
  for (const ScalarType t : kUnsigned) {
    const Tensor most = tensor({-1, 3}).to(t), five = tensor({5, 5}, t);
    const int64_t top = most.to(kLong)[0].item<int64_t>();  // -1 of uint64
    EXPECT_EQ(most.mul(most).dtype(), t);
    EXPECT_EQ(as_long(most.mul(most)), (Longs{1, 9}));
    EXPECT_EQ(as_long(most.mul(-1)), (Longs{1, tensor({-3}).to(t).to(kLong).item<int64_t>()}));
    EXPECT_EQ(as_long(most.bitwise_and(five)), (Longs{5, 1}));
    EXPECT_EQ(as_long(five.bitwise_or(2)), (Longs{7, 7}));
    EXPECT_EQ(as_long(five.bitwise_xor(most)), (Longs{top ^ 5, 6}));
    EXPECT_EQ(as_long(maximum(most, five)), (Longs{top, 5}));
    EXPECT_EQ(as_long(minimum(most, five)), (Longs{5, 3}));
    EXPECT_EQ(as_long(most.clamp(4)), (Longs{top, 4}));
    EXPECT_EQ(as_long(most.clamp(-1, 4)), (Longs{4, 3}));
    EXPECT_EQ(as_long(most.clamp(five, most)), (Longs{top, 3}));
    EXPECT_EQ(as_long(most.relu()), (Longs{top, 3}));
    const Tensor place = tensor({1});
    EXPECT_EQ(as_long(five.scatter_add(0, place, five)), (Longs{5, 10}));
    EXPECT_EQ(as_long(std::get<0>(unique_consecutive(five))), (Longs{5}));
    const Tensor changed = most.clone();
    changed.mul_(2).bitwise_and_(6).scatter_add_(0, place, five);
    EXPECT_EQ(as_long(changed), (Longs{6, 11}));
    EXPECT_LT(randint(3, {9}, t).to(kLong).max().item<int64_t>(), 3);
  }
}

TEST(StoredDtypes, AreNotComputedWith) {
  const Tensor x = ones({2}, kUInt16), y = ones({2}, kFloat8_e5m2);
  EXPECT_EQ(error_of([&] { x.add(x); }), "\"add\" not implemented for 'UInt16'");
  EXPECT_EQ(error_of([&] { y.mul(y); }), "\"mul\" not implemented for 'Float8_e5m2'");
  EXPECT_EQ(error_of([&] { x.add(ones({2}, kLong)); }),
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            "UInt16 and Long");
  EXPECT_EQ(error_of([&] { y.add(ones({2})); }),
            "Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 and "
            "Float");
  EXPECT_EQ(error_of([&] { arange(3, kUInt32); }), "\"arange\" not implemented for 'UInt32'");
  for (const ScalarType t : kUnsigned) EXPECT_EQ(ones({2}, t).mul(2.5).dtype(), kFloat);
}

TEST(StoredDtypes, Print) {
  EXPECT_EQ(tensor({1, 2}, kUInt16).repr(), "tensor([1, 2], dtype=taeda.uint16)");
  EXPECT_EQ(tensor({-1}).to(kUInt64).repr(), "tensor([18446744073709551615], dtype=taeda.uint64)");
  EXPECT_EQ(tensor({1.5, -0.25}).to(kFloat8_e4m3fn).repr(),
            "tensor([ 1.5000, -0.2500], dtype=taeda.float8_e4m3fn)");
  std::ostringstream out;
  out << tensor({1.0, 2.0}).to(kFloat8_e5m2);
  EXPECT_EQ(out.str(), " 1\n 2\n[ CPUFloat8_e5m2Type{2} ]");
}

}  // namespace
}  // namespace taeda
