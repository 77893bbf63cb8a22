// What the forms with `out` are made of (ops/out.h). Not part of the public interface.
#pragma once

#include <tuple>
#include <utility>

#include "taeda/ops/destination.h"

namespace taeda::inline v0_2::detail {

/// What a form with `out` takes for it. tools/ops/out_rules.py says so of each operation.
struct OutRule {
  /// `Castable`: any dtype that the result can be cast to; `Same`: the result's own; `Truth`: bools
  /// or bytes; `Floating`: one that the result can be cast to and that is not complex.
  enum class Dtype : uint8_t { Castable, Same, Truth, Floating };
  /// What `out` may share with an input: `Whole` is all of its memory or none, `None` no element.
  /// Where it may share `Any`, the result is made elsewhere.
  enum class Memory : uint8_t { Whole, None, Any };

  constexpr OutRule(const char* op, Dtype takes = Dtype::Castable, Memory shares = Memory::Whole,
                    bool made_of_none = false)
      : name(op), dtype(takes), memory(shares), silent(made_of_none) {}

  const char* name;
  Dtype dtype;
  Memory memory;
  /// What is made of no tensor was told its sizes: an `out` of others takes them without a warning.
  bool silent;
};

/// Throws Error if a gradient would have to be recorded, for an undefined `out`, and for one that
/// shares more memory with itself or with an input than the rule allows.
void check_out(const OutRule& rule, std::initializer_list<TensorList> tensors);
template <class... Inputs>
void check_out(const OutRule& rule, std::initializer_list<Tensor> out, const Inputs&... inputs) {
  check_out(rule, {TensorList(out.begin(), out.size()), TensorList(inputs)...});
}

/// Gives `out` the sizes and values of `result`, with a warning where it has others and elements.
/// Throws Error for another device, and for a dtype that the rule does not take.
void write_out(const OutRule& rule, Tensor& out, const Tensor& result);

/// The dtype that a sum into `out` is computed in.
inline OptionalDtype dtype_or(OptionalDtype dtype, const Tensor& out) {
  return dtype ? dtype : OptionalDtype(out.dtype());
}

/// `result` of a sequence in the shape of `out` if that has as many elements.
Tensor in_shape_of(const char* name, const Tensor& out, const Tensor& result);

/// The result of `compute()`, which calls the operation, in `out`: written there by the kernel
/// where that is possible (Note [Destinations] in ops/destination.h), else by `write_out`.
template <class Compute>
void compute_out(const OutRule& rule, Tensor& out, Compute&& compute) {
  Destination to(rule.name, out, false);
  if (rule.dtype == OutRule::Dtype::Same) to.take_same_dtype();
  if (const Tensor result = compute(); !to.holds(result)) write_out(rule, out, result);
}
/// A form with `out`: checks, computes and gives `out`.
template <class Compute, class... Inputs>
Tensor& to_out(const OutRule& rule, Tensor& out, Compute&& compute, const Inputs&... inputs) {
  check_out(rule, {out}, inputs...);
  compute_out(rule, out, std::forward<Compute>(compute));
  return out;
}
/// The same for several results.
template <class... Results, class Compute, class... Inputs>
std::tuple<Results&...> to_out(const OutRule& rule, std::tuple<Results&...> out, Compute&& compute,
                               const Inputs&... inputs) {
  const auto each = [&](auto&&... to) {
    check_out(rule, {to...}, inputs...);
    std::apply([&](const auto&... from) { (write_out(rule, to, from), ...); }, compute());
  };
  std::apply(each, out);
  return out;
}

}  // namespace taeda::inline v0_2::detail
