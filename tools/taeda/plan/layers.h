// What the layers of a model take of a device.
#pragma once

#include <string>
#include <vector>

#include "taeda/distributed/cost/measured_step.h"

namespace taeda::tool {

struct LayerUse {
  std::string path;             ///< in the model; empty: what lies between its layers
  int64_t parameter_bytes = 0;  ///< of weights that no layer before it has, too
  int64_t kept_bytes = 0;       ///< that forward leaves for backward
  double forward_seconds = 0;
};

/// The modules without children that a forward pass calls, in the order of the model, and what lies
/// between them. Runs one on `device`, a simulated one with a cost model.
std::vector<LayerUse> observe_layers(const distributed::cost::TrainingStep& step, Device device);

}  // namespace taeda::tool
