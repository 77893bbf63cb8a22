// Whether operations may draw random numbers, which a map over samples cannot always allow.
#pragma once

#include <string>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2 {

/// From here on operations of this thread that would draw random numbers throw Error with these
/// words, before they draw; without words they may. Returns what held before.
std::string refuse_draws(std::string why);

/// Called by whatever draws for an operation.
void check_draws();

}  // namespace taeda::inline v0_2
