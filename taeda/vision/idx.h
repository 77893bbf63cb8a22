// The IDX format of MNIST (yann.lecun.com/exdb/mnist, "the IDX file format"), plain or gzip.
#pragma once

#include <string>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::vision {

/// Reads a file of numbers: uint8, int8, int16, int32, float or double, up to 8 dimensions. Throws
/// Error that names the file and, if it is cut short or too long, the bytes expected and found.
Tensor read_idx(const std::string& path);

}  // namespace taeda::vision
