// Saying where an exception of one of several devices came from.
#pragma once

#include <string>

namespace taeda::inline v0_2::nn::parallel {

/// To be called while an exception is handled: throws it on. Its type is kept, and an Error says
/// "Caught <type> <place>." behind its message; so do the most common standard exceptions, others
/// have no room for it.
[[noreturn]] void rethrow_from(const std::string& place);

}  // namespace taeda::nn::parallel
