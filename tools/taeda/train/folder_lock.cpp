#include "tools/taeda/train/folder_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;

/// Makes a folder and those above it; the ones that were not there.
std::vector<std::string> make_folders(const std::string& folder) {
  std::vector<std::string> out;
  for (fs::path path = fs::path(folder) / ""; path.has_relative_path(); path = path.parent_path())
    if (!fs::exists(path) && path.has_filename()) out.insert(out.begin(), path.string());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder))
    throw UsageError(
        taeda::detail::concat("cannot make the output folder ", folder, ": ", error.message()));
  return out;
}

/// "process 4711 on node1 since 2026-11-23 16:04:01 UTC".
std::string this_process() {
  char host[256] = {}, time[64] = {};
  ::gethostname(host, sizeof host - 1);
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  std::strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return "process " + std::to_string(::getpid()) + " on " + host + " since " + time;
}

/// What another process has written there; whatever else the file holds is not shown.
std::string text_of(int file) {
  char buffer[400];
  const ssize_t n = ::pread(file, buffer, sizeof buffer, 0);
  std::string out;
  for (ssize_t i = 0; i < n && buffer[i] != '\n'; ++i)
    if (std::isprint(static_cast<unsigned char>(buffer[i]))) out += buffer[i];
  return out.starts_with("process ") ? out : "another process";
}

bool is_file(int file, const std::string& path) {
  struct stat open = {}, named = {};
  return ::fstat(file, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

std::unique_ptr<FolderLock> FolderLock::lock(const std::string& folder) {
  std::unique_ptr<FolderLock> out(new FolderLock(folder));
  std::string holder;
  if (out->take(&holder)) return out;
  throw UsageError(holder + " trains in " + folder + " (" + out->path_ +
                   "): wait for its end, or give another --out");
}

std::unique_ptr<FolderLock> FolderLock::try_lock(const std::string& folder) {
  std::unique_ptr<FolderLock> out(new FolderLock(folder));
  std::string holder;
  return out->take(&holder) ? std::move(out) : nullptr;
}

FolderLock::FolderLock(const std::string& folder)
    : path_(folder + "/run.lock"), made_(make_folders(folder)) {}

FolderLock::~FolderLock() { let_go(); }

/// An open file's lock, not a process's, which would go with the first descriptor that is closed.
bool FolderLock::take(std::string* holder) {
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (file_ < 0) {
      warn("be opened");
      return true;
    }
    struct flock all = {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    if (::fcntl(file_, F_OFD_SETLK, &all) != 0) {
      if (errno == EAGAIN || errno == EACCES) {
        *holder = text_of(file_);
        return false;
      }
      warn("be locked");
      return true;
    }
    // Who had it before may have taken the file away after it was opened here.
    if (is_file(file_, path_)) break;
    ::close(file_);
  }
  locked_ = true;
  const std::string text = this_process() + "\n";
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, text.data(), text.size(), 0) < 0)
    warn("be written");
  return true;
}

void FolderLock::warn(const char* what) const {
  std::fprintf(stderr, "taeda: %s cannot %s (%s); nothing keeps another run out of its folder\n",
               path_.c_str(), what, std::strerror(errno));
}

void FolderLock::let_go() {
  if (locked_) ::unlink(path_.c_str());
  locked_ = false;
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().c_str());
}

}  // namespace taeda::tool
