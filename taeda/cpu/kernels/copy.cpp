// Filling, and copies between dtypes and layouts.
//
// A copy within one dtype moves bytes and only knows their number. Conversions that training uses a
// lot have a loop of their own; the others go through a block of the widest type of their kind
// (int64, double or complex<double>), so that 12 dtypes need 12 loops in and out instead of 144.
#include "taeda/kernels/copy.h"

#include "taeda/cpu/kernels/convert.h"
#include "taeda/cpu/kernels/half_rows.h"
#include "taeda/cpu/kernels/loops.h"
#include "taeda/cpu/kernels/move.h"
#include "taeda/kernels/complex_type.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

template <class To, class From>
To convert(From v) {
  if constexpr (std::is_same_v<To, From>)
    return v;
  else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>)
      return To(v);
    else if constexpr (std::is_same_v<To, bool>)
      return v.re != 0 || v.im != 0;
    else
      return convert<To>(v.re);
  } else if constexpr (is_complex_v<To>) {
    return To(static_cast<typename To::value_type>(static_cast<opmath_t<From>>(v)));
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<opmath_t<From>>(v) != 0;
  } else if constexpr (std::is_same_v<To, uint8_t> && std::is_floating_point_v<opmath_t<From>>) {
    // Out-of-range values wrap as they do in PyTorch, instead of being undefined.
    return static_cast<uint8_t>(static_cast<int64_t>(static_cast<opmath_t<From>>(v)));
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(v));
  } else {
    return static_cast<To>(static_cast<opmath_t<From>>(v));
  }
}

template <class To, class From>
void convert_loop(char* out, int64_t out_stride, const char* in, int64_t in_stride, int64_t n) {
  if (out_stride == sizeof(To) && in_stride == sizeof(From)) {
    To* to = reinterpret_cast<To*>(out);
    const From* from = reinterpret_cast<const From*>(in);
    if constexpr (std::is_same_v<To, float> && std::is_same_v<From, Half>)
      return widen(to, from, n);
    if constexpr (std::is_same_v<To, Half> && std::is_same_v<From, float>)
      return narrow(to, from, n);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(element<From>(from, i));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<To*>(out + i * out_stride) =
        convert<To>(element<From>(in + i * in_stride, 0));
}

/// An element of 16 bytes.
struct Sixteen {
  uint64_t low, high;
};

}  // namespace

template <class To, class From>
void Conversion::run_direct(const Conversion&, char* out, int64_t out_stride, const char* in,
                            int64_t in_stride, int64_t n) {
  convert_loop<To, From>(out, out_stride, in, in_stride, n);
}

/// Through blocks of type Wide.
template <class Wide>
void Conversion::run_staged(const Conversion& c, char* out, int64_t out_stride, const char* in,
                            int64_t in_stride, int64_t n) {
  constexpr int64_t kBlock = 256;
  alignas(64) Wide block[kBlock];
  char* const stage = reinterpret_cast<char*>(block);
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t m = std::min(kBlock, n - at);
    dispatch(AllTypes{}, "copy", c.from_, [&]<class From>() {
      convert_loop<Wide, From>(stage, sizeof(Wide), in + at * in_stride, in_stride, m);
    });
    dispatch(AllTypes{}, "copy", c.to_, [&]<class To>() {
      convert_loop<To, Wide>(out + at * out_stride, out_stride, stage, sizeof(Wide), m);
    });
  }
}

/// Takes the loop of the pair (To, From) if it is on the list.
template <class To, class... From>
bool Conversion::choose_direct() {
  return to_ == dtype_of<To>() &&
         ((from_ == dtype_of<From>() && (run_ = &run_direct<To, From>, true)) || ...);
}

Conversion::Conversion(ScalarType to, ScalarType from) : to_(to), from_(from) {
  if (choose_direct<float, double, Half, BFloat16, int64_t, int32_t, uint8_t, bool>() ||
      choose_direct<double, float, int64_t>() || choose_direct<int64_t, float, int32_t, bool>() ||
      choose_direct<int32_t, int64_t>() || choose_direct<BFloat16, float>() ||
      choose_direct<Half, float>() || choose_direct<bool, float>())
    return;
  run_ = is_complex(from)          ? &run_staged<complex<double>>
         : is_floating_point(from) ? &run_staged<double>
                                   : &run_staged<int64_t>;
}

namespace {

void copy_kernel(const Iter& it) {
  const ScalarType from = it.common_dtype(), to = it.output_dtype();
  if (from == to) {
    switch (element_size(from)) {
      case 1: return move_elements<uint8_t>(it);
      case 2: return move_elements<uint16_t>(it);
      case 4: return move_elements<uint32_t>(it);
      case 8: return move_elements<uint64_t>(it);
      default: return move_elements<Sixteen>(it);
    }
  }
  const Conversion c(to, from);
  it.for_each([&c](char** d, const int64_t* s, int64_t n) { c.run(d[0], s[0], d[1], s[1], n); });
}

/// A 16-bit float is rounded once and written as its bits.
void fill_kernel(const Iter& it, const FunctorBytes& bytes) {
  const ScalarType t = it.common_dtype();
  if (it.is_mixed() || (t != kHalf && t != kBFloat16))
    return pointwise_kernel<Fill, false>(it, bytes);
  const auto value = bytes.as<Fill>().value.to<float>();
  const uint16_t bits = t == kHalf ? Half(value).bits : BFloat16(value).bits;
  run_formula<Fill, false, uint16_t>(it, Fill::Bound<uint16_t>{bits}, kShort, {});
}

}  // namespace

void register_copy() {
  pointwise_slot<Fill>.set(kCPU, &fill_kernel);
  copy_slot.set(kCPU, &copy_kernel);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
