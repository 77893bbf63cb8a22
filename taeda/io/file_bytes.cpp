#include "taeda/io/file_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/io/mapped_file.h"
#include "taeda/io/readable_file.h"

namespace taeda::inline v0_2::io {

namespace {

class OpenFile : public FileBytes {
 public:
  explicit OpenFile(const std::string& path) : file_(path) {}

  uint64_t size() const override { return file_.size(); }
  void read(uint64_t offset, void* to, size_t bytes) const override {
    constexpr size_t kMost = 1 << 30;  // of one call
    auto* out = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t n =
          ::pread(file_.descriptor(), out, std::min(bytes, kMost), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      file_.check(n >= 0);
      TAEDA_CHECK(n > 0, "cannot read ", file_.path(), ": it had ", size(),
                  " bytes and was cut short to ", offset);
      out += n;
      offset += static_cast<uint64_t>(n);
      bytes -= static_cast<size_t>(n);
    }
  }

 private:
  ReadableFile file_;
};

class MappedBytes : public FileBytes {
 public:
  explicit MappedBytes(const std::string& path) : file_(MappedFile::open(path)) {}
  uint64_t size() const override { return file_->size(); }
  void read(uint64_t offset, void* to, size_t bytes) const override {
    if (bytes > 0) std::memcpy(to, file_->data() + offset, bytes);
  }
  char* memory() const override { return file_->data(); }

 private:
  std::shared_ptr<MappedFile> file_;
};

class ViewedBytes : public FileBytes {
 public:
  explicit ViewedBytes(std::string_view bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  void read(uint64_t offset, void* to, size_t bytes) const override {
    if (bytes > 0) std::memcpy(to, bytes_.data() + offset, bytes);
  }

 private:
  std::string_view bytes_;
};

struct Bytes {
  std::string bytes;
};

class OwnBytes : private Bytes, public ViewedBytes {
 public:
  explicit OwnBytes(std::string content) : Bytes{std::move(content)}, ViewedBytes(Bytes::bytes) {}
};

}  // namespace

std::shared_ptr<FileBytes> FileBytes::open(const std::string& path) {
  return std::make_shared<OpenFile>(path);
}
std::shared_ptr<FileBytes> FileBytes::map(const std::string& path) {
  return std::make_shared<MappedBytes>(path);
}
std::shared_ptr<FileBytes> FileBytes::of(std::string bytes) {
  return std::make_shared<OwnBytes>(std::move(bytes));
}
std::shared_ptr<FileBytes> FileBytes::view(std::string_view bytes) {
  return std::make_shared<ViewedBytes>(bytes);
}

std::string beginning_of_file(const std::string& path, size_t most) {
  try {
    const OpenFile file(path);
    std::string out(static_cast<size_t>(std::min<uint64_t>(most, file.size())), '\0');
    file.read(0, out.data(), out.size());
    return out;
  } catch (const Error&) {
    return {};
  }
}

std::string read_file(const std::string& path) {
  const OpenFile file(path);
  std::string out;
  try {
    out.resize(file.size());
  } catch (const std::exception&) {  // bad_alloc, length_error
    throw OutOfMemoryError(
        taeda::detail::concat("cannot read ", path, ": no memory for its ", file.size(), " bytes"));
  }
  file.read(0, out.data(), out.size());
  return out;
}

}  // namespace taeda::inline v0_2::io
