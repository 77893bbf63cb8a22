// Filling, and copies between dtypes and layouts.
#include "taeda/kernels/copy.h"

#include "taeda/cpu/kernels/loops.h"

namespace taeda::cpu::TAEDA_CPU_NAMESPACE {

namespace {

template <class To, class From> To convert(From v) {
  if constexpr (std::is_same_v<To, From>) return v;
  else if constexpr (requires { typename From::value_type; }) {
    if constexpr (requires { typename To::value_type; }) return To(v);
    else if constexpr (std::is_same_v<To, bool>) return v.re != 0 || v.im != 0;
    else return convert<To>(v.re);
  } else if constexpr (requires { typename To::value_type; }) {
    return To(static_cast<typename To::value_type>(static_cast<opmath_t<From>>(v)));
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<opmath_t<From>>(v) != 0;
  } else if constexpr (std::is_same_v<To, uint8_t> && std::is_floating_point_v<opmath_t<From>>) {
    // Out-of-range values wrap as they do in PyTorch, instead of being undefined.
    return static_cast<uint8_t>(static_cast<int64_t>(static_cast<opmath_t<From>>(v)));
  } else {
    return static_cast<To>(static_cast<opmath_t<From>>(v));
  }
}

template <class To, class From>
void copy_loop(char** data, const int64_t* strides, int64_t n) {
  if (strides[0] == sizeof(To) && strides[1] == sizeof(From)) {
    To* out = reinterpret_cast<To*>(data[0]);
    const From* in = reinterpret_cast<const From*>(data[1]);
    if constexpr (std::is_same_v<To, From>) {
      std::memmove(out, in, static_cast<size_t>(n) * sizeof(To));
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(in[i]);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<To*>(data[0] + i * strides[0]) =
        convert<To>(*reinterpret_cast<const From*>(data[1] + i * strides[1]));
}

void copy_kernel(const Iter& it) {
  dispatch(AllTypes{}, "copy", it.common_dtype(), [&]<class From>() {
    dispatch(AllTypes{}, "copy", it.output_dtype(), [&]<class To>() {
      it.for_each([](char** d, const int64_t* s, int64_t n) { copy_loop<To, From>(d, s, n); });
    });
  });
}

}  // namespace

void register_copy() {
  register_pointwise<OpList<Fill>>();
  copy_slot.set(kCPU, &copy_kernel);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
