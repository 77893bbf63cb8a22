// The tensors in arguments and results: a tensor, and containers of them to any depth (std::vector,
// std::tuple, std::pair, std::map, OrderedDict, std::optional). Not part of the public interface.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/base/ordered_dict.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn::detail {

/// What kind of container a type is, and whether there are tensors in it.
enum class Kind { Other, Tensor, List, Tuple, Dict, Optional };
template <class T>
struct Traits {
  static constexpr Kind kind = std::is_same_v<T, Tensor> ? Kind::Tensor : Kind::Other;
  static constexpr bool has_tensors = std::is_same_v<T, Tensor>;
};
template <Kind k, class... T>
struct ContainerTraits {
  static constexpr Kind kind = k;
  static constexpr bool has_tensors = (Traits<std::decay_t<T>>::has_tensors || ...);
};
template <class T>
struct Traits<std::vector<T>> : ContainerTraits<Kind::List, T> {};
template <class... T>
struct Traits<std::tuple<T...>> : ContainerTraits<Kind::Tuple, T...> {};
template <class A, class B>
struct Traits<std::pair<A, B>> : ContainerTraits<Kind::Tuple, A, B> {};
template <class K, class T>
struct Traits<std::map<K, T>> : ContainerTraits<Kind::Dict, T> {};
template <class K, class T>
struct Traits<OrderedDict<K, T>> : ContainerTraits<Kind::Dict, T> {};
template <class T>
struct Traits<std::optional<T>> : ContainerTraits<Kind::Optional, T> {};

/// Calls `f` with each tensor in `x`, in order; other values are passed over.
template <class T, class F>
void visit_tensors(T& x, const F& f) {
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

}  // namespace taeda::inline v0_2::nn::detail
