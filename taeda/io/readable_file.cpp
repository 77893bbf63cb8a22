#include "taeda/io/readable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::io {

ReadableFile::ReadableFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  check(descriptor_ >= 0);
  try {
    struct stat info {};
    check(::fstat(descriptor_, &info) == 0);
    TAEDA_CHECK(S_ISREG(info.st_mode), "cannot read ", path, ": not a regular file");
    size_ = static_cast<uint64_t>(info.st_size);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ReadableFile::~ReadableFile() { ::close(descriptor_); }

void ReadableFile::check(bool success) const {
  TAEDA_CHECK(success, "cannot read ", path_, ": ", std::strerror(errno));
}

}  // namespace taeda::inline v0_2::io
