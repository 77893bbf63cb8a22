#include "tools/taeda/trace_merge.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <tuple>

#include "taeda/log/table.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

/// Which end at the same moment on all ranks, because each needs something of every other one.
const std::set<std::string> kMeetings = {"all_reduce",
                                         "all_gather",
                                         "all_gather_into_tensor",
                                         "reduce_scatter",
                                         "reduce_scatter_tensor",
                                         "all_to_all",
                                         "all_to_all_single",
                                         "barrier"};

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// The number at the end of a file's name, before its extension.
std::optional<int64_t> rank_of_name(const std::string& path) {
  const std::string name = file_name(path);
  const std::string stem = name.substr(0, name.find_last_of('.'));
  const size_t begin = stem.find_last_not_of("0123456789") + 1;
  if (begin == stem.size() || stem.size() - begin > 6) return {};
  return std::stoll(stem.substr(begin));
}

Json complete_event(const Collective& c, const std::string& thread) {
  return {{"ph", "X"},
          {"cat", "collective"},
          {"name", c.title()},
          {"pid", 1},
          {"tid", thread},
          {"ts", c.begin},
          {"dur", std::max(0.001, c.end - c.begin)}};
}

/// A flight record (taeda/distributed/group/flight_recorder.h).
void read_record(const Json& content, RankTrace& out) {
  out.is_record = true;
  out.events = Json::array();
  for (const Json& entry : content["entries"].elements()) {
    Collective c;
    c.group = entry.value("group", "");
    c.name = entry.value("op", "");
    c.sequence = entry.value("sequence", int64_t{0});
    c.place = file_name(entry.value("file", "")) + ":" + std::to_string(entry.value("line", 0));
    c.begin = entry.value("started_us", 0.0);
    c.end = entry.value("ended_us", 0.0);
    c.done = entry.value("state", "") == "done";
    out.rank = entry.value("rank", out.rank);
    out.events.push_back(complete_event(c, "group " + c.group));
    const bool message =
        entry.contains("peer") && (c.name.ends_with("send") || c.name.ends_with("recv"));
    if (!message) out.collectives.push_back(std::move(c));
  }
}

