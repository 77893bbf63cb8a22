#include "taeda/tensor/promote.h"

#include "taeda/tensor/result_type.h"

namespace taeda::inline v0_2 {

using detail::category;

namespace {

/// The dtype that a number has in promotion.
ScalarType scalar_dtype(const Scalar& s) {
  if (s.is_floating_point()) return get_default_dtype();
  if (s.is_complex()) return to_complex_type(get_default_dtype());
  return s.type();
}

ScalarType join(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) return b;
  if (b == ScalarType::Undefined) return a;
  return promote_types(a, b);
}

/// `higher` wins unless `lower` is of a higher category; then it is promoted. A complex `lower`
/// makes a floating `higher` complex, but not more precise.
ScalarType combine(ScalarType higher, ScalarType lower) {
  if (category(higher) >= category(lower)) return higher;
  if (is_floating_point(higher)) return to_complex_type(higher);
  return join(higher, lower);
}

}  // namespace

ScalarType result_type(ArrayRef<Operand> operands) {
  ScalarType dims = ScalarType::Undefined, zero_dim = dims, numbers = dims;
  for (const Operand& o : operands) {
    if (!o.tensor())
      numbers = join(numbers, scalar_dtype(o.scalar()));
    else if (o.tensor()->dim() > 0)
      dims = join(dims, o.tensor()->dtype());
    else
      zero_dim = join(zero_dim, o.tensor()->dtype());
  }
  return combine(dims, combine(zero_dim, numbers));
}

namespace {
ScalarType type_of_both(const Operand& a, const Operand& b) {
  const Operand both[] = {a, b};
  return result_type(both);
}
}  // namespace

ScalarType result_type(const Tensor& a, const Tensor& b) { return type_of_both(a, b); }
ScalarType result_type(const Tensor& a, const Scalar& b) { return type_of_both(a, b); }
ScalarType result_type(const Scalar& a, const Tensor& b) { return type_of_both(a, b); }
ScalarType result_type(const Scalar& a, const Scalar& b) { return type_of_both(a, b); }

}  // namespace taeda
