// What formulas of optimizers' steps (step_formulas.h) are made of and listed in.
#pragma once

#include <type_traits>

#include "taeda/base/macros.h"
#include "taeda/kernels/math.h"

namespace taeda::inline v0_2 {

/// Which formula a step has, and its numbers. A plain value, copyable into a queue.
struct StepValues {
  static constexpr int kMost = 14;
  int formula = -1;
  double numbers[kMost] = {};
  bool operator==(const StepValues&) const = default;
};

/// The type of a formula's numbers, by that of its values.
template <class V>
struct FormulaNumber {
  using Type = V;
};
template <class V>
using NumberFor = typename FormulaNumber<V>::Type;

template <class V>
TAEDA_HD V chosen(bool condition, V yes, V no) {
  return condition ? yes : no;
}
template <class V>
TAEDA_HD V root_of(V x) {
  return math::sqrt(x);
}

/// Formulas by their numbers.
template <template <class> class... F>
struct FormulaList {
  /// Calls `f.template operator()<F>()` for the formula of that number.
  template <class Function>
  static void with(int number, Function&& f) {
    int i = 0;
    ((i++ == number ? f.template operator()<F>() : void()), ...);
  }
  template <template <class> class G>
  static constexpr int number_of() {
    int i = 0, found = -1;
    ((std::is_same_v<F<double>, G<double>> ? found = i++ : i++), ...);
    return found;
  }
};

}  // namespace taeda::inline v0_2
