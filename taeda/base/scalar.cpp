#include "taeda/base/scalar.h"

#include <ostream>

namespace taeda::inline v0_2 {

std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  if (s.is_boolean()) return out << (s.toBool() ? "true" : "false");
  if (s.is_integral()) return out << s.toLong();
  if (s.is_complex()) {
    const auto z = s.to<std::complex<double>>();
    return out << z.real() << (z.imag() < 0 ? "-" : "+") << (z.imag() < 0 ? -z.imag() : z.imag())
               << "j";
  }
  return out << s.toDouble();
}

}  // namespace taeda
