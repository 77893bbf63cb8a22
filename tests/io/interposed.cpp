#include "tests/io/interposed.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace taeda {

bool FailingFolderSync::active = false;
int RepeatedRandom::left = 0;
bool CutShort::active = false;

}  // namespace taeda

extern "C" int fsync(int fd) {
  struct stat info {};
  if (taeda::FailingFolderSync::active && ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

extern "C" ssize_t getrandom(void* to, size_t bytes, unsigned flags) noexcept {
  if (taeda::RepeatedRandom::left > 0) {
    --taeda::RepeatedRandom::left;
    std::memset(to, 0x5a, bytes);
    return static_cast<ssize_t>(bytes);
  }
  return ::syscall(SYS_getrandom, to, bytes, flags);
}

extern "C" ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  struct stat info {};
  if (taeda::CutShort::active && ::fstat(fd, &info) == 0) {
    taeda::CutShort::active = false;
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (::truncate(path.c_str(), info.st_size / 2) != 0) return -1;
  }
  return ::syscall(SYS_pread64, fd, to, bytes, offset);
}
