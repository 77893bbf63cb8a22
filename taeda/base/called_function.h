// What a program was calling when something went wrong, for the text of an error.
#pragma once

#include <string>

namespace taeda::inline v0_2::detail {

/// The operation that the program called, as "relu" or "linalg::inv": of the functions of the
/// library that wait on this thread's stack for the caller, the outermost that is an operation or a
/// method of Tensor, else the outermost of all, as "optim::SGD::step". It costs nothing until it is
/// asked. Empty where functions have no names to look up, as in a program linked statically.
std::string called_function();

}  // namespace taeda::inline v0_2::detail
