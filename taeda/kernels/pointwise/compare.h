// Formulas of comparison, logic and selection.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2 {

struct Eq : Pointwise<2, AllTypes> {
  static constexpr const char* name = "eq";
  template <class T>
  TAEDA_HD bool operator()(T a, T b) const {
    return a == b;
  }
};

struct Ne : Pointwise<2, AllTypes> {
  static constexpr const char* name = "ne";
  template <class T>
  TAEDA_HD bool operator()(T a, T b) const {
    return !(a == b);
  }
};

struct Lt : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "lt";
  template <class T>
  TAEDA_HD bool operator()(T a, T b) const {
    return a < b;
  }
};

struct Le : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "le";
  template <class T>
  TAEDA_HD bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct Gt : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "gt";
  template <class T>
  TAEDA_HD bool operator()(T a, T b) const {
    return a > b;
  }
};

struct Ge : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "ge";
  template <class T>
  TAEDA_HD bool operator()(T a, T b) const {
    return a >= b;
  }
};

/// Operands are masks: operations convert them to bool first.
struct LogicalAnd {
  static constexpr const char* name = "logical_and";
  static constexpr int arity = 2;
  using Types = TypeList<bool>;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a & b;
  }
};

struct LogicalOr {
  static constexpr const char* name = "logical_or";
  static constexpr int arity = 2;
  using Types = TypeList<bool>;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a | b;
  }
};

struct LogicalXor {
  static constexpr const char* name = "logical_xor";
  static constexpr int arity = 2;
  using Types = TypeList<bool>;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a ^ b;
  }
};

struct LogicalNot {
  static constexpr const char* name = "logical_not";
  static constexpr int arity = 1;
  using Types = TypeList<bool>;
  template <class T>
  TAEDA_HD T operator()(T a) const {
    return !a;
  }
};

struct BitwiseAnd : Pointwise<2, IntBoolTypes> {
  static constexpr const char* name = "bitwise_and";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitwiseOr : Pointwise<2, IntBoolTypes> {
  static constexpr const char* name = "bitwise_or";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitwiseXor : Pointwise<2, IntBoolTypes> {
  static constexpr const char* name = "bitwise_xor";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct BitwiseNot : Pointwise<1, IntBoolTypes> {
  static constexpr const char* name = "bitwise_not";
  template <class T>
  TAEDA_HD T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};

namespace detail {
template <class T>
TAEDA_HD bool is_nan(T x) {
  return x != x;
}
template <class T>
TAEDA_HD bool is_nan(complex<T> x) {
  return x.re != x.re || x.im != x.im;
}
template <class T>
TAEDA_HD bool is_finite(T x) {
  return x - x == T(0);
}
template <class T>
TAEDA_HD bool is_finite(complex<T> x) {
  return is_finite(x.re) && is_finite(x.im);
}
template <class T>
TAEDA_HD bool is_inf(T x) {
  return x == x && x - x != T(0);
}
template <class T>
TAEDA_HD bool is_inf(complex<T> x) {
  return is_inf(x.re) || is_inf(x.im);
}
}  // namespace detail

struct IsNan : Pointwise<1, FloatComplexTypes> {
  static constexpr const char* name = "isnan";
  template <class T>
  TAEDA_HD bool operator()(T x) const {
    return detail::is_nan(x);
  }
};

struct IsInf : Pointwise<1, FloatComplexTypes> {
  static constexpr const char* name = "isinf";
  template <class T>
  TAEDA_HD bool operator()(T x) const {
    return detail::is_inf(x);
  }
};

struct IsFinite : Pointwise<1, FloatComplexTypes> {
  static constexpr const char* name = "isfinite";
  template <class T>
  TAEDA_HD bool operator()(T x) const {
    return detail::is_finite(x);
  }
};

/// condition ? a : b
struct Where : Pointwise<3, AllTypes> {
  static constexpr const char* name = "where";
  static constexpr int masks = 1;
  template <class T>
  TAEDA_HD T operator()(bool condition, T a, T b) const {
    return condition ? a : b;
  }
};

/// condition ? x : 0, the gradient of a selection.
struct Masked : Pointwise<2, FloatComplexTypes> {
  static constexpr const char* name = "masked";
  static constexpr int masks = 1;
  template <class T>
  TAEDA_HD T operator()(bool condition, T x) const {
    return condition ? x : T(0);
  }
};

/// |a - b| <= atol + rtol |b|, or a == b (infinities), or both NaN if `equal_nan`.
struct IsClose {
  static constexpr const char* name = "isclose";
  static constexpr int arity = 2;
  using Types = TypeList<float, double>;
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;

  template <class T>
  TAEDA_HD bool operator()(T a, T b) const {
    if (a == b || (equal_nan && a != a && b != b)) return true;
    const T error = std::fabs(a - b);
    return detail::is_finite(error) &&
           error <= static_cast<T>(atol) + std::fabs(static_cast<T>(rtol) * b);
  }
};

using CompareOps =
    OpList<Eq, Ne, Lt, Le, Gt, Ge, LogicalAnd, LogicalOr, LogicalXor, LogicalNot, BitwiseAnd,
           BitwiseOr, BitwiseXor, BitwiseNot, IsNan, IsInf, IsFinite, Where, Masked, IsClose>;

}  // namespace taeda
