// What ranks tell each other through the store when an operation does not end, and what follows
// from it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "taeda/distributed/group/flight_recorder.h"

namespace taeda::inline v0_2::distributed {

/// What one rank of a group did last.
struct Report {
  struct Line {
    Fingerprint::Kind kind = Fingerprint::Kind::Collective;
    bool ended = false;
    uint64_t sequence = 0;
    uint64_t hash = 0;
    int peer = -1;
    int64_t tag = 0;
    std::string text;
    uint32_t follows = 0;

    /// The place among the group's collectives.
    std::pair<uint64_t, uint32_t> place() const { return {sequence, follows}; }
  };

  uint64_t beat = 0;        ///< counts the reports of the rank
  bool left = false;        ///< the rank has destroyed the group
  std::vector<Line> lines;  ///< oldest first

  /// The latest of the collectives; nullptr for none.
  const Line* latest() const;
  const Line* collective(std::pair<uint64_t, uint32_t> place) const;
};

/// Reports by rank of the world.
using Reports = std::map<int, Report>;

Report make_report(const std::vector<FlightRecorder::Entry>& entries);
std::string to_text(const Report& report);
/// The inverse of `to_text`; what is not understood is left out.
Report report_from_text(const std::string& text);

/// "rank 2", "ranks 0, 1 and 3"
std::string ranks_text(const std::vector<int>& ranks);

/// Who called what in the earliest collective of which two reports say different things.
std::optional<std::string> find_mismatch(const Reports& reports);
/// A message and a receive between two ranks that wait for each other and cannot meet, as far as
/// the reports are of the same time.
struct Passing {
  int from, to;
  std::string text;
};
std::optional<Passing> find_passing(const Reports& reports);
/// For who waits in `what`: the ranks that have left the group and so will never call it.
std::optional<std::string> find_left(const Reports& reports, const Fingerprint& what);
/// For rank `self`, which waits in `what`: which others of `ranks` have not called it, and what
/// they did last.
std::string describe_missing(const Reports& reports, const std::vector<int>& ranks, int self,
                             const Fingerprint& what);

}  // namespace taeda::inline v0_2::distributed
