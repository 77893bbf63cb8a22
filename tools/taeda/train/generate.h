// Text that a network makes up.
#pragma once

#include <cstdint>
#include <functional>

#include "taeda/tensor/tensor.h"
#include "tools/taeda/train/about.h"

namespace taeda::tool {

struct GenerateOptions {
  int64_t length = 200;    ///< bytes
  double temperature = 1;  ///< scores are divided by it; 0: always the likeliest byte
  int64_t top_k = 0;       ///< draw among as many of the likeliest; 0: among all
  uint64_t seed = 0;
};

/// Hands over byte after byte of what follows `start` (N), the tokens of at least one byte. The
/// network, in evaluation mode, sees the last `about.context` of them. A seed gives one text.
void generate_text(nn::AnyModule& network, Device device, const About& about, const Tensor& start,
                   const GenerateOptions& options, const std::function<void(char)>& take);

}  // namespace taeda::tool
