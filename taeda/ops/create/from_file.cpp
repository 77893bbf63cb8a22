#include "taeda/ops/create/from_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2 {

namespace {

/// A file that is closed at the end of a scope.
class OpenFile {
 public:
  OpenFile(const std::string& name, bool shared)
      : number_(open(name.c_str(), (shared ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600)) {
    TAEDA_CHECK(number_ >= 0, "from_file: unable to open file <", name, "> in ",
                shared ? "read-write" : "read-only", " mode: ", std::strerror(errno), " (", errno,
                ")");
  }
  ~OpenFile() { close(number_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number() const { return number_; }
  int64_t bytes() const {
    struct stat about = {};
    return fstat(number_, &about) == 0 ? about.st_size : 0;
  }

 private:
  int number_;
};

/// `bytes` bytes of the file, not none of them.
void* mapped(const std::string& name, bool shared, size_t bytes) {
  const OpenFile file(name, shared);
  const auto have = static_cast<uint64_t>(file.bytes());
  if (have < bytes && shared)
    TAEDA_CHECK(ftruncate(file.number(), static_cast<off_t>(bytes)) == 0,
                "from_file: unable to resize file <", name, "> to ", bytes,
                " bytes: ", std::strerror(errno), " (", errno, ")");
  TAEDA_CHECK(have >= bytes || shared, "from_file: file <", name, "> has ", have,
              " bytes, but the tensor needs ", bytes);
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE,
                          file.number(), 0);
  TAEDA_CHECK(data != MAP_FAILED, "from_file: unable to mmap ", bytes, " bytes from file <", name,
              ">: ", std::strerror(errno), " (", errno, ")");
  return data;
}

}  // namespace

Tensor from_file(std::string_view filename, std::optional<bool> shared, OptionalDim size,
                 const TensorOptions& options) {
  const std::string name(filename);
  const int64_t count = size.value_or(0);
  TAEDA_CHECK(count >= 0, "from_file: size must be non-negative, but got ", count);
  TAEDA_CHECK(options.device().is_cpu(), "from_file: files are read by the CPU, but got device ",
              options.device());
  const auto bytes = static_cast<size_t>(
      Layout::contiguous(IntArrayRef(count)).checked_storage_nbytes(element_size(options.dtype())));
  if (bytes == 0) {
    const OpenFile file(name, shared.value_or(false));
    return empty({count}, options);
  }
  void* const data = mapped(name, shared.value_or(false), bytes);
  return from_blob(
      data, IntArrayRef(count), [bytes](void* p) { munmap(p, bytes); }, options);
}

}  // namespace taeda::inline v0_2
