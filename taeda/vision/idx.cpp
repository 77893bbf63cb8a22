#include "taeda/vision/idx.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/io/budget.h"
#include "taeda/io/readable_file.h"

#if defined(TAEDA_HAS_ZLIB)
#include <zlib.h>
#endif

namespace taeda::inline v0_2::vision {

namespace {

constexpr int64_t kMaxIdxDims = 8;

#if defined(TAEDA_HAS_ZLIB)

/// A file read through zlib, which passes plain files on as they are.
class ByteSource {
 public:
  explicit ByteSource(const io::ReadableFile& file) : path_(file.path()) {
    const int descriptor = ::dup(file.descriptor());
    file.check(descriptor >= 0);
    file_ = ::gzdopen(descriptor, "rb");
    if (!file_) ::close(descriptor);
    TAEDA_CHECK(file_, "cannot read ", path_, ": no memory for zlib");
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
  explicit ByteSource(const io::ReadableFile& file) : file_(file) {
    unsigned char magic[2] = {};
    const bool gzip = read(magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    at_ = 0;
    TAEDA_CHECK_NOT_IMPLEMENTED(!gzip, "cannot read ", file.path(),
                                ": this build of Taeda has no zlib; unpack it first");
  }
  int64_t read(void* to, int64_t bytes) {
    int64_t done = 0;
    while (done < bytes) {
      const ssize_t n = ::pread(file_.descriptor(), static_cast<char*>(to) + done,
                                static_cast<size_t>(std::min<int64_t>(bytes - done, 1 << 28)), at_);
      if (n < 0 && errno == EINTR) continue;
      file_.check(n >= 0);
      if (n == 0) break;
      done += n, at_ += n;
    }
    return done;
  }

 private:
  const io::ReadableFile& file_;
  off_t at_ = 0;
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

/// Before memory is taken for what a header promises.
void charge(const io::ReadableFile& file, int64_t data_bytes) {
  try {
    io::Budget(file.size()).charge(static_cast<uint64_t>(data_bytes), "its content");
  } catch (const Error& e) {
    throw Error(file.path() + " is truncated: " + e.message());
  }
}

}  // namespace

Tensor read_idx(const std::string& path) {
  const io::ReadableFile file(path);
  ByteSource source(file);
  const IdxHeader header = read_header(path, source);
  charge(file, header.data_bytes);
  const int64_t expected = header.header_bytes + header.data_bytes;
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
