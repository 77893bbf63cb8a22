// PyTorch's checkpoints, as archives and as the pickle in one.
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
  io::load_pt(MemoryFile(io::make_zip(entries, false)).path());
}

}  // namespace

Reader fuzz_pt() {
  return {[](std::string_view bytes) { io::load_pt(MemoryFile(bytes).path()); }, &repaired_zip};
}

Reader fuzz_pickle() { return {&read_pickle}; }

}  // namespace taeda::fuzz
