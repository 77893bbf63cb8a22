#include "taeda/base/scalar.h"

#include <cmath>
#include <ostream>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

namespace {

/// Infinities and NaN are numbers of every type with fractions.
bool holds(double v, double lowest, double most, bool integral) {
  return (!integral && !std::isfinite(v)) || (v >= lowest && v <= most);
}

}  // namespace

bool Scalar::fits(const Range& range) const {
  if (range.most == 0) return true;  // bool
  if (is_complex() && !range.complex && imag_ != 0) return false;
  if (is_floating_point() || is_complex())
    return holds(value_.d, range.lowest, range.most, range.integral) &&
           holds(imag_, range.lowest, range.most, range.integral);
  // Every int64 is one modulo 2^64, and only fractions and uint64 have numbers beyond.
  if (kind_ == kUInt64 && range.integral) return range.lowest == 0 && range.most > 0x1p62;
  if (range.integral && range.most > 0x1p62) return true;
  const double lowest = range.lowest == 0 ? -range.most : range.lowest;
  return holds(real(), lowest, range.most, range.integral);
}

void Scalar::check_fits(const Range& range) const {
  TAEDA_CHECK(fits(range), "value cannot be converted to type ", range.type, " without overflow");
}

std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  if (s.is_boolean()) return out << (s.toBool() ? "true" : "false");
  if (s.type() == kUInt64) return out << s.to<uint64_t>();
  if (s.is_integral()) return out << s.toLong();
  if (s.is_complex()) {
    const auto z = s.to<std::complex<double>>();
    return out << z.real() << (z.imag() < 0 ? "-" : "+") << (z.imag() < 0 ? -z.imag() : z.imag())
               << "j";
  }
  return out << s.toDouble();
}

}  // namespace taeda::inline v0_2
