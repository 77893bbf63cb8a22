// Names of C++ types, as programs write them.
#pragma once

#include <string>

namespace taeda::inline v0_2::detail {

/// "taeda::nn::Conv2dImpl" of what `typeid(..).name()` gives: without the library's inline
/// namespace, which programs do not write.
std::string type_name(const char* mangled);
/// The same without namespaces and outer classes: "Conv2dImpl".
std::string short_type_name(const char* mangled);

}  // namespace taeda::inline v0_2::detail
