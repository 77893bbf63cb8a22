// Libraries that are looked for at run time, when what they do is first asked for.
#pragma once

#include <dlfcn.h>

#include <initializer_list>

namespace taeda::inline v0_2 {

/// A library of the system, loaded until the process ends.
class SharedLibrary {
 public:
  /// Tries the names in order; empty when none loads.
  explicit SharedLibrary(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if ((handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL))) return;
  }
  explicit operator bool() const { return handle_ != nullptr; }

  /// The function, or null. Those of libraries that the library needs are found, too.
  void* symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }
  /// Makes `f` the function of that name; false, with a null `f`, if there is none.
  template <class F>
  bool load(F*& f, const char* name) const {
    f = reinterpret_cast<F*>(symbol(name));
    return f != nullptr;
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace taeda
