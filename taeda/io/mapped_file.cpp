#include "taeda/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::io {

namespace {

/// Closes the descriptor on every way out; a mapping does not need it any more.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

std::shared_ptr<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  TAEDA_CHECK(file.fd >= 0, "cannot read ", path, ": ", std::strerror(errno));
  struct stat info {};
  TAEDA_CHECK(::fstat(file.fd, &info) == 0, "cannot read ", path, ": ", std::strerror(errno));
  TAEDA_CHECK(S_ISREG(info.st_mode), "cannot read ", path, ": not a regular file");
  const auto size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.fd, 0);
    TAEDA_CHECK(data != MAP_FAILED, "cannot read ", path, ": ", std::strerror(errno));
  }
  return std::shared_ptr<MappedFile>(new MappedFile(static_cast<char*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, size_);
}

}  // namespace taeda::io
