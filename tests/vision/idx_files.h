// Small IDX files for tests, plain and gzip.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace taeda {

/// The bytes of an IDX file of type `code` with the given sizes.
inline std::string idx_bytes(int code, const std::vector<uint32_t>& sizes,
                             const std::string& data) {
  std::string out = {0, 0, static_cast<char>(code), static_cast<char>(sizes.size())};
  for (uint32_t s : sizes)
    for (int shift : {24, 16, 8, 0}) out += static_cast<char>(s >> shift & 0xff);
  return out + data;
}

/// A gzip file (RFC 1952) whose content, of at most 65535 bytes, is stored, not compressed.
inline std::string gzip_bytes(const std::string& content) {
  const auto little = [](uint32_t v, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> 8 * i & 0xff);
    return out;
  };
  uint32_t crc = ~0u;
  for (char c : content) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  const auto n = static_cast<uint32_t>(content.size());
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + "\x01" + little(n, 2) + little(~n, 2) +
         content + little(~crc, 4) + little(n, 4);
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// 28 x 28 pictures that a network can learn to tell apart: class c has a bright square at place c,
/// over noise.
inline void write_fashion_files(const std::string& folder, int train, int test) {
  uint32_t noise = 1;
  const auto write = [&](const std::string& part, int count) {
    std::string images, labels;
    for (int i = 0; i < count; ++i) {
      const int label = i % 10, left = label % 5 * 5 + 1, top = label / 5 * 13 + 2;
      labels += static_cast<char>(label);
      for (int y = 0; y < 28; ++y)
        for (int x = 0; x < 28; ++x) {
          noise = noise * 1664525u + 1013904223u;
          const bool inside = x >= left && x < left + 5 && y >= top && y < top + 8;
          images += static_cast<char>(inside ? 200 + (noise >> 27) : noise >> 26);
        }
    }
    const auto n = static_cast<uint32_t>(count);
    write_bytes(folder + "/" + part + "-images-idx3-ubyte", idx_bytes(8, {n, 28, 28}, images));
    write_bytes(folder + "/" + part + "-labels-idx1-ubyte.gz",
                gzip_bytes(idx_bytes(8, {n}, labels)));
  };
  write("train", train);
  write("t10k", test);
}

}  // namespace taeda
