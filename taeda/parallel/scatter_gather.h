// Arguments to several devices and results back: tensors, and containers of them to any depth
// (nn/visit_tensors.h).
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/nn/visit_tensors.h"
#include "taeda/parallel/comm.h"

namespace taeda::inline v0_2::nn::parallel {

namespace detail {

using nn::detail::Kind, nn::detail::Traits;

// Entries of both kinds of dictionaries, under one name.
template <class K, class T>
T* entry(std::map<K, T>& dict, const K& key) {
  const auto it = dict.find(key);
  return it == dict.end() ? nullptr : &it->second;
}
template <class K, class T>
T* entry(OrderedDict<K, T>& dict, const K& key) {
  return dict.find(key);
}

/// Splits arguments, and notes how many parts their tensors make.
class Splitter {
 public:
  Splitter(const std::vector<Device>& devices, int64_t dim) : devices_(devices), dim_(dim) {}

  /// The part of `x` for each device. Only the first `parts()` count, once all have been split.
  template <class T>
  std::vector<T> split(const T& x) {
    std::vector<T> out(devices_.size(), x);
    if constexpr (!Traits<T>::has_tensors) {
      return out;
    } else if constexpr (Traits<T>::kind == Kind::Tensor) {
      if (x.defined()) out = split_tensor(x);
    } else if constexpr (Traits<T>::kind == Kind::List) {
      for (size_t k = 0; k < x.size(); ++k)
        deal(out, split(x[k]), [k](T& part) { return &part[k]; });
    } else if constexpr (Traits<T>::kind == Kind::Tuple) {
      split_elements(x, out, std::make_index_sequence<std::tuple_size_v<T>>());
    } else if constexpr (Traits<T>::kind == Kind::Dict) {
      for (const auto& [key, value] : x)
        deal(out, split(value), [&k = key](T& part) { return entry(part, k); });
    } else {
      if (x) deal(out, split(*x), [](T& part) { return &*part; });
    }
    return out;
  }
  size_t parts() const { return parts_.value_or(devices_.size()); }

 private:
  /// Throws ValueError if another tensor made another number of parts.
  std::vector<Tensor> split_tensor(const Tensor& t);
  template <class T, size_t... I>
  void split_elements(const T& x, std::vector<T>& out, std::index_sequence<I...>) {
    (deal(out, split(std::get<I>(x)), [](T& part) { return &std::get<I>(part); }), ...);
  }
  template <class T, class E, class Place>
  static void deal(std::vector<T>& out, std::vector<E> parts, const Place& place) {
    for (size_t i = 0; i < parts.size(); ++i) *place(out[i]) = std::move(parts[i]);
  }

  const std::vector<Device>& devices_;
  const int64_t dim_;
  std::optional<size_t> parts_;
};

template <class T>
constexpr bool kCannotGather = false;

}  // namespace detail

/// Cuts the tensors in `inputs` into chunks along `dim`, one for each device, and copies the rest:
/// one result for each chunk, fewer than devices where a batch is too small. Differentiable.
/// Throws ValueError where tensors have different numbers of chunks.
template <class T>
std::vector<T> scatter(const T& inputs, const std::vector<Device>& devices, int64_t dim = 0) {
  detail::Splitter splitter(devices, dim);
  std::vector<T> out = splitter.split(inputs);
  out.resize(splitter.parts(), inputs);
  return out;
}

/// Puts the tensors in the outputs together along `dim` on one device; scalars become a vector.
/// Undefined tensors and empty optionals are taken from the first output. Differentiable.
/// Throws ValueError for containers of different sizes or keys.
template <class T>
T gather(const std::vector<T>& outputs, Device target, int64_t dim = 0) {
  using detail::Kind;
  constexpr Kind kind = detail::Traits<T>::kind;
  TAEDA_CHECK(!outputs.empty(), "gather: expected at least one output");
  const auto each = [&](const auto& get) {
    std::vector<std::decay_t<decltype(get(outputs[0]))>> elements;
    for (const T& o : outputs) elements.push_back(get(o));
    return gather(elements, target, dim);
  };
  const auto check_sizes = [](const auto& containers, const char* what, const char* of) {
    for (const auto& c : containers)
      TAEDA_CHECK_VALUE(c.size() == containers[0].size(), "All ", what,
                        " must have the same number of ", of);
  };
  if constexpr (kind == Kind::Tensor) {
    return outputs[0].defined() ? gather_tensors(outputs, target, dim) : Tensor();
  } else if constexpr (kind == Kind::List) {
    check_sizes(outputs, "lists", "elements");
    T out;
    for (size_t k = 0; k < outputs[0].size(); ++k)
      out.push_back(each([k](const T& o) { return o[k]; }));
    return out;
  } else if constexpr (kind == Kind::Tuple) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return T{each([](const T& o) { return std::get<I>(o); })...};
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (kind == Kind::Dict) {
    check_sizes(outputs, "dicts", "keys");
    T out = outputs[0];
    for (const auto& [key, value] : outputs[0])
      *detail::entry(out, key) = each([&k = key](const T& o) {
        const auto* found = detail::entry(const_cast<T&>(o), k);
        TAEDA_CHECK_VALUE(found, "All dicts must have the same keys");
        return *found;
      });
    return out;
  } else if constexpr (kind == Kind::Optional) {
    if (!outputs[0]) return {};
    return each([](const T& o) { return o.value(); });
  } else {
    static_assert(
        detail::kCannotGather<T>,
        "the results of replicas can be gathered if they are tensors, or vectors, tuples, "
        "pairs, maps, dictionaries or optionals of what can be gathered");
  }
}

}  // namespace taeda::nn::parallel
