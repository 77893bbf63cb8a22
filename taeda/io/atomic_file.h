// A file that appears whole or not at all: written beside its place, flushed to the disk, renamed.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::io {

/// Writes to a temporary file in the folder of `path`; commit() puts it in place, replacing what
/// was there. Without commit() nothing is left behind. Throws Error, naming the path and the
/// reason, when the folder does not exist or cannot be written to, or the disk is full.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// For libraries that write to a C stream.
  std::FILE* stream() const { return file_; }
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_, temporary_;
  std::FILE* file_ = nullptr;
};

/// Writes a text or a block of bytes atomically.
void write_file(const std::string& path, std::string_view contents);

}  // namespace taeda::io
