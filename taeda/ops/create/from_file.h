// Tensors over files.
// [operations]
#pragma once

#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The first `size` numbers of a file as they lie there, a vector of the options' dtype, in memory
/// that the system reads when it is touched. With `shared` changes are written to the file, which
/// is made, or made longer, where it is missing or too short; else they stay in memory. Throws
/// Error for a file that cannot be opened or is too short.
/// [composite]
Tensor from_file(std::string_view filename, std::optional<bool> shared = {}, OptionalDim size = 0,
                 const TensorOptions& options = {});

}  // namespace taeda::inline v0_2
