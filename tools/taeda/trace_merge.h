// `taeda trace merge`: what several ranks recorded, in one trace with one clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/taeda/json.h"

namespace taeda::tool {

/// An operation of a group as one rank saw it; times in microseconds.
struct Collective {
  std::string group, name;  ///< name: "all_reduce"
  int64_t sequence = 0;
  std::string place;  ///< "train.cpp:91"; empty where the file does not say
  double begin = 0, end = 0;
  bool done = true;

  /// "all_reduce #183 at train.cpp:91".
  std::string title() const;
};

/// A file: a flight record, or the profiler's trace.
struct RankTrace {
  std::string path;
  int64_t rank = 0;
  bool is_record = false;
  Json events;  ///< Chrome's; of a record, made from its entries
  std::vector<Collective> collectives;
  double shift = 0;   ///< what its clock lags behind the first file's of its kind
  size_t common = 0;  ///< collectives that tell
};

/// What a file holds; discarded if that is no JSON. Throws UsageError for one that cannot be read.
Json read_trace_file(const std::string& path);
/// Reads a file. `rank` is used where the file does not name one. Throws UsageError.
RankTrace read_rank_trace(const std::string& path, int64_t rank);

/// Sets `shift` of all but the first of each kind: by the ends of collectives that both have, which
/// end at the same moment everywhere. Throws UsageError for files that have none in common.
void align(std::vector<RankTrace>& traces);

/// One rank waited for another one.
struct Waiting {
  double time = 0;
  int64_t count = 0;
  double longest = 0;
  std::string longest_in;
};
/// By who waited, and for whom: for the rank that came last to a collective.
std::map<std::pair<int64_t, int64_t>, Waiting> who_waited(const std::vector<RankTrace>& traces);

/// Operations that some ranks are in and others never came to, a line for each.
std::vector<std::string> unfinished(const std::vector<RankTrace>& traces);

}  // namespace taeda::tool
