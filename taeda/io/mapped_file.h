// A file seen as memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace taeda::inline v0_2::io {

/// Maps a whole file privately: pages are read when touched, writes stay in this process. Throws
/// Error, naming the path and the reason. The file must not be cut short while it is mapped.
class MappedFile {
 public:
  static std::shared_ptr<MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile(char* data, size_t size) : data_(data), size_(size) {}

  char* data_;
  size_t size_;
};

}  // namespace taeda::io
