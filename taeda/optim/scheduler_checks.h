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

/// Throws ValueError unless there is a function for all groups or one for each.
template <class List>
void check_functions(const List& functions, size_t groups) {
  TAEDA_CHECK_VALUE(functions.size() == 1 || functions.size() == groups, "Expected ", groups,
                    " lr_lambdas, but got ", functions.size());
  for (const auto& f : functions)
    TAEDA_CHECK_VALUE(f, "Expected a function as lr_lambda, but got an empty one");
}

}  // namespace taeda::inline v0_2::optim::detail
