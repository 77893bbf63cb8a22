// Tables of text, and TensorBoard's event files.
#include "taeda/data/csv.h"
#include "taeda/log/event_file.h"
#include "taeda/log/record_file.h"
#include "tests/fuzz/reader.h"

namespace taeda::fuzz {
namespace {

void read_table(std::string_view bytes) {
  const MemoryFile file(bytes);
  data::read_csv(file.path(), ';', false);
  data::datasets::CSVDataset(file.path(), {});
}

/// A record is its length, a checksum of that, its content, and a checksum of it.
std::string repaired_events(std::string bytes) {
  constexpr size_t kHeader = 12, kFooter = 4;
  const std::string_view view = bytes;
  for (size_t at = 0; bytes.size() - at >= kHeader + kFooter;) {
    const size_t room = bytes.size() - at - kHeader - kFooter;
    if (little_at(bytes, at, 8) > room) put_little(bytes, at, room, 8);
    const size_t size = little_at(bytes, at, 8);
    put_little(bytes, at + 8, logging::masked_crc32c(view.substr(at, 8)), 4);
    const size_t end = at + kHeader + size;
    put_little(bytes, end, logging::masked_crc32c(view.substr(at + kHeader, size)), 4);
    at = end + kFooter;
  }
  return bytes;
}

}  // namespace

Reader fuzz_csv() { return {&read_table}; }

Reader fuzz_events() {
  return {[](std::string_view bytes) { logging::read_event_file(MemoryFile(bytes).path()); },
          &repaired_events};
}

}  // namespace taeda::fuzz
