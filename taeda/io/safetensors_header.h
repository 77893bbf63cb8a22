// Reading and checking the JSON header of a safetensors file.
#pragma once

#include <string_view>

#include "taeda/io/safetensors.h"

namespace taeda::inline v0_2::io {

/// The largest header accepted, in bytes; the format's own limit.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct SafeTensorsHeader {
  std::vector<TensorInfo> tensors;
  Metadata metadata;
  /// Bytes before the tensors' data.
  size_t data_offset = 0;
};

class FileBytes;
/// Reads and checks the header of a file. Throws Error with the reason alone.
SafeTensorsHeader read_header(const FileBytes& file);

/// The bytes of a file that begins so, its header being there in full; as many as are there where
/// the header is damaged.
uint64_t safetensors_bytes(const std::string& begin);

/// Bits per element of a dtype name of the format; 0 for a name that it does not know.
int dtype_bits(std::string_view name);
/// Taeda's dtype of a name, if there is one, and the name of a dtype, or nullptr.
std::optional<ScalarType> dtype_from_safetensors(std::string_view name);
const char* safetensors_dtype(ScalarType dtype);

}  // namespace taeda::io
