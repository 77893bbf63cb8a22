// The tensors in arguments and results.
#pragma once

#include "taeda/nn/parallel/scatter_gather.h"

namespace taeda::inline v0_2::nn::parallel {

/// Calls `f` with each tensor in `x`: a tensor, or containers of them to any depth
/// (scatter_gather.h). Other values are passed over.
template <class T, class F>
void visit_tensors(T& x, const F& f) {
  using detail::Kind;
  using Traits = detail::Traits<std::remove_const_t<T>>;
  if constexpr (!Traits::has_tensors) {
    return;
  } else if constexpr (Traits::kind == Kind::Tensor) {
    f(x);
  } else if constexpr (Traits::kind == Kind::List) {
    for (auto& element : x) visit_tensors(element, f);
  } else if constexpr (Traits::kind == Kind::Tuple) {
    std::apply([&](auto&... element) { (visit_tensors(element, f), ...); }, x);
  } else if constexpr (Traits::kind == Kind::Dict) {
    for (auto& [key, value] : x) visit_tensors(value, f);
  } else {
    if (x) visit_tensors(*x, f);
  }
}

}  // namespace taeda::inline v0_2::nn::parallel
