// A regular file that is open for reading.
#pragma once

#include <cstdint>
#include <string>

namespace taeda::inline v0_2::io {

class ReadableFile {
 public:
  /// Throws Error, naming the path and the reason, for what cannot be opened or is no regular file.
  explicit ReadableFile(const std::string& path);
  ~ReadableFile();
  ReadableFile(const ReadableFile&) = delete;
  ReadableFile& operator=(const ReadableFile&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  /// Its bytes when it was opened.
  uint64_t size() const { return size_; }
  /// Throws Error, naming the path, with the reason in errno if `success` does not hold.
  void check(bool success) const;

 private:
  std::string path_;
  int descriptor_;
  uint64_t size_ = 0;
};

}  // namespace taeda::inline v0_2::io
