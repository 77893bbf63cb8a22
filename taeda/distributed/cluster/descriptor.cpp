#include "taeda/distributed/cluster/descriptor.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::cluster {

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Pipe::Pipe() {
  int ends[2];
  TAEDA_CHECK_AS(DistributedError, ::pipe2(ends, O_CLOEXEC) == 0, "a pipe cannot be made (",
                 std::strerror(errno), ")");
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

Descriptor file_of_text(const char* name, std::string_view text) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  TAEDA_CHECK_AS(DistributedError, file && write_all(file.get(), text),
                 "a file in memory cannot be written (", std::strerror(errno), ")");
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return file;
}

std::string text_of_file(int file) {
  std::string out;
  char buffer[4096];
  ssize_t n = 0;
  // Processes that share the descriptor share its position, too: `pread` leaves it alone.
  while ((n = ::pread(file, buffer, sizeof buffer, static_cast<off_t>(out.size()))) > 0)
    out.append(buffer, static_cast<size_t>(n));
  TAEDA_CHECK_AS(DistributedError, n == 0, "descriptor ", file, " cannot be read (",
                 std::strerror(errno), ")");
  return out;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool read_available(int file, std::string& out, size_t most) {
  char buffer[16384];
  const size_t enough = out.size() + most;
  while (out.size() < enough) {
    const ssize_t n = ::read(file, buffer, sizeof buffer);
    if (n > 0) out.append(buffer, static_cast<size_t>(n));
    if (n == 0) return false;
    if (n < 0 && errno != EINTR) return errno == EAGAIN;
  }
  return true;
}

}  // namespace taeda::inline v0_2::distributed::cluster
