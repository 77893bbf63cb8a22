// Values as bytes, for a process of the same program on the same machine.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::detail {

/// What a value of type T arrives as: texts are strings.
template <class T>
using Carried = std::conditional_t<std::is_convertible_v<const T&, std::string_view>, std::string,
                                   std::remove_cv_t<T>>;

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
constexpr bool kTravels = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
void carry(std::string& out, const T& value) {
  if constexpr (kTravels<T>) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    const std::string_view text = value;
    carry(out, text.size());
    out += text;
  } else {
    static_assert(IsVector<T>::value, "numbers, strings and vectors of them travel");
    carry(out, value.size());
    for (const auto& element : value) carry(out, static_cast<typename T::value_type>(element));
  }
}

/// The next `size` bytes.
inline const char* next_bytes(const std::string& text, size_t& at, size_t size) {
  TAEDA_INTERNAL_ASSERT(size <= text.size() - at);
  at += size;
  return text.data() + (at - size);
}

template <class T>
T fetch(const std::string& text, size_t& at) {
  T out{};
  if constexpr (kTravels<T>) {
    std::memcpy(&out, next_bytes(text, at, sizeof out), sizeof out);
  } else if constexpr (std::is_same_v<T, std::string>) {
    const size_t size = fetch<size_t>(text, at);
    out.assign(next_bytes(text, at, size), size);
  } else {
    const size_t size = fetch<size_t>(text, at);
    for (size_t i = 0; i < size; ++i) out.push_back(fetch<typename T::value_type>(text, at));
  }
  return out;
}

}  // namespace taeda::inline v0_2::distributed::detail
