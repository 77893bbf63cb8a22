// PyTorch's checkpoints, as archives and as the pickle in one.
#include <algorithm>

#include "taeda/io/pt_reader.h"
#include "taeda/io/zip_archive.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/zip.h"

namespace taeda::fuzz {
namespace {

/// A byte with the number of storages, two with the size of each, below 1,024, and the pickle that
/// refers to them.
void read_pickle(std::string_view bytes) {
  Numbers numbers(bytes);
  std::vector<unsigned> sizes(numbers.byte() % 32);
  for (unsigned& size : sizes) {
    size = numbers.byte();
    size |= numbers.byte() % 4 << 8;
  }
  std::vector<std::pair<std::string, std::string>> entries = {
      {"archive/data.pkl", std::string(numbers.rest())}};
  for (const unsigned size : sizes)
    entries.push_back({"archive/data/" + std::to_string(entries.size() - 1), std::string(size, 1)});
  io::parse_pt(io::make_zip(entries, false), "fuzz");
}

/// The magic number's pickle and the protocol's come first.
std::string repaired_legacy(std::string bytes) {
  static const std::string begin(
      "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e\x80\x02\x4d\xe9\x03\x2e", 21);
  bytes.replace(0, std::min(begin.size(), bytes.size()), begin);
  return bytes;
}

}  // namespace

Reader fuzz_pt() {
  return {[](std::string_view bytes) { io::parse_pt(std::string(bytes), "fuzz"); }, &repaired_zip};
}

Reader fuzz_legacy() {
  return {[](std::string_view bytes) { io::parse_pt(std::string(bytes), "fuzz"); },
          &repaired_legacy};
}

Reader fuzz_pickle() { return {&read_pickle}; }

}  // namespace taeda::fuzz
