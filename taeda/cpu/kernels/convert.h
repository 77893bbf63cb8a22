// Conversion between dtypes, for copies and for pointwise kernels whose operands differ.
#pragma once

#include "taeda/base/dtype.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// The conversion of numbers of dtype `from` to dtype `to`.
class Conversion {
 public:
  Conversion() = default;
  Conversion(ScalarType to, ScalarType from);

  ScalarType from() const { return from_; }
  /// Converts n elements; strides are in bytes.
  void run(char* out, int64_t out_stride, const char* in, int64_t in_stride, int64_t n) const {
    run_(*this, out, out_stride, in, in_stride, n);
  }

 private:
  using Run = void (*)(const Conversion&, char* out, int64_t out_stride, const char* in,
                       int64_t in_stride, int64_t n);
  template <class To, class From>
  static void run_direct(const Conversion&, char* out, int64_t out_stride, const char* in,
                         int64_t in_stride, int64_t n);
  template <class Wide>
  static void run_staged(const Conversion&, char* out, int64_t out_stride, const char* in,
                         int64_t in_stride, int64_t n);
  template <class To, class... From>
  bool choose_direct();

  ScalarType to_ = ScalarType::Undefined, from_ = ScalarType::Undefined;
  Run run_ = nullptr;
};

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
