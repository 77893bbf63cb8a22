#include "taeda/base/called_function.h"

#include <dlfcn.h>
#include <unwind.h>

#include <string_view>

#include "taeda/base/type_name.h"

namespace taeda::inline v0_2::detail {

namespace {

/// "linalg::inv" of "taeda::linalg::inv(taeda::Tensor const&)"; empty for what no program calls.
std::string_view public_name(std::string_view signature) {
  constexpr std::string_view kOurs = "taeda::";
  std::string_view name = signature.substr(0, signature.find('('));
  if (!name.starts_with(kOurs)) return {};  // a template's result stands in front of it
  name.remove_prefix(kOurs.size());
  const bool hidden = name.empty() || name.find("detail::") != name.npos ||
                      name.find("operator") != name.npos || name.find('~') != name.npos;
  return hidden ? std::string_view() : name;
}

/// A tensor's properties, which every function asks for: they are what a program called only where
/// no other function stands around them.
constexpr std::string_view kProperties = "TensorBase::";

/// "relu" of "relu" and "Tensor::relu"; empty for functions of other classes and rooms.
std::string_view operation_name(std::string_view name) {
  constexpr std::string_view kMethods = "Tensor::";
  if (name.starts_with(kMethods)) return name.substr(kMethods.size());
  std::string_view rest = name;
  for (const std::string_view names : {"linalg::", "fft::", "special::", "nn::functional::"})
    if (rest.starts_with(names)) rest.remove_prefix(names.size());
  return rest.find("::") == rest.npos ? name : std::string_view();
}

struct Walk {
  const void* library;  ///< where it begins in memory
  std::string operation, function;
};

/// Looks at one function of the stack, from the inside to the outside, until the library ends.
_Unwind_Reason_Code visit(_Unwind_Context* context, void* to) {
  Walk& walk = *static_cast<Walk*>(to);
  Dl_info info;
  // The address is where the call returns to, which may be behind the function's last byte.
  const auto at = reinterpret_cast<void*>(_Unwind_GetIP(context) - 1);
  if (!dladdr(at, &info) || info.dli_fbase != walk.library) return _URC_END_OF_STACK;
  if (!info.dli_sname) return _URC_NO_REASON;
  const std::string signature = type_name(info.dli_sname);
  const std::string_view name = public_name(signature);
  if (name.empty()) return _URC_NO_REASON;
  walk.function = name.starts_with(kProperties) ? name.substr(kProperties.size()) : name;
  if (const std::string_view operation = operation_name(name); !operation.empty())
    walk.operation = operation;
  return _URC_NO_REASON;
}

}  // namespace

std::string called_function() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&called_function), &self)) return {};
  Walk walk{self.dli_fbase, {}, {}};
  _Unwind_Backtrace(&visit, &walk);
  return walk.operation.empty() ? walk.function : walk.operation;
}

}  // namespace taeda::inline v0_2::detail
