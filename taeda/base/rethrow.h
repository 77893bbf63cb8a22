// Saying where an exception of a program's own code came from: of one of several devices, of a
// hook.
#pragma once

#include <string>

namespace taeda::inline v0_2 {

/// To be called while an exception is handled: throws it on. Its type is kept, and an Error says
/// "Caught <type> <place>." behind its message; so do the most common standard exceptions, others
/// have no room for it.
[[noreturn]] void rethrow_from(const std::string& place);

/// What `hook()` gives; what it throws says "in a <kind> of <owner()>", as rethrow_from does.
template <class Owner, class Hook>
auto run_hook(const char* kind, const Owner& owner, Hook&& hook) {
  try {
    return hook();
  } catch (...) {
    rethrow_from(std::string("in a ") + kind + " of " + std::string(owner()));
  }
}

}  // namespace taeda::inline v0_2
