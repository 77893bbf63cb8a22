#include "taeda/ops/create/stored.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

namespace {

ScalarType word_dtype(ScalarType t) {
  return t == kUInt16                        ? kShort
         : t == kUInt32 || t == kComplexHalf ? kInt
         : t == kUInt64                      ? kLong
                                             : kByte;
}

// ---- complex numbers of 16-bit floats ----

Tensor with_parts_of(const Tensor& in, ScalarType parts) {
  return view_as_complex(view_as_real(in).to(parts).contiguous());
}

// ---- 8-bit floats ----

/// A format of a sign, exponent and mantissa: OFP8 (Micikevicius et al., "FP8 Formats for Deep
/// Learning", 2022), and those of Noune et al. ("8-bit Numerical Formats for Deep Neural Networks",
/// 2022), which have one NaN in the place of minus zero.
struct Float8 {
  int mantissa, bias;  ///< bits, and what is added to exponents
  int largest;         ///< the code of the largest finite number
  int beyond, nan;     ///< the codes of numbers that round to more, and of NaN
  bool one_zero;       ///< no minus zero, and NaN has no sign
};

Float8 format_of(ScalarType t) {
  switch (t) {
    case kFloat8_e4m3fn: return {3, 7, 0x7e, 0x7e, 0x7f, false};
    case kFloat8_e5m2: return {2, 15, 0x7b, 0x7c, 0x7f, false};
    case kFloat8_e4m3fnuz: return {3, 8, 0x7f, 0x80, 0x80, true};
    default: return {2, 16, 0x7f, 0x80, 0x80, true};  // e5m2fnuz
  }
}

float number_of(int code, ScalarType t) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (t == kFloat8_e8m0fnu) return code == 0xff ? kNan : std::ldexp(1.0f, code - 127);
  const Float8 f = format_of(t);
  const int size = code & 0x7f, exponent = size >> f.mantissa,
            fraction = size & ((1 << f.mantissa) - 1);
  if (f.one_zero ? code == f.nan : size > f.largest) {
    const bool infinite = t == kFloat8_e5m2 && size == f.beyond;
    return infinite
               ? std::copysign(std::numeric_limits<float>::infinity(), code & 0x80 ? -1.f : 1.f)
               : kNan;
  }
  const float value = exponent == 0
                          ? std::ldexp(static_cast<float>(fraction), 1 - f.bias - f.mantissa)
                          : std::ldexp(static_cast<float>(fraction + (1 << f.mantissa)),
                                       exponent - f.bias - f.mantissa);
  return code & 0x80 ? -value : value;
}

/// All numbers of a format, by their codes.
Tensor numbers_of(ScalarType t, Device device) {
  std::array<float, 256> numbers;
  for (int code = 0; code < 256; ++code) numbers[static_cast<size_t>(code)] = number_of(code, t);
  const Tensor host = make_tensor({256}, kFloat, kCPU);
  std::memcpy(host.data_ptr(), numbers.data(), sizeof(numbers));
  return host.to(device);
}

Tensor from_float8(const Tensor& in) {
  const Tensor codes = detail::as_words(in).reshape({-1}).to(kLong);
  return numbers_of(in.dtype(), in.device()).index_select(0, codes).view(in.sizes());
}

/// Codes of powers of two: the exponent's bits, one up where the fraction rounds up.
Tensor powers_of_two(const Tensor& x) {
  const Tensor bits = x.contiguous().view(kInt);
  const Tensor exponent = bits.bitwise_right_shift(23).bitwise_and(0xff);
  const Tensor fraction = bits.bitwise_and(0x7fffff);
  // Exactly between two powers the larger one, but for numbers below the smallest.
  const Tensor up =
      fraction.gt(0x400000).logical_or(fraction.eq(0x400000).logical_and(exponent.gt(0)));
  const Tensor rounded = exponent.add(up.logical_and(exponent.lt(0xff)).to(kInt));
  return rounded.to(kByte);
}

