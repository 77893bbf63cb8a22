#include "taeda/distributed/group/reduce_functions.h"

#include <concepts>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

namespace {

template <class T>
concept Whole = std::integral<T> && !std::same_as<T, bool>;

template <class T>
concept Ordered = !std::same_as<T, complex<float>> && !std::same_as<T, complex<double>>;

// For bool a sum is `or` and a product `and`. Integers wrap around.
struct Add {
  template <class T>
  static T of(T a, T b) {
    if constexpr (Whole<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    else if constexpr (std::same_as<T, bool>)
      return a | b;
    else
      return a + b;
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    if constexpr (Whole<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else if constexpr (std::same_as<T, bool>)
      return a & b;
    else
      return a * b;
  }
};
// NaN wins, as in PyTorch's reductions.
struct Min {
  template <Ordered T>
  static T of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
struct Max {
  template <Ordered T>
  static T of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct And {
  template <std::integral T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <std::integral T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <std::integral T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class Op, class T>
void combine(void* out, const void* a, const void* b, size_t n) {
  T* o = static_cast<T*>(out);
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i) o[i] = static_cast<T>(Op::template of<opmath_t<T>>(x[i], y[i]));
}

template <class Op>
ReduceFunction function_for(ScalarType dtype) {
  ReduceFunction out = nullptr;
  dispatch(AllTypes(), "reduce", dtype, [&]<class T>() {
    if constexpr (requires(opmath_t<T> x) { Op::template of<opmath_t<T>>(x, x); })
      out = &combine<Op, T>;
  });
  return out;
}

ReduceFunction find_function(ReduceOp::Kind op, ScalarType dtype) {
  switch (op) {
    case ReduceOp::SUM: return function_for<Add>(dtype);
    case ReduceOp::PRODUCT: return function_for<Multiply>(dtype);
    case ReduceOp::MIN: return function_for<Min>(dtype);
    case ReduceOp::MAX: return function_for<Max>(dtype);
    case ReduceOp::BAND: return function_for<And>(dtype);
    case ReduceOp::BOR: return function_for<Or>(dtype);
    case ReduceOp::BXOR: return function_for<Xor>(dtype);
    default: return nullptr;
  }
}

}  // namespace

ReduceFunction reduce_function(ReduceOp::Kind op, ScalarType dtype) {
  const ReduceFunction out = find_function(op, dtype);
  TAEDA_INTERNAL_ASSERT(out, "no ", to_string(op), " of ", dtype);
  return out;
}

}  // namespace taeda::distributed
