// Zip archives, through libzip: what .npz and PyTorch's .pt files are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "taeda/io/budget.h"

namespace taeda::inline v0_2::io {

/// Whether this build has libzip.
bool has_zip();

/// Reads an archive, the first where a file has several. Nothing that it claims is trusted.
class ZipReader {
 public:
  struct Entry {
    std::string name;
    uint64_t size = 0;  ///< bytes when unpacked
  };

  /// Throws Error, naming the path, for a file that is missing, no zip archive, or one with an
  /// entry that would be unpacked elsewhere ("../x", "/x"); NotImplementedError in a build without
  /// libzip.
  explicit ZipReader(const std::string& path);
  /// An archive in memory, which errors call `name`.
  ZipReader(std::string bytes, std::string name);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  /// The content, unpacked and checked against its checksum; the first `most` bytes of it. Throws
  /// Error for a damaged entry, for a name that is not there, and where entries together are more
  /// than the file's budget.
  std::string read(const std::string& name, uint64_t most = UINT64_MAX);
  /// What the file's content may take, less what was read.
  Budget& budget() { return budget_; }

 private:
  struct Impl;
  void open_bytes(std::string bytes);
  void list_entries();
  std::string path_;
  std::unique_ptr<Impl> impl_;
  Budget budget_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> index_;  // of the first entry with a name
};

/// The bytes of an archive of these (name, content), deflated if `compressed`. Throws Error,
/// ValueError for a name that leads out of the archive, and NotImplementedError in a build without
/// libzip.
std::string make_zip(const std::vector<std::pair<std::string, std::string>>& entries,
                     bool compressed);

}  // namespace taeda::inline v0_2::io
