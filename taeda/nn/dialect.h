// In whose words modules speak.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2::nn {

/// Whose way a module is named, printed and cloned in: Python's, the default, or that of libtorch's
/// C++, whose names are whole ("torch::nn::LinearImpl"), whose text shows other settings, and whose
/// clones draw the initial values that they replace.
enum class Dialect : uint8_t { Python, Libtorch };

}  // namespace taeda::inline v0_2::nn
