// The file format TFRecord: length, masked CRC of the length, bytes, masked CRC of the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taeda::inline v0_2::logging {

/// CRC-32C of bytes (Castagnoli; RFC 3720, B.4); 0 of an empty text.
uint32_t crc32c(std::string_view bytes);
/// Rotated by 15 bits, plus a constant, as the format stores it: the CRC of bytes that hold a CRC
/// would be of little use.
uint32_t masked_crc32c(std::string_view bytes);

/// Appends records. What cannot be written is cut off again, so that the file ends with a whole
/// record whatever happens, and later records may succeed.
class RecordFile {
 public:
  /// Creates the file, or goes on behind what it holds. Throws Error, naming path and reason.
  explicit RecordFile(std::string path);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Keeps a record in memory until the next write_out().
  void append(std::string_view record);
  /// Throws Error, which says how many records were lost, when they cannot be written.
  void write_out();
  size_t pending() const { return ends_.size(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_, buffer_;
  std::vector<size_t> ends_;  ///< of the records in the buffer
  int fd_;
};

/// The records of a file. When one is cut off or damaged, Error names path and record; with
/// `damage` its message goes there, and the records before are returned.
std::vector<std::string> read_records(const std::string& path, std::string* damage = nullptr);

}  // namespace taeda::logging
