// What processes of a job tell each other: reports of ranks and launchers, what a pipeline's stages
// pass on, the file of a FileStore.
#include <fstream>

#include "taeda/distributed/cluster/monitor.h"
#include "taeda/distributed/group/report.h"
#include "taeda/distributed/pipeline/link.h"
#include "taeda/distributed/store/file_log.h"
#include "tests/fuzz/reader.h"
#include "tests/io/temporary_folder.h"

namespace taeda::fuzz {
namespace {

/// Two ranks' reports of what they called, and what a rank makes of them.
void read_reports(std::string_view bytes) {
  distributed::Reports reports;
  for (const std::string_view text : messages_in(bytes)) {
    reports[static_cast<int>(reports.size())] = distributed::report_from_text(std::string(text));
    distributed::cluster::Paces paces;
    paces.add(text);
    paces.add_lines(text);
    if (!paces.empty()) paces.table();
  }
  const distributed::Fingerprint what{.op = "all_reduce", .sequence = 1, .shape = {}};
  distributed::find_mismatch(reports);
  distributed::find_passing(reports);
  distributed::find_left(reports, what);
  distributed::describe_missing(reports, {0, 1, 2}, 0, what);
}

/// What a pipeline stage says of its outputs, before the first of them comes.
void read_stages(std::string_view bytes) {
  using distributed::pipelining::detail::Shape;
  std::vector<int64_t> values;
  for (Numbers numbers(bytes); !numbers.empty();) values.push_back(numbers.any());
  const Shape shape = Shape::decoded(values);
  if (shape.encoded() != values) __builtin_trap();  // nothing is read in two ways
}

/// A file that members of a job share, found as the input says.
void read_file_store(std::string_view bytes) {
  static const TemporaryFolder folder;
  const std::string path = folder / "store";
  std::ofstream(path, std::ios::binary) << bytes;
  distributed::detail::FileLog log(path, -1, std::chrono::milliseconds(0));
  distributed::detail::FileLog::Access access(log, "get", std::chrono::milliseconds(0));
  access.set("key", "value");
}

/// Nobody has left it open, and what counts of it ends where it ends.
std::string repaired_file_store(std::string bytes) {
  constexpr size_t kEnd = 8, kJoined = 24, kLeft = 32, kJob = 40, kRecords = 168;
  if (bytes.size() < kRecords) return bytes;
  bytes.replace(0, kEnd, "taedaFS1");
  if (little_at(bytes, kEnd, 8) < kRecords) put_little(bytes, kEnd, bytes.size(), 8);
  put_little(bytes, kLeft, little_at(bytes, kJoined, 8), 8);
  bytes[kJob] = 0;
  return bytes;
}

}  // namespace

Reader fuzz_reports() { return {&read_reports}; }

Reader fuzz_stages() { return {&read_stages}; }

Reader fuzz_file_store() { return {&read_file_store, &repaired_file_store}; }

}  // namespace taeda::fuzz
