// How much memory the content of a file may take: what every reader of packed or nested formats
// asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::io {

/// A few bytes of a file can stand for many in memory: packed data, a text that a pickle names
/// again and again, a picture's width. Readers charge what they are about to take; what goes beyond
/// a multiple of the file's size is an error before it is taken.
class Budget {
 public:
  /// Bytes of memory for each byte of a file. Deflate makes nothing smaller than 1032 to 1, and
  /// readers hold what they unpacked up to four times.
  static constexpr uint64_t kPerByte = 4 * 1032;
  /// What the smallest file may take.
  static constexpr uint64_t kFloor = 1 << 20;

  explicit Budget(uint64_t file_bytes);
  /// For the file at `path`; the floor for one that is not there, whose reader will say so.
  static Budget of_file(const std::string& path);

  /// Throws Error with the reason alone, naming `what`.
  void charge(uint64_t bytes, std::string_view what) {
    if (bytes > left_) refuse(bytes, what);
    left_ -= bytes;
  }

 private:
  [[noreturn]] void refuse(uint64_t bytes, std::string_view what) const;

  uint64_t file_bytes_, limit_, left_;
};

}  // namespace taeda::io
