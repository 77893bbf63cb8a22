// Whether waiting for a non-blocking copy is an error.
#pragma once

namespace taeda::inline v0_2 {

/// Where the host would wait for a non-blocking copy, Error is thrown instead, so that a program
/// finds the places where it does not overlap. Also switched on by TAEDA_STRICT_COPIES=1.
void set_strict_copies(bool on);
bool strict_copies();

}  // namespace taeda::inline v0_2
