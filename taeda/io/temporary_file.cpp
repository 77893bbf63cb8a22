#include "taeda/io/temporary_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::io {

namespace {

constexpr std::string_view kEnding = ".taeda~";
constexpr size_t kDigits = 16;
/// Names may have 255 bytes; a long one is cut.
constexpr size_t kLongestStem = 200;
constexpr int kAttempts = 100;
constexpr time_t kDay = 24 * 60 * 60;

std::string random_name(const std::string& target) {
  unsigned long long number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return "";
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", number);
  return "." + target.substr(0, kLongestStem) + "." + digits + std::string(kEnding);
}

bool is_temporary_name(std::string_view name) {
  if (name.size() < kDigits + kEnding.size() + 3 || name[0] != '.' || !name.ends_with(kEnding))
    return false;
  name.remove_suffix(kEnding.size());
  const std::string_view digits = name.substr(name.size() - kDigits);
  return name[name.size() - kDigits - 1] == '.' &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Whether nobody but this machine's processes can have a file of this file system open.
bool is_local(int fd) {
  constexpr unsigned long kLocal[] = {0xEF53,     /* ext */  0x58465342, /* xfs */
                                      0x9123683E, /* btrfs */ 0x01021994, /* tmpfs */
                                      0x794C7630 /* overlayfs */};
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return false;
  const auto type = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFul;
  return std::find(std::begin(kLocal), std::end(kLocal), type) != std::end(kLocal);
}

bool is_nobodys(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return false;
  return is_local(fd) || std::time(nullptr) - info.st_mtime > kDay;
}

/// Whether the file is locked by us and still has its name. A file system without locks has nobody
/// that sweeps either.
bool claim(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_nlink > 0;
}

}  // namespace

TemporaryFile make_temporary_beside(const std::filesystem::path& target, unsigned mode) {
  TemporaryFile out;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::string name = random_name(target.filename().string());
    if (name.empty()) return out;
    out.path = target.parent_path() / name;
    out.descriptor = ::open(out.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (out.descriptor < 0 && errno != EEXIST) return out;
    if (out.descriptor < 0) continue;
    if (claim(out.descriptor)) return out;
    ::close(out.descriptor);
    out.descriptor = -1;
    errno = EEXIST;
  }
  return out;
}

void sweep_temporaries(const std::filesystem::path& folder) {
  const char* name = folder.empty() ? "." : folder.c_str();
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(name), &::closedir);
  if (!entries) return;
  const int at = ::dirfd(entries.get());
  while (const dirent* entry = ::readdir(entries.get())) {
    if (!is_temporary_name(entry->d_name)) continue;
    const int fd = ::openat(at, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (is_nobodys(fd)) ::unlinkat(at, entry->d_name, 0);
    ::close(fd);
  }
}

}  // namespace taeda::io
