// A file that appears whole or not at all: written beside its place, flushed to the disk, renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::io {

/// Writes to a temporary file in the folder of `path`; commit() puts it in place, replacing what
/// was there. Without commit() nothing is left behind, and what a killed process left goes with the
/// next one's first write to the folder. A file that is replaced passes on its permissions and, as
/// far as the process may, its owner; where `path` is a symbolic link, the file that it points to
/// is replaced. Throws Error, naming the path and the reason, when the folder does not exist or
/// cannot be written to, the disk is full, or `path` is a device or a pipe.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  /// With AtLink::Replace a symbolic link is replaced itself, and nothing passes on owner or
  /// permissions: for folders in which others may put something in the file's place.
  enum class AtLink : uint8_t { Follow, Replace };
  AtomicFile(std::string path, AtLink at_link);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Replaces bytes that were written, at this place.
  void overwrite(long offset, std::string_view bytes);
  /// For libraries that write to a C stream.
  std::FILE* stream() const { return file_; }
  /// An error of the last step, flushing the folder, comes when the new file is in place, but might
  /// not be after a loss of power.
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;
  void keep_owner_and_mode() const;

  const AtLink at_link_;
  std::string path_;
  std::filesystem::path target_, temporary_;
  std::FILE* file_ = nullptr;
};

/// Writes a text or a block of bytes atomically.
void write_file(const std::string& path, std::string_view contents);

}  // namespace taeda::inline v0_2::io