/// A profiler's trace: the n-th all_reduce of one rank is the n-th of the others.
void read_trace(const Json& content, RankTrace& out) {
  out.events =
      content.is_object() && content.contains("traceEvents") ? content["traceEvents"] : content;
  for (const Json& event : out.events.elements()) {
    if (!event.is_object() || event.value("ph", "") != "X") continue;
    const std::string name = event.value("name", "");
    if (!kMeetings.contains(name)) continue;
    Collective c;
    c.name = name;
    c.begin = event.value("ts", 0.0);
    c.end = c.begin + event.value("dur", 0.0);
    out.collectives.push_back(std::move(c));
  }
  std::stable_sort(out.collectives.begin(), out.collectives.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::map<std::string, int64_t> counts;
  for (Collective& c : out.collectives) c.sequence = ++counts[c.name];
}

using Key = std::tuple<std::string, std::string, int64_t>;
Key key_of(const Collective& c) { return {c.group, c.name, c.sequence}; }

std::map<Key, const Collective*> by_key(const RankTrace& trace) {
  std::map<Key, const Collective*> out;
  for (const Collective& c : trace.collectives) out[key_of(c)] = &c;
  return out;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void align_with(const RankTrace& first, RankTrace& other) {
  const auto theirs = by_key(first);
  std::vector<double> differences;
  for (const Collective& c : other.collectives) {
    const auto it = theirs.find(key_of(c));
    if (it == theirs.end() || !c.done || !it->second->done || !kMeetings.contains(c.name)) continue;
    differences.push_back(it->second->end - c.end);
  }
  if (differences.empty())
    throw UsageError(first.path + " and " + other.path +
                     " have no collective in common by which their clocks could be aligned");
  other.common = differences.size();
  other.shift = median(std::move(differences));
}

/// Collectives that all files of a kind with that group have come to, by rank, on one clock.
std::map<Key, std::map<int64_t, Collective>> meetings(const std::vector<RankTrace>& traces,
                                                      bool records) {
  std::map<Key, std::map<int64_t, Collective>> out;
  for (const RankTrace& trace : traces) {
    if (trace.is_record != records) continue;
    for (Collective c : trace.collectives) {
      c.begin += trace.shift;
      c.end += trace.shift;
      out[key_of(c)].emplace(trace.rank, std::move(c));
    }
  }
  return out;
}

bool any_record(const std::vector<RankTrace>& traces) {
  return std::any_of(traces.begin(), traces.end(), [](const auto& t) { return t.is_record; });
}

/// All files' events, each rank a process of its own, from a common beginning.
Json merged(const std::vector<RankTrace>& traces) {
  Json events = Json::array();
  std::map<bool, double> begin;  // of records, and of traces
  const auto time_of = [](const Json& event) {
    return event.is_object() && event.contains("ts") && event["ts"].is_number()
               ? std::optional(event["ts"].get<double>())
               : std::nullopt;
  };
  for (const RankTrace& trace : traces)
    for (const Json& event : trace.events.elements())
      if (const auto time = time_of(event)) {
        const double at = *time + trace.shift;
        const auto [it, is_new] = begin.try_emplace(trace.is_record, at);
        it->second = std::min(it->second, at);
      }
  for (size_t i = 0; i < traces.size(); ++i) {
    const RankTrace& trace = traces[i];
    const std::string prefix = "rank " + std::to_string(trace.rank) + " ";
    std::map<std::string, int64_t> processes;
    const auto process = [&](const Json& event) {
      const std::string pid = event.contains("pid") ? event["pid"].dump() : "";
      const auto next = static_cast<int64_t>(i * 1000 + processes.size());
      return processes.try_emplace(pid, next).first->second;
    };
    for (Json event : trace.events.elements()) {
      if (!event.is_object()) continue;
      if (const auto time = time_of(event))
        event.set("ts", *time + trace.shift - begin[trace.is_record]);
      event.set("pid", process(event));
      const bool names = event.value("ph", "") == "M" && event.value("name", "") == "process_name";
      if (names && event.contains("args")) {
        Json args = event["args"];
        args.set("name", prefix + args.value("name", ""));
        event.set("args", std::move(args));
      }
      events.push_back(std::move(event));
    }
    if (trace.is_record)
      for (const auto& [pid, number] : processes)
        events.push_back({{"ph", "M"},
                          {"name", "process_name"},
                          {"pid", number},
                          {"args", {{"name", prefix + "flight record"}}}});
  }
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

std::string milliseconds_text(double microseconds) {
  return logging::fixed(microseconds / 1000, 3);
}

void print_report(const std::vector<RankTrace>& traces) {
  logging::Table files({"rank", "file", "collectives", "clock shifted by ms", "common"});
  for (const RankTrace& t : traces)
    files.row({std::to_string(t.rank), t.path, std::to_string(t.collectives.size()),
               milliseconds_text(t.shift), std::to_string(t.common)});
  std::printf("%s", files.str().c_str());
  logging::Table table({"rank", "waited for", "ms", "times", "longest ms", "longest in"});
  for (const auto& [ranks, w] : who_waited(traces))
    table.row({std::to_string(ranks.first), "rank " + std::to_string(ranks.second),
               milliseconds_text(w.time), std::to_string(w.count), milliseconds_text(w.longest),
               w.longest_in});
  std::printf("%s", table.empty() ? "nobody waited\n" : table.str().c_str());
  for (const std::string& line : unfinished(traces)) std::printf("%s\n", line.c_str());
}

std::string list_of(const std::vector<int64_t>& ranks) {
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) out += (i ? ", " : "") + std::to_string(ranks[i]);
  return out;
}

int merge(const std::vector<std::string>& paths, const std::string& out) {
  std::vector<RankTrace> traces;
  std::set<std::pair<bool, int64_t>> seen;
  for (const std::string& path : paths) {
    traces.push_back(read_rank_trace(path, static_cast<int64_t>(traces.size())));
    const RankTrace& last = traces.back();
    if (!seen.insert({last.is_record, last.rank}).second)
      throw UsageError(path + " is of rank " + std::to_string(last.rank) +
                       ", as another file is; name traces by their ranks (trace_0.json)");
  }
  align(traces);
  std::ofstream file(out);
  file << merged(traces).dump_replacing() << "\n";
  file.close();
  if (!file) throw UsageError("cannot write " + out);
  print_report(traces);
  return 0;
}

}  // namespace

std::string Collective::title() const {
  return name + " #" + std::to_string(sequence) + (place.empty() ? "" : " at " + place);
}

Json read_trace_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("cannot read " + path + ": " + std::strerror(errno));
  return Json::read(file);
}

