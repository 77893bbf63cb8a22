#include "taeda/base/dtype.h"

#include <atomic>
#include <ostream>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace {

struct Names {
  ScalarType type;
  const char* libtorch;
  const char* python;
};

constexpr Names kNames[] = {
    {kByte, "Byte", "uint8"},
    {kChar, "Char", "int8"},
    {kShort, "Short", "int16"},
    {kInt, "Int", "int32"},
    {kLong, "Long", "int64"},
    {kHalf, "Half", "float16"},
    {kFloat, "Float", "float32"},
    {kDouble, "Double", "float64"},
    {kComplexHalf, "ComplexHalf", "complex32"},
    {kComplexFloat, "ComplexFloat", "complex64"},
    {kComplexDouble, "ComplexDouble", "complex128"},
    {kBool, "Bool", "bool"},
    {kBFloat16, "BFloat16", "bfloat16"},
    {kFloat8_e5m2, "Float8_e5m2", "float8_e5m2"},
    {kFloat8_e4m3fn, "Float8_e4m3fn", "float8_e4m3fn"},
    {kFloat8_e5m2fnuz, "Float8_e5m2fnuz", "float8_e5m2fnuz"},
    {kFloat8_e4m3fnuz, "Float8_e4m3fnuz", "float8_e4m3fnuz"},
    {kFloat8_e8m0fnu, "Float8_e8m0fnu", "float8_e8m0fnu"},
    {kUInt16, "UInt16", "uint16"},
    {kUInt32, "UInt32", "uint32"},
    {kUInt64, "UInt64", "uint64"},
    {ScalarType::Undefined, "Undefined", "undefined"},
};

const Names& names_of(ScalarType t) {
  for (const Names& n : kNames)
    if (n.type == t) return n;
  return kNames[std::size(kNames) - 1];
}

std::atomic<ScalarType> default_dtype{kFloat};

/// Throws Error, as PyTorch does, where a dtype that is not computed with has no common one.
void check_promotes(ScalarType a, ScalarType b) {
  TAEDA_CHECK(!is_float8(a) && !is_float8(b),
              "Promotion for Float8 Types is not supported, attempted to promote ", a, " and ", b);
  const bool wide = is_wide_unsigned(a) || is_wide_unsigned(b);
  TAEDA_CHECK(!wide || detail::category(a) > 1 || detail::category(b) > 1,
              "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ",
              a, " and ", b);
}

}  // namespace

int detail::category(ScalarType t) {
  if (t == ScalarType::Undefined) return -1;
  if (t == kBool) return 0;
  return is_complex(t) ? 3 : is_floating_point(t) ? 2 : 1;
}

const char* to_string(ScalarType t) { return names_of(t).libtorch; }
const char* dtype_name(ScalarType t) { return names_of(t).python; }
std::ostream& operator<<(std::ostream& out, ScalarType t) { return out << to_string(t); }

ScalarType dtype_from_name(const std::string& name) {
  for (const Names& n : kNames)
    if (n.type != ScalarType::Undefined && (name == n.python || name == n.libtorch)) return n.type;
  static constexpr struct {
    const char* alias;
    ScalarType type;
  } kAliases[] = {{"float", kFloat},
                  {"double", kDouble},
                  {"half", kHalf},
                  {"long", kLong},
                  {"int", kInt},
                  {"short", kShort},
                  {"chalf", kComplexHalf},
                  {"cfloat", kComplexFloat},
                  {"cdouble", kComplexDouble}};
  for (const auto& a : kAliases)
    if (name == a.alias) return a.type;
  throw TypeError(detail::concat("'", name, "' is not a dtype"));
}

bool is_signed(ScalarType t) {
  return t != kByte && t != kBool && t != kFloat8_e8m0fnu && !is_wide_unsigned(t);
}

ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) return ScalarType::Undefined;
  check_promotes(a, b);
  if (detail::category(a) > detail::category(b)) std::swap(a, b);
  if (detail::category(a) != detail::category(b)) {
    // A complex result keeps the precision of a wider real operand.
    return is_complex(b) && is_floating_point(a) ? promote_types(to_complex_type(a), b) : b;
  }
  switch (detail::category(a)) {
    case 1:
      if (element_size(a) == element_size(b)) return kShort;  // uint8 with int8
      return element_size(a) > element_size(b) ? a : b;
    case 2:
      if (element_size(a) == element_size(b)) return kFloat;  // float16 with bfloat16
      return element_size(a) > element_size(b) ? a : b;
    default: return element_size(a) > element_size(b) ? a : b;
  }
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating_point(from) && is_integral(to, false)) return false;
  return from == kBool || to != kBool;
}

ScalarType to_real_type(ScalarType t) {
  return t == kComplexHalf     ? kHalf
         : t == kComplexFloat  ? kFloat
         : t == kComplexDouble ? kDouble
                               : t;
}

ScalarType to_complex_type(ScalarType t) {
  if (t == kHalf || t == kComplexHalf) return kComplexHalf;
  return t == kDouble || t == kComplexDouble ? kComplexDouble : kComplexFloat;
}

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType t) {
  TAEDA_CHECK_TYPE(is_floating_point(t) && !is_stored(t),
                   "only floating-point types are supported as the default type, but got ",
                   to_string(t));
  default_dtype.store(t, std::memory_order_relaxed);
}

void detail::throw_no_dtype(const char* op, ScalarType t) {
  throw NotImplementedError(
      detail::concat("\"", op, "\" not implemented for '", to_string(t), "'"));
}

}  // namespace taeda::inline v0_2
