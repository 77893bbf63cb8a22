// Parameters after steps, and learning rates, from PyTorch.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace taeda::optim {

#include "curves.inc"
#include "golden.inc"

}  // namespace taeda::optim
