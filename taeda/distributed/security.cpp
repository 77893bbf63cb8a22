#include "taeda/distributed/security.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "taeda/base/error.h"
#include "taeda/distributed/network.h"

namespace taeda::inline v0_2::distributed {

namespace {

constexpr size_t kLeastSecret = 16, kMostSecret = 4096;

/// Those here name files and descriptors, which a program with raised privileges may open though
/// the one who set them may not.
std::string variable(const char* name) {
  const char* text = ::secure_getenv(name);
  return text ? text : "";
}

/// All that `file` holds, as far as a secret may go and a little further. A file is read from its
/// beginning, without moving the position, which processes share.
std::string read_descriptor(int file, const std::string& name) {
  std::string out;
  char buffer[1024];
  const bool is_file = ::lseek(file, 0, SEEK_CUR) >= 0;
  while (out.size() <= kMostSecret) {
    const ssize_t n = is_file ? ::pread(file, buffer, sizeof buffer, static_cast<off_t>(out.size()))
                              : ::read(file, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    TAEDA_CHECK_AS(DistributedError, n >= 0, name, " cannot be read (", std::strerror(errno), ")");
    if (n == 0) break;
    out.append(buffer, static_cast<size_t>(n));
  }
  return out;
}

std::string checked_secret(std::string text, const std::string& name) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  TAEDA_CHECK_AS(DistributedError, text.size() >= kLeastSecret && text.size() <= kMostSecret, name,
                 " must hold ", kLeastSecret, " to ", kMostSecret, " bytes, but it holds ",
                 text.size() > kMostSecret ? "more" : std::to_string(text.size()),
                 "; `openssl rand -hex 32` prints a good secret");
  return text;
}

/// A pipe can be read once, so what came out of it is kept.
std::string secret_of_descriptor(const std::string& number) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, std::string>;
  std::lock_guard lock(mutex);
  if (const auto it = known->find(number); it != known->end()) return it->second;
  const std::string name = "TAEDA_DISTRIBUTED_SECRET_FD=" + number;
  int file = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), file);
  const bool whole = error == std::errc() && end == number.data() + number.size() && file >= 0;
  TAEDA_CHECK_AS(DistributedError, whole, name, " is not the number of a descriptor");
  return (*known)[number] = checked_secret(read_descriptor(file, name), name);
}

std::string secret_from_environment() {
  const std::string path = variable("TAEDA_DISTRIBUTED_SECRET_FILE");
  const std::string descriptor = variable("TAEDA_DISTRIBUTED_SECRET_FD");
  TAEDA_CHECK_AS(DistributedError, path.empty() || descriptor.empty(),
                 "TAEDA_DISTRIBUTED_SECRET_FILE=", path,
                 " and TAEDA_DISTRIBUTED_SECRET_FD=", descriptor, " are both set; one is enough");
  if (!path.empty()) return read_secret(path);
  return descriptor.empty() ? std::string() : secret_of_descriptor(descriptor);
}

}  // namespace

std::string read_secret(const std::string& path) {
  const std::string name = "the secret file '" + path + "'";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // it may be a pipe
  TAEDA_CHECK_AS(DistributedError, file >= 0, name, " cannot be opened (", std::strerror(errno),
                 ")");
  struct Closer {
    int file;
    ~Closer() { ::close(file); }
  } closer{file};
  struct stat info = {};
  ::fstat(file, &info);
  TAEDA_CHECK_AS(DistributedError, S_ISREG(info.st_mode), name,
                 " is not a regular file; TAEDA_DISTRIBUTED_SECRET_FD names an open pipe");
  TAEDA_CHECK_AS(DistributedError, (info.st_mode & 077) == 0, name,
                 " can be read or written by others than its owner; do `chmod 600 ", path, "`");
  TAEDA_CHECK_AS(DistributedError, info.st_uid == ::geteuid() || info.st_uid == 0, name,
                 " belongs to user ", info.st_uid, ", but this process runs as ", ::geteuid());
  return checked_secret(read_descriptor(file, name), name);
}

Security Security::from_environment() {
  Security out;
  out.secret = secret_from_environment();
  out.tls_certificate = variable("TAEDA_DISTRIBUTED_TLS_CERT");
  out.tls_key = variable("TAEDA_DISTRIBUTED_TLS_KEY");
  out.tls_authority = variable("TAEDA_DISTRIBUTED_TLS_CA");
  const bool none = out.tls_certificate.empty();
  TAEDA_CHECK_AS(DistributedError, out.tls_key.empty() == none && out.tls_authority.empty() == none,
                 "mutual TLS needs TAEDA_DISTRIBUTED_TLS_CERT, TAEDA_DISTRIBUTED_TLS_KEY and "
                 "TAEDA_DISTRIBUTED_TLS_CA, but they are '",
                 out.tls_certificate, "', '", out.tls_key, "' and '", out.tls_authority, "'");
  return out;
}

void check_reach(const std::string& address, const Security& security, const std::string& what) {
  TAEDA_CHECK_AS(
      DistributedError, security.authenticates() || is_loopback(address), what, " ", address,
      ", beyond this machine, is refused without a way to tell who takes part. Give all processes "
      "of the job the same secret: write `openssl rand -hex 32` to a file of mode 0600 and set "
      "TAEDA_DISTRIBUTED_SECRET_FILE to its path. Or use mutual TLS: set "
      "TAEDA_DISTRIBUTED_TLS_CERT, "
      "TAEDA_DISTRIBUTED_TLS_KEY and TAEDA_DISTRIBUTED_TLS_CA");
}

}  // namespace taeda::distributed
