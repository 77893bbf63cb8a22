#include "taeda/base/type_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace taeda::inline v0_2::detail {

std::string type_name(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? text.get() : mangled;
  constexpr char kOurs[] = "taeda::v0_2::", kWritten[] = "taeda::";
  for (size_t at = 0; (at = name.find(kOurs, at)) != std::string::npos; at += sizeof kWritten - 1)
    name.replace(at, sizeof kOurs - 1, kWritten);
  return name;
}

std::string short_type_name(const char* mangled) {
  std::string name = type_name(mangled);
  const size_t scope = name.substr(0, name.find('<')).rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace taeda::inline v0_2::detail
