// What is said where the values of a tensor on meta are needed. Not part of the public interface.
#pragma once

#include <initializer_list>
#include <string_view>

namespace taeda::inline v0_2::detail {

/// Throws NotImplementedError: `text` where the program itself called one of `own`, else that the
/// operation it called cannot run on meta.
[[noreturn]] void throw_no_data(std::initializer_list<std::string_view> own, const char* text);

}  // namespace taeda::inline v0_2::detail
