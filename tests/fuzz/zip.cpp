#include "tests/fuzz/zip.h"

#include <algorithm>

#include "tests/fuzz/reader.h"

namespace taeda::fuzz {

unsigned crc32_of(const std::string& bytes, size_t begin, size_t end) {
  unsigned crc = ~0u;
  for (size_t i = begin; i < end; ++i) {
    crc ^= static_cast<unsigned char>(bytes[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

std::string repaired_zip(std::string bytes) {
  constexpr size_t kEntry = 46, kLocal = 30, kEnd = 22;
  const size_t last = bytes.rfind("PK\5\6"), first = bytes.find("PK\1\2");
  if (first == std::string::npos) return bytes;
  if (last != std::string::npos && bytes.size() - last >= kEnd && last > first) {
    put_little(bytes, last + 12, last - first, 4);
    put_little(bytes, last + 16, first, 4);
  }
  for (size_t at = first; at != std::string::npos && bytes.size() - at >= kEntry;
       at = bytes.find("PK\1\2", at + kEntry)) {
    const size_t local = little_at(bytes, at + 42, 4);
    const bool stored = little_at(bytes, at + 10, 2) == 0;
    if (!stored || local >= bytes.size() || bytes.size() - local < kLocal) continue;
    const size_t data =
        local + kLocal + little_at(bytes, local + 26, 2) + little_at(bytes, local + 28, 2);
    const size_t size = little_at(bytes, at + 20, 4);
    if (data > bytes.size() || size > bytes.size() - data) continue;
    const unsigned crc = crc32_of(bytes, data, data + size);
    put_little(bytes, at + 16, crc, 4);
    put_little(bytes, local + 14, crc, 4);
    put_little(bytes, at + 24, size, 4);
  }
  return bytes;
}

}  // namespace taeda::fuzz
