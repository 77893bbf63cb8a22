#include "taeda/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/io/temporary_file.h"

namespace taeda::inline v0_2::io {

namespace {

namespace fs = std::filesystem;

/// Flushes the rename itself. Some file systems do not know this call, and then it does not matter;
/// a folder that may be written but not read cannot be opened for it.
bool sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno == EACCES;
  const bool synced = ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
  const int reason = errno;
  ::close(fd);
  errno = reason;
  return synced;
}

fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? "." : parent;
}

/// Where a chain of symbolic links ends, whether or not something is there.
fs::path behind_links(fs::path path) {
  constexpr int kLongestChain = 40;  // the kernel's own limit
  std::error_code error;
  for (int i = 0; i < kLongestChain && fs::is_symlink(fs::symlink_status(path, error)); ++i)
    path = folder_of(path) / fs::read_symlink(path);
  return path;
}

/// Sweeps a folder once in the life of a process: programs that write many files read it once.
void sweep_once(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<std::string> swept;
  const std::lock_guard lock(mutex);
  std::error_code error;
  if (swept.insert(fs::absolute(folder, error).string()).second) sweep_temporaries(folder);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : AtomicFile(std::move(path), AtLink::Follow) {}

AtomicFile::AtomicFile(std::string path, AtLink at_link)
    : at_link_(at_link), path_(std::move(path)) {
  TAEDA_CHECK(fs::path(path_).has_filename(), "cannot write ", path_, ": not the name of a file");
  const bool follow = at_link_ == AtLink::Follow;
  target_ = follow ? behind_links(path_) : fs::path(path_);
  if (target_.parent_path().empty()) target_ = "." / target_;
  struct stat old {};
  const bool replaces = (follow ? ::stat : ::lstat)(target_.c_str(), &old) == 0;
  TAEDA_CHECK(!replaces || S_ISREG(old.st_mode) || S_ISDIR(old.st_mode) || S_ISLNK(old.st_mode),
              "cannot write ", path_, ": not a regular file");
  sweep_once(folder_of(target_));
  // What replaces a private file is private from its first byte on.
  TemporaryFile made = make_temporary_beside(target_, follow && replaces ? 0600 : 0666);
  if (made.descriptor < 0) fail("open");
  temporary_ = std::move(made.path);  // a copy would need memory, and leave the file behind without
  file_ = ::fdopen(made.descriptor, "wb");
  if (!file_) {
    ::close(made.descriptor);
    ::unlink(temporary_.c_str());
    fail("open");
  }
}

AtomicFile::~AtomicFile() {
  if (!file_) return;
  std::fclose(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* what) const {
  const int reason = errno;
  throw Error(
      taeda::detail::concat("cannot write ", path_, ": ", std::strerror(reason), " (", what, ")"));
}

void AtomicFile::write(const void* data, size_t bytes) {
  if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) fail("write");
}

void AtomicFile::overwrite(long offset, std::string_view bytes) {
  if (std::fseek(file_, offset, SEEK_SET) != 0) fail("seek");
  write(bytes);
  if (std::fseek(file_, 0, SEEK_END) != 0) fail("seek");
}

void AtomicFile::keep_owner_and_mode() const {
  struct stat old {
  }, made{};
  const int fd = ::fileno(file_);
  if (::stat(target_.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return;
  if (::fstat(fd, &made) != 0) fail("stat");
  // Only a privileged process may give files away; without, the file becomes the writer's.
  const bool foreign = old.st_uid != made.st_uid || old.st_gid != made.st_gid;
  const bool kept = !foreign || ::fchown(fd, old.st_uid, old.st_gid) == 0;
  if (::fchmod(fd, old.st_mode & (kept ? 07777 : 0777)) != 0 && errno != EPERM) fail("chmod");
}

void AtomicFile::commit() {
  TAEDA_CHECK(file_, "cannot write ", path_, ": the file is already in place");
  const fs::path folder = folder_of(target_);  // nothing is asked for once the file is in place
  if (std::fflush(file_) != 0 || std::ferror(file_)) fail("write");
  if (at_link_ == AtLink::Follow) keep_owner_and_mode();
  if (::fsync(::fileno(file_)) != 0 && errno != EINVAL) fail("fsync");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename");
  std::fclose(file_);
  file_ = nullptr;
  if (!sync_folder(folder)) fail("fsync of the folder");
}

void write_file(const std::string& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

}  // namespace taeda::inline v0_2::io
