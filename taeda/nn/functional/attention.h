// Attention as a function.
#pragma once

#include "taeda/ops/attention.h"

namespace taeda::nn::functional {

using taeda::scaled_dot_product_attention;

}  // namespace taeda::nn::functional
