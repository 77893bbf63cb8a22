// DistributedDataParallel among the ways to run a model that tests compare with one device.
#pragma once

#include "taeda/distributed/ddp/distributed_data_parallel.h"
#include "taeda/parallel/equivalence.h"

namespace taeda::inline v0_2::equivalence {

/// `ranks` processes, each with an equal part of the batch and a copy of the model; here they are
/// threads of this process, on its devices in turn. The module must be Cloneable and the batch
/// divisible. `options` but for group and devices.
Plan DistributedDataParallel(int ranks,
                             const distributed::DistributedDataParallelOptions& options = {});

}  // namespace taeda::inline v0_2::equivalence
