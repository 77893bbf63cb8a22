// Memory that is there before a result is: how a form in place or with `out` lets the operation
// that it calls write where the result shall be. Not part of the public interface.
#pragma once

#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::detail {

/// Note [Destinations]
/// A form that is made from a declaration calls the operation as anyone does, with a Destination on
/// the stack. The kernel that bears the operation's name takes it in place of fresh memory if its
/// result fits. An operation that is made of others has no such kernel, and its form copies what
/// comes back; so does one whose result has another shape, or whose inputs lie in the same memory
/// in another order. Operations know nothing of all that: they get the memory of their results from
/// `pointwise` (`pointwise_as` where the formula has another name) and `make_result`.
class Destination {
 public:
  /// Offers `to` to the kernel of operation `op`, whose in-place form may be meant ("exp_"). If the
  /// change is `recorded`, the result must not share memory with an input: the closure could have
  /// saved it.
  Destination(const char* op, const Tensor& to, bool recorded);
  ~Destination() { innermost_ = outer_; }
  Destination(const Destination&) = delete;
  Destination& operator=(const Destination&) = delete;

  /// Only a result of to's dtype belongs there, none that is cast to it.
  void take_same_dtype() { same_dtype_ = true; }

  /// Whether `result`, which the operation returned, was written where it belongs.
  bool holds(const Tensor& result) const { return taken_.defined() && taken_.is_same(result); }

  static bool is_offered() { return __builtin_expect(innermost_ != nullptr, 0); }
  /// The memory for the result of the pointwise kernel `name` if there is some and it fits: a
  /// tensor without a history, whose version counts the change already. Else undefined.
  static Tensor take(const char* name, ArrayRef<Operand> inputs, ScalarType result);
  /// The same for a kernel that reads inputs at other positions than it writes, and writes
  /// row-major memory of its own dtype.
  static Tensor take(const char* name, ArrayRef<const Tensor*> inputs, IntArrayRef sizes,
                     ScalarType result, Device device);
  /// The same for one that reads a position before it writes it, and no other, if `in_step`.
  static Tensor take(const char* name, ArrayRef<const Tensor*> inputs, IntArrayRef sizes,
                     ScalarType result, Device device, bool in_step);

 private:
  bool is_for(const char* name) const;
  bool accepts(ScalarType result) const;
  Tensor take();

  const char* op_;
  const Tensor& to_;
  Tensor taken_;
  Destination* outer_;
  bool recorded_, same_dtype_;

  static constinit thread_local Destination* innermost_ __attribute__((tls_model("initial-exec")));
};

/// Row-major memory for the result of the kernel `name`, which reads `inputs`: what a form offers,
/// or fresh.
inline Tensor make_result(const char* name, ArrayRef<const Tensor*> inputs, IntArrayRef sizes,
                          ScalarType dtype, Device device, bool in_step = false) {
  if (Destination::is_offered())
    if (Tensor out = Destination::take(name, inputs, sizes, dtype, device, in_step); out.defined())
      return out;
  return make_tensor(sizes, dtype, device);
}

}  // namespace taeda::inline v0_2::detail
