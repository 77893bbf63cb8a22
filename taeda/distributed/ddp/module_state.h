// What ranks must have in common before they train together.
#pragma once

#include <vector>

#include "taeda/base/source_location.h"
#include "taeda/distributed/group/process_group.h"
#include "taeda/nn/module.h"

namespace taeda::inline v0_2::distributed {

/// Throws Error on all ranks unless they have the same parameters and buffers: the first in which
/// two ranks differ, with name, dtype and sizes on both. `device`: one that the group exchanges
/// tensors of.
void check_same_module(const nn::Module& module, const ProcessGroupPtr& group, Device device,
                       SourceLocation site);

/// Gives the tensors the values that they have on rank `root`. They travel in flat buckets, and
/// may be on any device.
void broadcast_values(const std::vector<Tensor>& tensors, int root, ProcessGroup& group,
                      SourceLocation site);

}  // namespace taeda::inline v0_2::distributed
