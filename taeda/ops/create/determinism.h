// The mode of deterministic algorithms. Operations give the same bits every time whatever it says
// (docs/numerics.md); it makes memory that nobody has written to the same, too.
#pragma once

#include "taeda/base/macros.h"

namespace taeda::inline v0_2 {

/// Switches the mode on or off, for all threads; `warn_only` is kept to be asked for.
void use_deterministic_algorithms(bool mode, bool warn_only = false);
/// Whether the mode is on; off at first.
bool are_deterministic_algorithms_enabled();
/// Whether it was switched on to warn only.
bool is_deterministic_algorithms_warn_only_enabled();

/// Whether, while the mode is on, `empty` and its like fill what they make, and `resize_` what it
/// adds: with NaN, the largest integer, or true; on at first.
void set_fill_uninitialized_memory(bool fill);
bool fills_uninitialized_memory();

}  // namespace taeda::inline v0_2
