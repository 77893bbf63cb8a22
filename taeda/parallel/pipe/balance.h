// Dividing a Sequential into stages of about equal cost.
#pragma once

#include <vector>

#include "taeda/nn/containers/sequential.h"

namespace taeda::inline v0_2::nn {

/// Lengths of `partitions` runs of neighbours whose largest sum of costs is as small as possible.
/// Exact, by dynamic programming in O(partitions * costs.size()^2).
/// Throws ValueError if there are fewer costs than partitions, or no partitions.
std::vector<int64_t> balance_costs(const std::vector<double>& costs, int64_t partitions);

/// Numbers of children for stages with about equally many elements of parameters, at least one
/// child each. Children without parameters and buffers stay with the one before them.
std::vector<int64_t> balance_by_parameters(int64_t partitions, const Sequential& module);
/// Numbers of children for stages that take about equally long, forward and backward, with `sample`
/// as the input of the whole. Measured on copies of the children, one at a time, on `device` (by
/// default the sample's): the module and the random numbers of the program stay as they are.
/// Throws Error where a child is not Cloneable.
std::vector<int64_t> balance_by_time(int64_t partitions, const Sequential& module,
                                     const Tensor& sample, std::optional<Device> device = {});

/// Moves the children to the devices, balance[i] of them to devices[i], and returns the module:
/// what a Pipe is made from. Without a balance, by parameters. Throws ValueError unless the balance
/// has an entry for each device and sums to the children.
Sequential partition(const Sequential& module, const std::vector<Device>& devices,
                     const std::vector<int64_t>& balance = {});

}  // namespace taeda::nn
