// What random operations may do in a map over samples.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2 {

/// In a map they are an error, draw the same numbers for all samples, or different ones for each.
enum class Randomness : uint8_t { Error, Same, Different };

}  // namespace taeda::inline v0_2
