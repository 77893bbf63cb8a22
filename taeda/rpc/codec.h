// Which types travel, and what they are called in signatures.
//
// Numbers, bool, std::string, Tensor, std::vector, std::tuple, std::optional, std::map and
// std::unordered_map with std::string keys, RRef (rref.h), and types that say what they are made
// of:
//
//     struct Point {
//       double x, y;
//       std::tuple<double, double> to_rpc() const { return {x, y}; }
//       static Point from_rpc(const std::tuple<double, double>& parts);
//     };
#pragma once

#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>

#include "taeda/autograd/function.h"
#include "taeda/rpc/archive.h"

namespace taeda::inline v0_2::distributed::rpc {

/// A specialisation has `name()`, `write(Writer&, value)` and `read(Reader&)`.
template <class T>
struct Codec;

namespace detail {
[[noreturn]] void throw_out_of_range(int64_t value, const char* type);
}

/// Whether values of the type can be sent.
template <class T>
concept Sendable = requires {
  Codec<T>::name();
};

/// What a type is called in signatures: Python's names, as far as there are some.
template <class T>
std::string type_name() {
  if constexpr (Sendable<T>)
    return Codec<T>::name();
  else
    return autograd::detail::demangled(typeid(T).name());
}

template <std::integral T>
requires(!std::same_as<T, bool>) struct Codec<T> {
  static std::string name() { return "int"; }
  static void write(Writer& out, T value) {
    if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(int64_t))
      if (value > static_cast<T>(std::numeric_limits<int64_t>::max()))
        detail::throw_out_of_range(static_cast<int64_t>(value), "int64_t");
    out.integer(static_cast<int64_t>(value));
  }
  static T read(Reader& in) {
    const int64_t value = in.integer();
    const T out = static_cast<T>(value);
    if (static_cast<int64_t>(out) != value || (value < 0) != (out < T{}))
      detail::throw_out_of_range(value, typeid(T).name());
    return out;
  }
};

template <std::floating_point T>
struct Codec<T> {
  static std::string name() { return "float"; }
  static void write(Writer& out, T value) { out.number(static_cast<double>(value)); }
  static T read(Reader& in) { return static_cast<T>(in.number()); }
};

template <>
struct Codec<bool> {
  static std::string name() { return "bool"; }
  static void write(Writer& out, bool value) { out.byte(value); }
  static bool read(Reader& in) { return in.byte() != 0; }
};

template <>
struct Codec<std::string> {
  static std::string name() { return "str"; }
  static void write(Writer& out, const std::string& value) { out.text(value); }
  static std::string read(Reader& in) { return in.text(); }
};

template <>
struct Codec<const char*> {
  static std::string name() { return "str"; }
  static void write(Writer& out, const char* value) { out.text(value); }
};

/// What functions without a result give.
template <>
struct Codec<std::monostate> {
  static std::string name() { return "None"; }
  static void write(Writer&, std::monostate) {}
  static std::monostate read(Reader&) { return {}; }
};

template <>
struct Codec<Tensor> {
  static std::string name() { return "Tensor"; }
  static void write(Writer& out, const Tensor& value) { out.tensor(value); }
  static Tensor read(Reader& in) { return in.tensor(); }
};

template <Sendable T>
struct Codec<std::vector<T>> {
  static std::string name() { return "list[" + Codec<T>::name() + "]"; }
  static void write(Writer& out, const std::vector<T>& values) {
    out.integer(static_cast<int64_t>(values.size()));
    for (const auto& value : values) Codec<T>::write(out, value);
  }
  static std::vector<T> read(Reader& in) {
    std::vector<T> out;
    for (size_t n = in.count(); n > 0; --n) out.push_back(Codec<T>::read(in));
    return out;
  }
};

template <Sendable... T>
struct Codec<std::tuple<T...>> {
  static std::string name() {
    std::string out;
    ((out += (out.empty() ? "" : ", ") + Codec<T>::name()), ...);
    return "tuple[" + out + "]";
  }
  static void write(Writer& out, const std::tuple<T...>& values) {
    std::apply([&](const auto&... value) { (Codec<T>::write(out, value), ...); }, values);
  }
  static std::tuple<T...> read([[maybe_unused]] Reader& in) {
    return std::tuple<T...>{Codec<T>::read(in)...};  // braces: from left to right
  }
};

template <Sendable T>
struct Codec<std::optional<T>> {
  static std::string name() { return "Optional[" + Codec<T>::name() + "]"; }
  static void write(Writer& out, const std::optional<T>& value) {
    out.byte(value.has_value());
    if (value) Codec<T>::write(out, *value);
  }
  static std::optional<T> read(Reader& in) {
    if (in.byte() == 0) return {};
    return Codec<T>::read(in);
  }
};

namespace detail {

/// Maps from texts, sorted or not.
template <class Map>
struct MapCodec {
  using T = typename Map::mapped_type;
  static std::string name() { return "dict[str, " + Codec<T>::name() + "]"; }
  static void write(Writer& out, const Map& values) {
    out.integer(static_cast<int64_t>(values.size()));
    for (const auto& [key, value] : values) {
      out.text(key);
      Codec<T>::write(out, value);
    }
  }
  static Map read(Reader& in) {
    Map out;
    for (size_t n = in.count(); n > 0; --n) {
      std::string key = in.text();
      out.emplace(std::move(key), Codec<T>::read(in));
    }
    return out;
  }
};

}  // namespace detail

template <Sendable T>
struct Codec<std::map<std::string, T>> : detail::MapCodec<std::map<std::string, T>> {};
template <Sendable T>
struct Codec<std::unordered_map<std::string, T>>
    : detail::MapCodec<std::unordered_map<std::string, T>> {};

/// A user's type, as the value that to_rpc() makes of it.
template <class T>
requires requires(const T& value) {
  { T::from_rpc(value.to_rpc()) } -> std::same_as<T>;
}
struct Codec<T> {
  using Parts = std::decay_t<decltype(std::declval<const T&>().to_rpc())>;
  static std::string name() { return autograd::detail::demangled(typeid(T).name()); }
  static void write(Writer& out, const T& value) { Codec<Parts>::write(out, value.to_rpc()); }
  static T read(Reader& in) { return T::from_rpc(Codec<Parts>::read(in)); }
};

}  // namespace taeda::inline v0_2::distributed::rpc
