#include "taeda/distributed/group/report.h"

#include <set>
#include <sstream>

namespace taeda::inline v0_2::distributed {

namespace {

using Kind = Fingerprint::Kind;
using Line = Report::Line;

/// What a collective is called by, without its call site's rank.
std::string called(const std::vector<int>& ranks, const std::string& what) {
  return ranks_text(ranks) + " called " + what;
}

/// Ranks whose calls are compatible, in the order of the first of each.
struct Side {
  uint64_t hash;
  std::string text;
  std::vector<int> ranks;
};

std::vector<Side> sides_of(const Reports& reports, std::pair<uint64_t, uint32_t> place) {
  std::vector<Side> sides;
  for (const auto& [rank, report] : reports) {
    const Line* line = report.collective(place);
    if (!line) continue;
    auto side = sides.begin();
    while (side != sides.end() && side->hash != line->hash) ++side;
    if (side == sides.end()) side = sides.insert(side, {line->hash, line->text, {}});
    side->ranks.push_back(rank);
  }
  return sides;
}

/// The messages of one direction between two ranks that one of them waits for.
std::vector<const Line*> waiting(const Report& report, Kind kind, int peer) {
  std::vector<const Line*> out;
  for (const Line& line : report.lines)
    if (line.kind == kind && !line.ended && line.peer == peer) out.push_back(&line);
  return out;
}

/// One of `lines` that nothing of `others` can meet, though one of them has its tag.
const Line* without_partner(const std::vector<const Line*>& lines,
                            const std::vector<const Line*>& others) {
  for (const Line* line : lines) {
    bool met = false, near = false;
    for (const Line* other : others) {
      met |= other->hash == line->hash;
      near |= other->tag == line->tag;
    }
    if (near && !met) return line;
  }
  return nullptr;
}

std::string last_act(const Report& report) {
  if (report.lines.empty()) return "it has called nothing";
  const Line& line = report.lines.back();
  return (line.ended ? "the last it called was " : "it waits in ") + line.text;
}

bool has_called(const Report& report, const Fingerprint& what) {
  const Line* latest = report.latest();
  return latest && latest->place() >= std::pair(what.sequence, what.follows);
}

}  // namespace

const Line* Report::latest() const {
  for (size_t i = lines.size(); i-- > 0;)
    if (lines[i].kind == Kind::Collective) return &lines[i];
  return nullptr;
}

const Line* Report::collective(std::pair<uint64_t, uint32_t> place) const {
  for (const Line& line : lines)
    if (line.kind == Kind::Collective && line.place() == place) return &line;
  return nullptr;
}

Report make_report(const std::vector<FlightRecorder::Entry>& entries) {
  Report out;
  for (const FlightRecorder::Entry& entry : entries) {
    const Fingerprint& what = entry.what;
    out.lines.push_back({what.kind, entry.state == FlightRecorder::State::Done, what.sequence,
                         what.hash(), what.peer, what.tag, what.to_string(), what.follows});
  }
  return out;
}

std::string to_text(const Report& report) {
  std::ostringstream out;
  out << report.beat << ' ' << report.left << '\n';
  for (const Line& line : report.lines)
    out << static_cast<int>(line.kind) << ' ' << line.ended << ' ' << line.sequence << ' '
        << line.follows << ' ' << line.hash << ' ' << line.peer << ' ' << line.tag << ' '
        << line.text << '\n';
  return std::move(out).str();
}

Report report_from_text(const std::string& text) {
  Report out;
  std::istringstream in(text);
  in >> out.beat >> out.left;
  in.ignore();
  for (std::string row; std::getline(in, row);) {
    std::istringstream fields(row);
    Line line;
    int kind = 0;
    if (!(fields >> kind >> line.ended >> line.sequence >> line.follows >> line.hash >> line.peer >>
          line.tag))
      continue;
    line.kind = static_cast<Kind>(kind);
    fields.ignore();
    std::getline(fields, line.text);
    out.lines.push_back(std::move(line));
  }
  return out;
}

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return "rank " + std::to_string(ranks[0]);
  std::string out = "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    out += (i == 0 ? "" : i + 1 < ranks.size() ? ", " : " and ") + std::to_string(ranks[i]);
  return out;
}

std::optional<std::string> find_mismatch(const Reports& reports) {
  std::set<std::pair<uint64_t, uint32_t>> places;
  for (const auto& [rank, report] : reports)
    for (const Line& line : report.lines)
      if (line.kind == Kind::Collective) places.insert(line.place());
  for (const auto& place : places) {
    const std::vector<Side> sides = sides_of(reports, place);
    if (sides.size() < 2) continue;
    std::string out = "the ranks called different things: ";
    for (const Side& side : sides)
      out += (&side == &sides[0] ? "" : "; ") + called(side.ranks, side.text);
    return out;
  }
  return {};
}

std::optional<Passing> find_passing(const Reports& reports) {
  for (const auto& [from, sender] : reports)
    for (const auto& [to, receiver] : reports) {
      const auto sends = waiting(sender, Kind::Send, to);
      const auto recvs = waiting(receiver, Kind::Recv, from);
      const Line* send = without_partner(sends, recvs);
      const Line* recv = without_partner(recvs, sends);
      if (send && recv)
        return Passing{from, to,
                       "a message and its receive differ: " + called({from}, send->text) + "; " +
                           called({to}, recv->text)};
    }
  return {};
}

std::optional<std::string> find_left(const Reports& reports, const Fingerprint& what) {
  for (const auto& [rank, report] : reports) {
    const bool partner =
        what.kind == Kind::Collective ? !has_called(report, what) : rank == what.peer;
    if (report.left && partner)
      return "rank " + std::to_string(rank) + " has left the group; " + last_act(report);
  }
  return {};
}

std::string describe_missing(const Reports& reports, const std::vector<int>& ranks, int self,
                             const Fingerprint& what) {
  const bool message = what.kind != Kind::Collective;
  std::vector<int> silent;
  std::string out;
  for (const int rank : ranks) {
    if (rank == self || (message && what.peer >= 0 && rank != what.peer)) continue;
    const auto report = reports.find(rank);
    if (report == reports.end())
      silent.push_back(rank);
    else if (message || !has_called(report->second, what))
      out += "; rank " + std::to_string(rank) +
             (message ? " is elsewhere, " : " has not called it, ") + last_act(report->second);
  }
  if (!silent.empty()) out += "; nothing was heard from " + ranks_text(silent);
  return out.empty() ? "all ranks have called it" : out.substr(2);
}

}  // namespace taeda::inline v0_2::distributed
