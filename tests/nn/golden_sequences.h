// What PyTorch gives for layers over sequences (tests/golden/nn_sequences.py).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace taeda::nn::testing_helpers {

#include "golden_sequences.inc"

}  // namespace taeda::nn::testing_helpers
