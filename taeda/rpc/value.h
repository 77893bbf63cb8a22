// Values of any type, in the hands of code that does not know it.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "taeda/rpc/codec.h"

namespace taeda::inline v0_2::distributed::rpc {

struct ValueType {
  std::string name;
  void (*write)(Writer&, const void*) = nullptr;  ///< null: cannot be sent
  const std::type_info* cpp = nullptr;
};

/// A value whose type only the codec knows.
struct Value {
  std::shared_ptr<void> data;
  const ValueType* type = nullptr;

  /// The value, which others may have said to be of another type than it is. Throws TypeError.
  void* as(const std::type_info& wanted) const;
};

/// The one description of T in this process.
template <class T>
const ValueType& value_type() {
  static const ValueType type = [] {
    ValueType out{.name = type_name<T>(), .cpp = &typeid(T)};
    if constexpr (Sendable<T>)
      out.write = [](Writer& to, const void* value) {
        Codec<T>::write(to, *static_cast<const T*>(value));
      };
    return out;
  }();
  return type;
}

/// Takes a value over.
template <class T>
Value make_value(T value) {
  return {std::make_shared<T>(std::move(value)), &value_type<T>()};
}

}  // namespace taeda::inline v0_2::distributed::rpc
