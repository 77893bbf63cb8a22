#include "taeda/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::io {

namespace {

/// Flushes the rename itself; some file systems do not know this call, and then it does not matter.
void sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

std::filesystem::path folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  static std::atomic<unsigned> counter{0};
  const std::filesystem::path name = std::filesystem::path(path_).filename();
  TAEDA_CHECK(!name.empty(), "cannot write ", path_, ": not the name of a file");
  temporary_ = (folder_of(path_) /
                taeda::detail::concat(".", name.string(), ".", ::getpid(), ".", ++counter))
                   .string();
  const int fd = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail("open");
  file_ = ::fdopen(fd, "wb");
  if (!file_) {
    ::close(fd);
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

void AtomicFile::commit() {
  TAEDA_CHECK(file_, "cannot write ", path_, ": the file is already in place");
  if (std::fflush(file_) != 0 || std::ferror(file_)) fail("write");
  if (::fsync(::fileno(file_)) != 0 && errno != EINVAL) fail("fsync");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  std::fclose(file_);
  file_ = nullptr;
  sync_folder(folder_of(path_));
}

void write_file(const std::string& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

}  // namespace taeda::io
