#include "taeda/vision/idx.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "taeda/base/error.h"

#if defined(TAEDA_HAS_ZLIB)
#include <zlib.h>
#endif

namespace taeda::inline v0_2::vision {

namespace {

constexpr int64_t kMaxIdxDims = 8;
/// No gzip stream shrinks its content further (deflate's limit is 1032): a header that promises
/// more than this many times the file is false, and no memory is taken for it.
constexpr int64_t kMaxInflation = 1100;

#if defined(TAEDA_HAS_ZLIB)

/// A file read through zlib, which passes plain files on as they are.
class ByteSource {
 public:
  explicit ByteSource(const std::string& path) : path_(path), file_(::gzopen(path.c_str(), "rb")) {
    TAEDA_CHECK(file_, "cannot read ", path, ": ", std::strerror(errno));
    ::gzbuffer(file_, 1 << 18);
  }
  ~ByteSource() { ::gzclose(file_); }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `bytes`; fewer at the end of the file, also where a gzip stream breaks off.
  int64_t read(void* to, int64_t bytes) {
    int64_t done = 0;
    while (done < bytes) {
      const auto step = static_cast<unsigned>(std::min<int64_t>(bytes - done, 1 << 28));
      const int n = ::gzread(file_, static_cast<char*>(to) + done, step);
      int code = Z_OK;
      const char* reason = ::gzerror(file_, &code);
      if (n < 0 && code == Z_BUF_ERROR) return done;
      TAEDA_CHECK(n >= 0, path_, " is damaged: ", code == Z_ERRNO ? std::strerror(errno) : reason);
      if (n == 0) return done;
      done += n;
    }
    return done;
  }

 private:
  std::string path_;
  gzFile file_;
};

#else

class ByteSource {
 public:
  explicit ByteSource(const std::string& path)
      : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    TAEDA_CHECK(file_, "cannot read ", path, ": ", std::strerror(errno));
    unsigned char magic[2] = {};
    const bool gzip = std::fread(magic, 1, 2, file_) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    std::rewind(file_);
    if (gzip) std::fclose(file_);
    TAEDA_CHECK_NOT_IMPLEMENTED(!gzip, "cannot read ", path,
                                ": this build of Taeda has no zlib; unpack it first");
  }
  ~ByteSource() { std::fclose(file_); }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  int64_t read(void* to, int64_t bytes) {
    return static_cast<int64_t>(std::fread(to, 1, static_cast<size_t>(bytes), file_));
  }

 private:
  std::string path_;
  std::FILE* file_;
};

#endif

ScalarType dtype_of_code(const std::string& path, int code) {
  switch (code) {
    case 0x08: return kByte;
    case 0x09: return kChar;
    case 0x0b: return kShort;
    case 0x0c: return kInt;
    case 0x0d: return kFloat;
    case 0x0e: return kDouble;
    default:
      throw Error(taeda::detail::concat(path, " is no IDX file: unknown type of numbers ", code));
  }
}

/// The format's numbers are big-endian.
void reverse_bytes(char* data, int64_t count, int64_t width) {
  for (int64_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

struct IdxHeader {
  ScalarType dtype;
  DimVector sizes;
  int64_t header_bytes, data_bytes;
};

IdxHeader read_header(const std::string& path, ByteSource& source) {
  unsigned char bytes[4];
  int64_t found = source.read(bytes, 4);
  TAEDA_CHECK(found == 4, path, " is truncated: expected at least 4 bytes, found ", found);
  TAEDA_CHECK(bytes[0] == 0 && bytes[1] == 0, path, " is no IDX file: it starts with the bytes ",
              int{bytes[0]}, ", ", int{bytes[1]}, " instead of 0, 0");
  IdxHeader out{dtype_of_code(path, bytes[2]), {}, 4 + 4 * int64_t{bytes[3]}, 0};
  TAEDA_CHECK(bytes[3] >= 1 && bytes[3] <= kMaxIdxDims, path, " is no IDX file: ", int{bytes[3]},
              " dimensions");
  out.data_bytes = element_size(out.dtype);
  for (int64_t d = 0; d < bytes[3]; ++d) {
    unsigned char b[4];
    found = source.read(b, 4);
    TAEDA_CHECK(found == 4, path, " is truncated: expected at least ", out.header_bytes,
                " bytes, found ", 4 + 4 * d + found);
    const int64_t size = int64_t{b[0]} << 24 | b[1] << 16 | b[2] << 8 | b[3];
    TAEDA_CHECK(!__builtin_mul_overflow(out.data_bytes, size, &out.data_bytes), path,
                " is no IDX file: its size overflows");
    out.sizes.push_back(size);
  }
  return out;
}

}  // namespace

Tensor read_idx(const std::string& path) {
  std::error_code error;
  TAEDA_CHECK(!std::filesystem::is_directory(path, error), "cannot read ", path,
              ": Is a directory");
  ByteSource source(path);
  const IdxHeader header = read_header(path, source);
  const auto file_bytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
  const int64_t expected = header.header_bytes + header.data_bytes;
  TAEDA_CHECK(error || header.data_bytes / kMaxInflation <= file_bytes, path,
              " is truncated: expected ", expected, " bytes, found a file of ", file_bytes);
  Tensor out = make_tensor(header.sizes, header.dtype, kCPU);
  auto* data = static_cast<char*>(out.data_ptr());
  const int64_t found = source.read(data, header.data_bytes);
  TAEDA_CHECK(found == header.data_bytes, path, " is truncated: expected ", expected,
              " bytes, found ", header.header_bytes + found);
  char more = 0;
  TAEDA_CHECK(source.read(&more, 1) == 0, path, " is too long: expected ", expected,
              " bytes, found more");
  if (const int64_t width = out.element_size(); width > 1) reverse_bytes(data, out.numel(), width);
  return out;
}

}  // namespace taeda::vision
