// The order of loaders as libtorch's C++ has it, for programs that are written for it.
#pragma once

namespace taeda::inline v0_2::data::detail {

/// While on, a loader draws nothing for its workers when an epoch begins, and a RandomSampler takes
/// its permutations from the default generator itself: one when it is made, one for each epoch.
/// What a dataset throws then arrives without a line that names its index. For the whole process;
/// torch/torch.h turns it on. Python's loaders draw a seed for each.
void use_libtorch_order(bool on) noexcept;
bool uses_libtorch_order() noexcept;

}  // namespace taeda::inline v0_2::data::detail
