// Archives whose checksums fit.
#pragma once

#include <string>

namespace taeda::fuzz {

/// Puts the checksums of entries that are not packed right, and the place of the directory.
std::string repaired_zip(std::string bytes);
/// CRC-32 (ISO 3309), as zip and PNG have it.
unsigned crc32_of(const std::string& bytes, size_t begin, size_t end);

}  // namespace taeda::fuzz
