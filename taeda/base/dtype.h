// Element types: names, sizes, promotion.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>

#include "taeda/base/complex.h"
#include "taeda/base/half.h"

namespace taeda::inline v0_2 {

/// Element type of a tensor; enumerators and their values are libtorch's.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  BFloat16 = 15,
  Undefined = 16,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  Float8_e8m0fnu = 44
};
using Dtype = ScalarType;

/// The dtypes under libtorch's names.
constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = kChar;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = kShort;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = kInt;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = kLong;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = kHalf;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = kDouble;
constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf, kComplex32 = kComplexHalf;
constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat, kComplex64 = kComplexFloat;
constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble, kComplex128 = kComplexDouble;
constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2,
                     kFloat8_e4m3fn = ScalarType::Float8_e4m3fn,
                     kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz,
                     kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz,
                     kFloat8_e8m0fnu = ScalarType::Float8_e8m0fnu;
constexpr ScalarType kUInt16 = ScalarType::UInt16, kUInt32 = ScalarType::UInt32,
                     kUInt64 = ScalarType::UInt64;

/// Every dtype that kernels compute with.
constexpr ScalarType kAllDtypes[] = {kByte,         kChar,          kShort, kInt,
                                     kLong,         kHalf,          kFloat, kDouble,
                                     kComplexFloat, kComplexDouble, kBool,  kBFloat16};
/// Dtypes whose elements are kept, moved, compared and converted, as in PyTorch's limited support
/// of them, and not computed with. With those above, all that a tensor can have.
constexpr ScalarType kStoredDtypes[] = {kFloat8_e5m2,     kFloat8_e4m3fn,  kFloat8_e5m2fnuz,
                                        kFloat8_e4m3fnuz, kFloat8_e8m0fnu, kUInt16,
                                        kUInt32,          kUInt64,         kComplexHalf};

/// What kind of numbers a dtype holds; stored: one of kStoredDtypes; reduced: 16 bits.
constexpr bool is_stored(ScalarType t) { return t > ScalarType::Undefined || t == kComplexHalf; }
constexpr bool is_wide_unsigned(ScalarType t) { return t >= kUInt16 && t <= kUInt64; }
constexpr bool is_float8(ScalarType t) { return t > ScalarType::Undefined && !is_wide_unsigned(t); }
constexpr bool is_complex(ScalarType t) { return t >= kComplexHalf && t <= kComplexDouble; }
constexpr bool is_reduced_floating(ScalarType t) { return t == kHalf || t == kBFloat16; }
/// What such numbers are computed with: float for 16-bit ones and shorter, int64 for unsigned ones.
constexpr ScalarType computing_dtype(ScalarType t) {
  if (t == kComplexHalf) return kComplexFloat;
  return is_reduced_floating(t) || is_float8(t) ? kFloat : t == kUInt16 || t == kUInt32 ? kLong : t;
}
constexpr bool is_floating_point(ScalarType t) {
  return t == kFloat || t == kDouble || is_reduced_floating(t) || is_float8(t);
}
constexpr bool is_integral(ScalarType t, bool include_bool = false) {
  return t <= ScalarType::Long || (include_bool && t == kBool) || is_wide_unsigned(t);
}
/// Gradients exist for floating point and complex tensors only.
constexpr bool is_differentiable(ScalarType t) { return is_floating_point(t) || is_complex(t); }

/// Bytes per element, by dtype.
inline constexpr int8_t kElementBytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 0, 0, 0,
                                           2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,  1, 2, 4, 8,
                                           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 1};
constexpr int64_t element_size(ScalarType t) {
  return size_t(t) < sizeof(kElementBytes) ? kElementBytes[size_t(t)] : 0;
}

/// The name used in libtorch's messages: "Float", "Long", ...
const char* to_string(ScalarType t);
/// The name used when printing as Python does: "float32", "int64", ...
const char* dtype_name(ScalarType t);
/// The inverse of `dtype_name`; also accepts "float", "double", "half", "long", "int", ...
/// Throws TypeError for a name that is no dtype.
ScalarType dtype_from_name(const std::string& name);
std::ostream& operator<<(std::ostream& out, ScalarType t);

/// Whether its numbers may be negative.
bool is_signed(ScalarType t);
/// The smallest dtype that both can be promoted to, by the rules of torch.promote_types.
ScalarType promote_types(ScalarType a, ScalarType b);
/// Whether a result of dtype `from` may be written into an output of dtype `to`.
bool can_cast(ScalarType from, ScalarType to);
/// The dtype of the real and imaginary parts (the dtype itself if it is not complex).
ScalarType to_real_type(ScalarType t);
ScalarType to_complex_type(ScalarType t);

/// Dtype that floating-point creation functions use; float32 until changed.
ScalarType get_default_dtype();
void set_default_dtype(ScalarType t);

/// Compile-time dtype of a C++ type.
template <class T>
constexpr ScalarType dtype_of() {
  using U = std::remove_cv_t<T>;
  return std::is_same_v<U, uint8_t>                                   ? kByte
         : std::is_same_v<U, int8_t> || std::is_same_v<U, char>       ? kChar
         : std::is_same_v<U, int16_t>                                 ? kShort
         : std::is_same_v<U, int32_t>                                 ? kInt
         : std::is_same_v<U, int64_t> || std::is_same_v<U, long long> ? kLong
         : std::is_same_v<U, Half>                                    ? kHalf
         : std::is_same_v<U, float>                                   ? kFloat
         : std::is_same_v<U, double>                                  ? kDouble
         : std::is_same_v<U, complex<float>>                          ? kComplexFloat
         : std::is_same_v<U, complex<double>>                         ? kComplexDouble
         : std::is_same_v<U, bool>                                    ? kBool
         : std::is_same_v<U, BFloat16>                                ? kBFloat16
                                                                      : ScalarType::Undefined;
}

/// The type that arithmetic on T is done in: float for the 16-bit types, T otherwise.
template <class T>
using opmath_t =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class... T>
struct TypeList {};
/// The element types that kernels are made for, by kind.
using FloatTypes = TypeList<float, double, Half, BFloat16>;
using IntTypes = TypeList<int64_t, int32_t, int16_t, int8_t, uint8_t>;
using RealTypes =
    TypeList<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t>;
using RealBoolTypes =
    TypeList<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t, bool>;
using ComplexTypes = TypeList<complex<float>, complex<double>>;
using FloatComplexTypes = TypeList<float, double, Half, BFloat16, complex<float>, complex<double>>;
using IntBoolTypes = TypeList<int64_t, int32_t, int16_t, int8_t, uint8_t, bool>;
using AllTypes = TypeList<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t,
                          bool, complex<float>, complex<double>>;

namespace detail {
/// Place in the order of promotion: bool < integer < floating < complex; undefined is below all.
int category(ScalarType t);
[[noreturn]] void throw_no_dtype(const char* op, ScalarType t);
}

/// Calls `f.template operator()<T>()` with the member of the type list whose dtype is `t`.
/// Throws NotImplementedError ("<op>" not implemented for '<dtype>') if the list lacks it.
template <class... T, class F>
TAEDA_ALWAYS_INLINE void dispatch(TypeList<T...>, const char* op, ScalarType t, F&& f) {
  const bool found = ((t == dtype_of<T>() && (f.template operator()<T>(), true)) || ...);
  if (!found) detail::throw_no_dtype(op, t);
}

}  // namespace taeda::inline v0_2
