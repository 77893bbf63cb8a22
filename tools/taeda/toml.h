// toml++, for files that anybody may have written.
#pragma once

#define TOML_EXCEPTIONS 1
// What a text may break - that a key begins like one - its parser assumes where NDEBUG is defined,
// and asserts where it is not. With neither it goes on to refuse the text.
#define TOML_ASSERT(expression) static_assert(true)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
