// Files of tensors, whatever their format.
#pragma once

#include <string>

#include "taeda/io/safetensors.h"

namespace taeda::tool {

struct TensorFile {
  std::string format;  ///< "safetensors", "shards" (an index of them), ".npy", ".npz", ".pt"
  io::NamedTensors tensors;
  io::Metadata values;  ///< what else is in there
};

/// The format that the first bytes and the ending of a file speak for: one of those above,
/// "events", "image", "onnx", or "" for none that is known. Throws Error when the file cannot be
/// read.
std::string format_of(const std::string& path);
/// Reads a file of tensors. Throws UsageError for other files.
TensorFile read_tensors(const std::string& path);

}  // namespace taeda::tool
