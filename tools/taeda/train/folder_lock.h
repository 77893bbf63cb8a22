// One run at a time in a folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace taeda::tool {

/// Keeps other runs out of a folder while it lives, those of other machines too where the file
/// system passes locks on, as NFS does. The system lets go of it when the process ends, whatever
/// ended it.
class FolderLock {
 public:
  /// Makes the folder where there is none, and locks it. Throws UsageError where it cannot be made,
  /// or naming who has it. Where a file system has no locks it says so on stderr.
  static std::unique_ptr<FolderLock> lock(const std::string& folder);
  /// The same; null where somebody has it.
  static std::unique_ptr<FolderLock> try_lock(const std::string& folder);
  /// Takes its file away, and the folder where nothing was put into it.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(const std::string& folder);
  bool take(std::string* holder);
  void warn(const char* what) const;
  void let_go();

  const std::string path_;
  std::vector<std::string> made_;  ///< folders, the deepest last
  int file_ = -1;
  bool locked_ = false;
};

}  // namespace taeda::tool
