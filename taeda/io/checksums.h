// Checksums (CRC-32) of what a safetensors file holds, as a text among its metadata.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taeda/io/safetensors.h"

namespace taeda::inline v0_2::io {

// Note [Checksums in a safetensors file]
//
// The metadata's entry `taeda.crc32` holds numbers of 8 hexadecimal digits, one behind the other:
// first that of the header, then those of the tensors' bytes, sorted by name. The header's covers
// names, dtypes, shapes and all other metadata, but no offsets: another program may reorder a file.
// So every byte that means something is covered: a number that is wrong itself names its tensor.
// Readers of the format ignore metadata that they do not know.

constexpr const char* kChecksumKey = "taeda.crc32";
constexpr size_t kChecksumDigits = 8;

/// Whether this build computes checksums; without zlib files have none, and none are compared.
bool has_checksums();
/// CRC-32 (of ISO 3309, zlib's) of these bytes, on several threads where they are many.
uint32_t checksum_of(const void* data, size_t bytes);

/// The length of the text for so many tensors.
constexpr size_t checksum_text_size(size_t tensors) { return (tensors + 1) * kChecksumDigits; }
/// The text: `metadata` is without it, `tensors` has the tensors' checksums in the order of
/// `infos`.
std::string checksum_text(const std::vector<TensorInfo>& infos, const Metadata& metadata,
                          const std::vector<uint32_t>& tensors);
/// Takes the checksums out of `metadata` and returns those of the tensors, in the order of `infos`;
/// none if the file has none. Throws Error with the reason alone if the header is damaged.
std::vector<uint32_t> take_checksums(const std::vector<TensorInfo>& infos, Metadata& metadata);

}  // namespace taeda::inline v0_2::io
