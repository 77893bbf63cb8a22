#include "taeda/nn/any_module.h"

#include "taeda/base/type_name.h"
#include "taeda/nn/libtorch_style.h"

namespace taeda::inline v0_2::nn {

std::string detail::type_name(const std::type_info& type) {
  return taeda::detail::type_name(type.name());
}

AnyValue AnyModule::call_values(const AnyValue* values, size_t n) {
  check_not_empty("forward()");
  if (n == 1 && unary_)
    if (const Tensor* t = values[0].try_get<Tensor>()) return AnyValue(unary_(*module_, *t));
  TAEDA_CHECK(general_, detail::short_name(*module_),
              " has an overloaded or templated forward() and can be called with one tensor only");
  return general_(*module_, values, n);
}

}  // namespace taeda::inline v0_2::nn
