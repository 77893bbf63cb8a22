// Formulas of arithmetic.
#pragma once

#include "taeda/kernels/pointwise.h"

namespace taeda {

/// a + alpha * b
struct Add {
  static constexpr const char* name = "add";
  static constexpr int arity = 2;
  using Types = AllTypes;
  Scalar alpha = 1;

  template <class T> struct Bound {
    T alpha;
    TAEDA_HD T operator()(T a, T b) const { return static_cast<T>(a + alpha * b); }
  };
  template <class T> Bound<T> bind() const { return {alpha.to<T>()}; }
};

struct Mul {
  static constexpr const char* name = "mul";
  static constexpr int arity = 2;
  using Types = AllTypes;
  template <class T> TAEDA_HD T operator()(T a, T b) const { return static_cast<T>(a * b); }
};

using ArithmeticOps = OpList<Add, Mul>;

}  // namespace taeda