Tensor to_float8(const Tensor& in, ScalarType to) {
  const Tensor x = in.to(kFloat);
  if (to == kFloat8_e8m0fnu) return powers_of_two(x);
  const Float8 f = format_of(to);
  const Tensor bits = x.contiguous().view(kInt), size = bits.bitwise_and(0x7fffffff);
  // A number is a multiple of the last place that its exponent has, or the smallest one has.
  const Tensor exponent = size.bitwise_right_shift(23).sub(127).clamp_min(1 - f.bias);
  const Tensor place = exponent.neg().add(f.mantissa + 127).bitwise_left_shift(23).view(kFloat);
  const Tensor multiple = size.view(kFloat).mul(place).round().to(kInt);
  Tensor code = exponent.add(f.bias - 1).mul(1 << f.mantissa).add(multiple);
  code = code.masked_fill(code.gt(f.largest).logical_or(size.ge(0x7f800000)), f.beyond);
  code = code.masked_fill(size.gt(0x7f800000), f.nan);
  Tensor sign = bits.lt(0);
  if (f.one_zero) sign = sign.logical_and(code.gt(0)).logical_and(code.lt(0x80));
  return code.add(sign.to(kInt).mul(0x80)).to(kByte);
}

// ---- integers ----

Tensor from_unsigned(const Tensor& in) {
  const Tensor words = detail::as_words(in);
  if (in.dtype() == kUInt16) return words.to(kInt).bitwise_and(0xffff);
  if (in.dtype() == kUInt32) return words.to(kLong).bitwise_and(0xffffffff);
  const Tensor high = words.bitwise_right_shift(32).bitwise_and(0xffffffff),
               low = words.bitwise_and(0xffffffff);
  return high.to(kDouble).mul(4294967296.0).add(low.to(kDouble));
}

Tensor to_unsigned(const Tensor& in, ScalarType to) {
  const ScalarType word = word_dtype(to);
  if (to != kUInt64 || !in.is_floating_point()) return in.to(kLong).to(word);
  // What int64 cannot hold is 2^63 less, with the highest bit.
  constexpr double kHalf = 9223372036854775808.0;
  const Tensor x = in.to(kDouble), large = x.ge(kHalf);
  const Tensor rest = x.sub(large.to(kDouble).mul(kHalf)).to(kLong);
  return rest.bitwise_xor(large.to(kLong).bitwise_left_shift(63));
}

/// A number as the word that holds it. Throws Error where the dtype has no such number.
template <class T>
Scalar word_of(const Scalar& value) {
  return int64_t{static_cast<std::make_signed_t<T>>(value.to<T>())};
}

Scalar word_of(const Scalar& value, ScalarType t) {
  if (t == kUInt16) return word_of<uint16_t>(value);
  if (t == kUInt32) return word_of<uint32_t>(value);
  if (t == kUInt64) return word_of<uint64_t>(value);
  const double real = t == kComplexHalf ? 0 : value.toDouble();  // a float8 has no imaginary part
  const Tensor number = t == kComplexHalf
                            ? full({}, value, TensorOptions(kComplexDouble).device(kCPU))
                            : full({}, real, TensorOptions(kDouble).device(kCPU));
  return detail::as_words(detail::convert_stored(number, t)).item();
}

}  // namespace

Tensor detail::as_words(const Tensor& stored) {
  return make_alias(stored, stored.layout(), word_dtype(stored.dtype()));
}

Tensor detail::from_words(const Tensor& words, ScalarType dtype) {
  return make_alias(words, words.layout(), dtype);
}

Tensor detail::computable(const Tensor& stored) {
  NoGradGuard guard;
  if (stored.is_complex()) return with_parts_of(stored, kFloat);
  return is_float8(stored.dtype()) ? from_float8(stored) : from_unsigned(stored);
}

Tensor detail::comparable(const Tensor& stored) {
  return stored.dtype() == kUInt64 ? as_words(stored) : computable(stored);
}

Tensor detail::convert_stored(const Tensor& in, ScalarType to) {
  NoGradGuard guard;
  if (in.dtype() == kUInt64 && is_integral(to, /*include_bool=*/true))
    return is_stored(to) ? from_words(to_unsigned(as_words(in), to), to) : as_words(in).to(to);
  const Tensor numbers = is_stored(in.dtype()) ? computable(in) : in.detach();
  if (!is_stored(to)) return numbers.to(to);
  if (is_complex(to)) return with_parts_of(numbers.to(kComplexFloat), kHalf);
  return from_words(is_float8(to) ? to_float8(numbers, to) : to_unsigned(numbers, to), to);
}

void detail::fill_elements(const Tensor& out, const Scalar& value) {
  // Kernels have floats. One element becomes infinite, as in PyTorch.
  if (is_reduced_floating(out.dtype()) && out.numel() != 1) check_number(out.dtype(), value);
  if (!is_stored(out.dtype())) return pointwise_into(fill_with(value, out.dtype()), out);
  pointwise_into(Fill{word_of(value, out.dtype())}, as_words(out));
}

}  // namespace taeda::inline v0_2