RankTrace read_rank_trace(const std::string& path, int64_t rank) {
  const Json content = read_trace_file(path);
  RankTrace out;
  out.path = path;
  out.rank = rank_of_name(path).value_or(rank);
  const bool record =
      content.is_object() && content.contains("entries") && content["entries"].is_array();
  const bool trace =
      content.is_array() ||
      (content.is_object() && content.contains("traceEvents") && content["traceEvents"].is_array());
  if (!record && !trace)
    throw UsageError(path + (content.is_discarded()
                                 ? " is no JSON"
                                 : " is neither a Chrome trace nor a flight record"));
  if (record)
    read_record(content, out);
  else
    read_trace(content, out);
  return out;
}

void align(std::vector<RankTrace>& traces) {
  std::map<bool, const RankTrace*> first;
  for (RankTrace& trace : traces) {
    const auto [it, is_first] = first.try_emplace(trace.is_record, &trace);
    if (!is_first) align_with(*it->second, trace);
  }
}

std::map<std::pair<int64_t, int64_t>, Waiting> who_waited(const std::vector<RankTrace>& traces) {
  std::map<std::pair<int64_t, int64_t>, Waiting> out;
  // Where there are flight records they say more than traces, and waiting counts once.
  for (const auto& [key, ranks] : meetings(traces, any_record(traces))) {
    if (ranks.size() < 2) continue;
    const auto last = std::max_element(
        ranks.begin(), ranks.end(),
        [](const auto& a, const auto& b) { return a.second.begin < b.second.begin; });
    for (const auto& [rank, c] : ranks) {
      const double waited = std::min(last->second.begin, c.end) - c.begin;
      if (rank == last->first || waited <= 0) continue;
      Waiting& w = out[{rank, last->first}];
      w.time += waited;
      ++w.count;
      if (waited <= w.longest) continue;
      w.longest = waited;
      w.longest_in = c.title();
    }
  }
  return out;
}

std::vector<std::string> unfinished(const std::vector<RankTrace>& traces) {
  std::set<int64_t> all;
  std::map<std::string, std::map<int64_t, Collective>> newest;  // by group
  for (const RankTrace& trace : traces) {
    if (!trace.is_record) continue;
    all.insert(trace.rank);
    for (const Collective& c : trace.collectives) {
      Collective& known = newest[c.group][trace.rank];
      if (c.sequence >= known.sequence) known = c;
    }
  }
  std::vector<std::string> out;
  for (const auto& [key, ranks] : meetings(traces, /*records=*/true)) {
    const auto& [group, name, sequence] = key;
    const auto& members = newest[group];
    std::vector<int64_t> here, missing;
    for (const auto& [rank, c] : ranks)
      if (!c.done) here.push_back(rank);
    for (const auto& [rank, c] : members)
      if (!ranks.contains(rank) && c.sequence <= sequence) missing.push_back(rank);
    if (here.empty()) continue;
    std::string line = list_of(here) + " did not finish " + ranks.at(here[0]).title() +
                       " of group '" + group + "'";
    for (const int64_t rank : missing)
      line += "; rank " + std::to_string(rank) + " did not come, its last was " +
              members.at(rank).title();
    out.push_back(line);
  }
  return out;
}

void add_trace_merge(const Command& trace) {
  const Command c =
      trace.add_command("merge", "Lay what several ranks recorded side by side",
                        {"taeda trace merge flight_0.json flight_1.json -o merged.json",
                         "taeda trace merge trace_*.json -o merged.json"});
  struct Options {
    std::vector<std::string> paths;
    std::string out = "merged.json";
  };
  auto o = std::make_shared<Options>();
  c.add_plain("files", o->paths, "Profilers' traces or flight records, one of each rank")
      .required();
  c.add_option("-o,--output", o->out, "The trace for chrome://tracing or Perfetto");
  c.on_call([o] { return user_input([&] { return merge(o->paths, o->out); }); });
}

}  // namespace taeda::tool
