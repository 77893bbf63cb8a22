// The doors of functions with options (Note [Doors of operations] in ops/door.h), which are not
// declared in ops/. Not part of the public interface.
#pragma once

#include <type_traits>

#include "taeda/ops/door.h"

namespace taeda::inline v0_2::nn::functional::detail {

/// Calls `Body`; lets those in who are interested in the call. The options that it reads are
/// arguments, so that tensors among them are seen.
template <auto Body, class... Arguments>
auto through_door(const OperationTraits& traits, const Arguments&... arguments) {
  if (Interceptors::any())
    return Door<std::remove_pointer_t<decltype(Body)>>::pass(traits, Body, arguments...);
  return Body(arguments...);
}

}  // namespace taeda::inline v0_2::nn::functional::detail
