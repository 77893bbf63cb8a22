// What every schedule checks of the numbers that it is made with.
#pragma once

#include <cstddef>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::optim::detail {

/// The value; throws ValueError with its name where it is NaN, which would become a learning rate.
double checked_number(const char* name, double value);

/// One value for all groups, or that of a group. Throws ValueError for a group that was added after
/// the schedule was made with a value for each.
template <class List>
const auto& for_group(const List& values, size_t group) {
  TAEDA_CHECK_VALUE(values.size() == 1 || group < values.size(), "the schedule has values for ",
                    values.size(), " param groups, but the optimizer has another one, group ",
                    group, ": make the schedule when all groups are there");
  return values[values.size() == 1 ? 0 : group];
}

}  // namespace taeda::inline v0_2::optim::detail
