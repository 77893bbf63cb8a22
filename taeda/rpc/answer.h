// What is sent back for a request: a result, or an error.
#pragma once

#include <exception>
#include <string>

#include "taeda/rpc/archive.h"

namespace taeda::inline v0_2::distributed::rpc::detail {

/// The exception as others of its kind read it: its class and its text.
void write_error(Writer& out, const std::exception_ptr& error);
/// Throws what write_error() wrote, with `place` in front of its text.
[[noreturn]] void throw_error(Reader& in, const std::string& place);

}  // namespace taeda::inline v0_2::distributed::rpc::detail
