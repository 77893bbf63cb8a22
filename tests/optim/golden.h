// Parameters after steps, from PyTorch.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace taeda::optim {

#include "golden.inc"

}  // namespace taeda::optim
