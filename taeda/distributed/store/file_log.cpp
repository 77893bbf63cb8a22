#include "taeda/distributed/store/file_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/distributed/job.h"

namespace taeda::inline v0_2::distributed::detail {

namespace {

constexpr char kMagic[8] = {'t', 'a', 'e', 'd', 'a', 'F', 'S', '1'};

/// Before the key and the value of a change.
struct RecordHead {
  uint32_t key_bytes, value_bytes, erased;
};

// The bytes that are locked lie far behind the end, where locks are allowed and nothing is.
constexpr off_t kChanges = off_t{1} << 60;  // held while somebody reads or changes the file
constexpr off_t kMembers = kChanges + 1;    // shared by all who have the file open
constexpr off_t kWaiting = kChanges + 2;    // shared by all who wait for kChanges

/// How often one who waits asks, at least.
constexpr std::chrono::microseconds kLongestPause(1000);

/// Whether the lock was to be had at once.
bool try_lock(int file, short kind, off_t at) {
  struct flock range = {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = at;
  range.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &range) == 0;
}

/// Whether somebody else holds the byte in whatever way.
bool is_held(int file, off_t at) {
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = at;
  range.l_len = 1;
  return ::fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

bool lock_is_taken() { return errno == EAGAIN || errno == EACCES || errno == EINTR; }

bool write_all(int file, const void* data, size_t bytes, uint64_t at) {
  for (const char* p = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t n = ::pwrite(file, p, bytes, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, at += static_cast<uint64_t>(n), bytes -= static_cast<size_t>(n);
  }
  return true;
}

/// As many of `bytes` as the file has.
size_t read_some(int file, void* data, size_t bytes, uint64_t at) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        ::pread(file, static_cast<char*>(data) + done, bytes - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace

FileLog::FileLog(std::string path, int64_t world_size, std::chrono::milliseconds timeout)
    : path_(std::move(path)), name_("FileStore('" + path_ + "')"), timeout_(timeout) {
  try {
    open_locked(timeout);
    join(world_size);
    unlock();
  } catch (...) {
    if (file_ >= 0) ::close(file_);
    throw;
  }
}

FileLog::~FileLog() {
  try {
    if (process_.here()) leave();
  } catch (const std::exception&) {
    // Closing gives up the membership as a crash does: whoever is left cleans up.
  }
  ::close(file_);
}

/// Opens the file and locks it; once more where the last member of another job removed it between.
void FileLog::open_locked(std::chrono::milliseconds timeout) {
  const Clock::time_point deadline = deadline_after(timeout);
  for (;;) {
    open_file();
    lock("open", deadline);
    if (is_at_path()) return;
    ::close(file_);
    file_ = -1;
  }
}

void FileLog::open_file() {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0 && errno == ELOOP)
    fail("open", "the file is a symbolic link, which could be another user's");
  if (file_ < 0) fail_with_errno("open", "cannot open the file");
  struct stat info = {};
  if (::fstat(file_, &info) != 0) fail_with_errno("open", "cannot tell the file's owner");
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    fail("open", "the file belongs to user " + std::to_string(info.st_uid) +
                     ", who could take part in the job; this process is user " +
                     std::to_string(::geteuid()) + "'s");
}

void FileLog::lock(const char* operation, Clock::time_point deadline) {
  process_.check(operation, name_);  // a copy has the same locks
  // Asked for again and again rather than waited for: a process that was stopped with the lock in
  // its hand must not hold up others beyond their timeout. Who comes lets those go first who wait,
  // else a process that changes the file all the time would keep them waiting.
  if (is_held(file_, kWaiting)) std::this_thread::sleep_for(2 * kLongestPause);
  std::chrono::microseconds pause(50);
  bool waiting = false;
  while (!try_lock(file_, F_WRLCK, kChanges)) {
    if (!lock_is_taken()) fail_with_errno(operation, "cannot lock the file");
    if (!waiting) waiting = try_lock(file_, F_RDLCK, kWaiting);
    if (Clock::now() >= deadline) {
      try_lock(file_, F_UNLCK, kWaiting);
      fail(operation, "another process held the lock of the file for the whole timeout");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
  if (waiting) try_lock(file_, F_UNLCK, kWaiting);
}

void FileLog::unlock() { try_lock(file_, F_UNLCK, kChanges); }

bool FileLog::is_at_path() const {
  struct stat mine, there;
  return ::fstat(file_, &mine) == 0 && ::stat(path_.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

void FileLog::join(int64_t world_size) {
  const bool alone = try_lock(file_, F_WRLCK, kMembers);
  const std::string job = job_name().substr(0, sizeof Header::job - 1);
  struct stat info;
  if (::fstat(file_, &info) != 0) fail_with_errno("open", "cannot tell the file's size");
  const bool is_new = info.st_size == 0;

  Header header = {};
  if (!is_new) header = read_header("open");
  // Nobody has it open and not all said goodbye, or it is another job's: nobody comes back to it.
  const bool other_job =
      (header.world_size > 0 && world_size > 0 && header.world_size != world_size) ||
      job != header.job;
  if (is_new || (alone && (header.joined != header.left || other_job))) {
    header = {{}, sizeof(Header), world_size, 0, 0, {}};
    std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
    std::copy(job.begin(), job.end(), header.job);
  }
  check_peers(header, world_size, job);
  if (header.world_size <= 0) header.world_size = world_size;
  header.joined += 1;
  if (!try_lock(file_, F_RDLCK, kMembers)) fail_with_errno("open", "cannot lock the file");
  write_header(header, "open");
  position_ = sizeof(Header);
}

void FileLog::check_peers(const Header& header, int64_t world_size, const std::string& job) const {
  if (job != header.job)
    fail("open", "the file is in use by job '" + std::string(header.job) +
                     "', but this process belongs to job '" + job + "'");
  if (header.world_size > 0 && world_size > 0 && header.world_size != world_size)
    fail("open", "the file is in use by a job of world size " + std::to_string(header.world_size) +
                     ", but this process was told " + std::to_string(world_size));
}

void FileLog::leave() {
  lock("close", deadline_after(std::min(timeout_, std::chrono::milliseconds(5000))));
  Header header = read_header("close");
  header.left += 1;
  write_header(header, "close");
  const bool all_came =
      header.world_size > 0 && header.joined >= static_cast<uint64_t>(header.world_size);
  if (all_came && try_lock(file_, F_WRLCK, kMembers) && is_at_path()) ::unlink(path_.c_str());
}

FileLog::Header FileLog::read_header(const char* operation) const {
  Header header;
  const bool whole = read_some(file_, &header, sizeof header, 0) == sizeof header;
  if (!whole || !std::equal(std::begin(kMagic), std::end(kMagic), header.magic))
    fail(operation, "the file is not one of a FileStore; give another path or remove it");
  header.job[sizeof header.job - 1] = 0;
  return header;
}

void FileLog::write_header(const Header& header, const char* operation) {
  if (!write_all(file_, &header, sizeof header, 0))
    fail_with_errno(operation, "cannot write to the file");
}

void FileLog::read_new_records(const char* operation) {
  struct stat info;
  if (::fstat(file_, &info) != 0) fail_with_errno(operation, "cannot tell the file's size");
  if (info.st_nlink == 0) fail(operation, "the file was removed while this process used it");
  const Header header = read_header(operation);
  if (header.end < position_ || header.end > static_cast<uint64_t>(info.st_size))
    fail(operation, "the file was changed by something other than a FileStore");
  const uint64_t bytes = header.end - position_;
  std::string text(bytes, 0);
  if (read_some(file_, text.data(), bytes, position_) != bytes)
    fail_with_errno(operation, "cannot read the file");

  std::string_view rest = text;
  while (!rest.empty()) {
    RecordHead head = {};
    std::memcpy(&head, rest.data(), std::min(sizeof head, rest.size()));
    const uint64_t size = sizeof head + uint64_t{head.key_bytes} + head.value_bytes;
    if (size > rest.size())
      fail(operation, "the file was changed by something other than a FileStore");
    const std::string key(rest.substr(sizeof head, head.key_bytes));
    if (head.erased)
      values_.erase(key);
    else
      values_.set(key, std::string(rest.substr(sizeof head + head.key_bytes, head.value_bytes)));
    rest.remove_prefix(size);
  }
  position_ = header.end;
}

void FileLog::append(const char* operation, const std::string& key, std::string_view value,
                     bool erased) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  if (key.size() > kMost || value.size() > kMost)
    fail(operation, "a key or value of more than 4 GiB");
  const RecordHead head = {static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size()),
                           erased};
  std::string record(reinterpret_cast<const char*>(&head), sizeof head);
  record += key;
  record += value;
  Header header = read_header(operation);
  if (!write_all(file_, record.data(), record.size(), header.end))
    fail_with_errno(operation, "cannot write key '" + key + "' to the file");
  header.end += record.size();
  write_header(header, operation);
  position_ = header.end;
}

void FileLog::fail(const char* operation, const std::string& why) const {
  taeda::detail::fail<DistributedError>(taeda::detail::concat(name_, ".", operation, ": ", why));
}

void FileLog::fail_with_errno(const char* operation, const std::string& what) const {
  fail(operation, what + " (" + std::strerror(errno) + ")");
}

FileLog::Access::Access(FileLog& log, const char* operation, std::chrono::milliseconds timeout)
    : log_(log), operation_(operation), threads_(log.threads_) {
  log_.lock(operation, deadline_after(timeout));
  try {
    log_.read_new_records(operation);
  } catch (...) {
    log_.unlock();
    throw;
  }
}

FileLog::Access::~Access() { log_.unlock(); }

void FileLog::Access::set(const std::string& key, std::string_view value) {
  log_.append(operation_, key, value, false);
  log_.values_.set(key, std::string(value));
}

void FileLog::Access::erase(const std::string& key) {
  log_.append(operation_, key, {}, true);
  log_.values_.erase(key);
}

}  // namespace taeda::inline v0_2::distributed::detail
