// The bytes of a file as a reader wants them: some at a place, or all of them as memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::io {

class FileBytes {
 public:
  /// Reads what is asked for when it is asked for, with the system's calls: a file that is cut
  /// short meanwhile is an error and not a signal. Throws Error, naming the path and the reason.
  static std::shared_ptr<FileBytes> open(const std::string& path);
  /// Maps the file.
  static std::shared_ptr<FileBytes> map(const std::string& path);
  static std::shared_ptr<FileBytes> of(std::string bytes);
  /// Of memory that outlives it.
  static std::shared_ptr<FileBytes> view(std::string_view bytes);
  virtual ~FileBytes() = default;

  virtual uint64_t size() const = 0;
  virtual void read(uint64_t offset, void* to, size_t bytes) const = 0;
  /// The memory that tensors may lie in, which lives as long as this does; null where read() copies
  /// from a file.
  virtual char* memory() const { return nullptr; }
};

/// Up to `most` bytes of a file's beginning, by which formats are told; none where it cannot be
/// read or is no regular file, which its reader will say. No pipe is waited for.
std::string beginning_of_file(const std::string& path, size_t most);

/// The whole content of a file. Throws Error, naming the path and the reason, also when the file is
/// cut short meanwhile; OutOfMemoryError when it does not fit into memory.
std::string read_file(const std::string& path);

}  // namespace taeda::io
