// .npy and .npz.
#include "taeda/io/npy.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/zip.h"

namespace taeda::fuzz {
namespace {

/// The header ends with a line end.
std::string repaired_npy(std::string bytes) {
  constexpr size_t kBegin = 10;
  if (bytes.size() <= kBegin) return bytes;
  bytes.replace(0, 8, std::string("\x93NUMPY\x01\0", 8));
  const size_t end = bytes.find('\n', kBegin);
  if (end != std::string::npos) put_little(bytes, 8, end + 1 - kBegin, 2);
  return bytes;
}

}  // namespace

Reader fuzz_npy() {
  return {[](std::string_view bytes) { io::parse_npy(bytes); }, &repaired_npy};
}

Reader fuzz_npz() {
  return {[](std::string_view bytes) { io::load_npz(MemoryFile(bytes).path()); }, &repaired_zip};
}

}  // namespace taeda::fuzz
