// Examples into a batch, as torch.utils.data.default_collate: tensors are stacked, numbers become
// tensors, structures are collated member by member, strings stay a list.
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/data/example.h"
#include "taeda/data/gather.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::data {

/// Collates lists of T. Specialise it for a type of your own: a `Batch` type and a static
/// `Batch make(const std::vector<T>&)`.
template <class T>
struct Collate;

/// The batch made of the examples; throws Error when shapes or lengths differ, or for no examples.
template <class T>
typename Collate<T>::Batch collate(const std::vector<T>& examples) {
  TAEDA_CHECK(!examples.empty(), "collate expects at least one example");
  return Collate<T>::make(examples);
}

namespace detail {

/// Collates one member of every example.
template <class T, class F>
auto collate_member(const std::vector<T>& examples, F&& member) {
  std::vector<std::remove_cvref_t<decltype(member(examples.front()))>> column;
  column.reserve(examples.size());
  for (const T& e : examples) column.push_back(member(e));
  return collate(column);
}

template <class T, size_t... I>
auto collate_tuple(const std::vector<T>& examples, std::index_sequence<I...>) {
  return std::tuple{collate_member(examples, [](const T& e) { return std::get<I>(e); })...};
}

}  // namespace detail

template <>
struct Collate<Tensor> {
  using Batch = Tensor;
  /// Throws Error where sizes differ, with the index.
  static Tensor make(const std::vector<Tensor>& examples) { return stack_examples(examples); }
};

template <class T>
requires std::is_arithmetic_v<T>
struct Collate<T> {
  using Batch = Tensor;
  static Tensor make(const std::vector<T>& numbers) {
    // As in Python, an integer of any width is an int64; unlike there, a float stays a float32.
    using Stored =
        std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int64_t, T>;
    Tensor out = empty({static_cast<int64_t>(numbers.size())}, dtype_of<Stored>());
    auto* to = out.data_ptr<Stored>();
    for (size_t i = 0; i < numbers.size(); ++i) to[i] = static_cast<Stored>(numbers[i]);
    return out;
  }
};

/// Texts stay a vector.
template <>
struct Collate<std::string> {
  using Batch = std::vector<std::string>;
  static Batch make(const Batch& texts) { return texts; }
};

template <class D, class T>
struct Collate<Example<D, T>> {
  using Batch = Example<typename Collate<D>::Batch, typename Collate<T>::Batch>;
  static Batch make(const std::vector<Example<D, T>>& examples) {
    return {detail::collate_member(examples, [](const auto& e) { return e.data; }),
            detail::collate_member(examples, [](const auto& e) { return e.target; })};
  }
};

template <class D>
struct Collate<Example<D, example::NoTarget>> {
  using Batch = Example<typename Collate<D>::Batch, example::NoTarget>;
  static Batch make(const std::vector<Example<D, example::NoTarget>>& examples) {
    return {detail::collate_member(examples, [](const auto& e) { return e.data; })};
  }
};

template <class... T>
struct Collate<std::tuple<T...>> {
  using Batch = std::tuple<typename Collate<T>::Batch...>;
  static Batch make(const std::vector<std::tuple<T...>>& examples) {
    return detail::collate_tuple(examples, std::index_sequence_for<T...>{});
  }
};

template <class A, class B>
struct Collate<std::pair<A, B>> {
  using Batch = std::pair<typename Collate<A>::Batch, typename Collate<B>::Batch>;
  static Batch make(const std::vector<std::pair<A, B>>& examples) {
    return {detail::collate_member(examples, [](const auto& e) { return e.first; }),
            detail::collate_member(examples, [](const auto& e) { return e.second; })};
  }
};

template <class T, size_t N>
struct Collate<std::array<T, N>> {
  using Batch = std::array<typename Collate<T>::Batch, N>;
  static Batch make(const std::vector<std::array<T, N>>& examples) {
    Batch out;
    for (size_t i = 0; i < N; ++i)
      out[i] = detail::collate_member(examples, [i](const auto& e) { return e[i]; });
    return out;
  }
};

template <class T>
struct Collate<std::vector<T>> {
  using Batch = std::vector<typename Collate<T>::Batch>;
  static Batch make(const std::vector<std::vector<T>>& examples) {
    const size_t n = examples.front().size();
    for (const auto& e : examples)
      TAEDA_CHECK(e.size() == n, "each element in list of batch should be of equal size");
    Batch out;
    for (size_t i = 0; i < n; ++i)
      out.push_back(detail::collate_member(examples, [i](const auto& e) -> T { return e[i]; }));
    return out;
  }
};

template <class K, class T>
struct Collate<std::map<K, T>> {
  using Batch = std::map<K, typename Collate<T>::Batch>;
  static Batch make(const std::vector<std::map<K, T>>& examples) {
    Batch out;
    for (const auto& entry : examples.front()) {
      const K& key = entry.first;
      out.emplace(key, detail::collate_member(examples, [&](const auto& e) {
                    const auto found = e.find(key);
                    TAEDA_CHECK(found != e.end(), "collate: not every example has the key ", key);
                    return found->second;
                  }));
    }
    return out;
  }
};

/// Calls `fn(Tensor&)` for every tensor in a batch; other values are passed over.
/// Elements of vectors, tuples, maps and Examples count, at any depth.
template <class F>
void for_each_tensor(Tensor& t, F&& fn) {
  fn(t);
}
template <class T, class F>
void for_each_tensor(T&, F&&) {}
template <class D, class T, class F>
void for_each_tensor(Example<D, T>& e, F&& fn);
template <class T, class F>
void for_each_tensor(std::vector<T>& list, F&& fn);
template <class T, size_t N, class F>
void for_each_tensor(std::array<T, N>& list, F&& fn);
template <class... T, class F>
void for_each_tensor(std::tuple<T...>& values, F&& fn);
template <class A, class B, class F>
void for_each_tensor(std::pair<A, B>& values, F&& fn);
template <class K, class T, class F>
void for_each_tensor(std::map<K, T>& values, F&& fn);

template <class D, class T, class F>
void for_each_tensor(Example<D, T>& e, F&& fn) {
  for_each_tensor(e.data, fn);
  if constexpr (!std::is_void_v<T>) for_each_tensor(e.target, fn);
}
template <class T, class F>
void for_each_tensor(std::vector<T>& list, F&& fn) {
  if constexpr (!std::is_same_v<T, bool>)
    for (T& value : list) for_each_tensor(value, fn);
}
template <class T, size_t N, class F>
void for_each_tensor(std::array<T, N>& list, F&& fn) {
  for (T& value : list) for_each_tensor(value, fn);
}
template <class... T, class F>
void for_each_tensor(std::tuple<T...>& values, F&& fn) {
  std::apply([&](auto&... value) { (for_each_tensor(value, fn), ...); }, values);
}
template <class A, class B, class F>
void for_each_tensor(std::pair<A, B>& values, F&& fn) {
  for_each_tensor(values.first, fn);
  for_each_tensor(values.second, fn);
}
template <class K, class T, class F>
void for_each_tensor(std::map<K, T>& values, F&& fn) {
  for (auto& [key, value] : values) for_each_tensor(value, fn);
}

}  // namespace taeda::data
