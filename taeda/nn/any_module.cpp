#include "taeda/nn/any_module.h"

#include "taeda/base/type_name.h"
#include "taeda/nn/libtorch_style.h"

namespace taeda::inline v0_2::nn {

std::string detail::type_name(const std::type_info& type) {
  return taeda::detail::type_name(type.name());
}

void detail::check_argument(const AnyValue& value, size_t i, const std::type_info& type) {
  TAEDA_CHECK_TYPE(value.type_info() == type, "Expected argument #", i, " to be of type ",
                   type_name(type), ", but received value of type ", type_name(value.type_info()));
}

void detail::fail_arity(const Module& module, size_t fewest, size_t most, size_t n) {
  const std::string expected =
      fewest == most
          ? taeda::detail::concat(most)
          : taeda::detail::concat("at least ", fewest, " argument(s) and at most ", most);
  throw TypeError(taeda::detail::concat(module.name(), "'s forward() method expects ", expected,
                                        " argument(s), but received ", n, "."));
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
