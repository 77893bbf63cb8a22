// Where a zip archive ends that others follow.
#pragma once

#include <cstdint>

#include "taeda/io/file_bytes.h"

namespace taeda::inline v0_2::io {

/// The bytes of the archive that a file begins with: up to the record of an end that counts back to
/// the file's first byte. 0 where there is none.
uint64_t first_archive_bytes(const FileBytes& file);

}  // namespace taeda::inline v0_2::io
