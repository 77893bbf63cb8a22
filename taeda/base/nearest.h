// What somebody may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taeda::inline v0_2 {

/// How many characters must be added, taken away or replaced, or neighbours swapped, to make `b` of
/// `a`, each character once at most (Damerau, "A technique for computer detection and correction of
/// spelling errors", 1964).
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that is closest to `word`, the first of several; empty, if a third of the
/// characters or more had to change.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace taeda::inline v0_2
