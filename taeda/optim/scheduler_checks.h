// What every schedule checks of the numbers that it is made with.
#pragma once

namespace taeda::inline v0_2::optim::detail {

/// The value; throws ValueError with its name where it is NaN, which would become a learning rate.
double checked_number(const char* name, double value);

}  // namespace taeda::inline v0_2::optim::detail
