// What the forms with `out` are made of (ops/out.h). Not part of the public interface.
#pragma once

#include <tuple>

#include "taeda/ops/destination.h"

namespace taeda::inline v0_2::detail {

/// Throws Error if a gradient would have to be recorded, and for an undefined `out`.
void check_out(const char* name, std::initializer_list<TensorList> tensors);
template <class... Inputs>
void check_out(const char* name, std::initializer_list<Tensor> out, const Inputs&... inputs) {
  check_out(name, {TensorList(out.begin(), out.size()), TensorList(inputs)...});
}

/// Gives `out` the sizes and values of `result`, with a warning where it has others and elements.
/// Throws Error for another device, and if the result cannot be cast to out's dtype.
void write_out(Tensor& out, const Tensor& result);
/// `silently`: without the warning, for what is made of no tensor but of sizes.
void write_out(Tensor& out, const Tensor& result, bool silently);

/// `result` of a sequence in the shape of `out` if that has as many elements.
Tensor in_shape_of(const char* name, const Tensor& out, const Tensor& result);

/// The result of `compute()`, which calls operation `name`, in `out`: written there by the kernel
/// where that is possible (Note [Destinations] in ops/destination.h), else by `write_out`.
template <class Compute>
void compute_out(const char* name, Tensor& out, Compute&& compute, bool silently = false) {
  const Destination to(name, out, false);
  if (const Tensor result = compute(); !to.holds(result)) write_out(out, result, silently);
}
template <class... Results>
void write_out(std::tuple<Results&...> out, const std::tuple<Results...>& results) {
  std::apply(
      [&](auto&... to) {
        std::apply([&](const auto&... from) { (write_out(to, from), ...); }, results);
      },
      out);
}

}  // namespace taeda::detail
