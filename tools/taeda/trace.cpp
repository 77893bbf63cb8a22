// `taeda trace`: what took the time in a Chrome trace. Format: "Trace Event Format" (Google, 2016).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"
#include "tools/taeda/trace_merge.h"

namespace taeda::tool {

namespace {

/// Something that lasted, in microseconds.
struct Span {
  std::string name, category;
  double begin = 0, length = 0;
};

/// The events of one thread or stream.
struct Lane {
  std::string process, thread;
  std::vector<Span> spans;
  std::vector<Span> open;  ///< begun, not ended
  double busy = 0;         ///< covered by at least one span

  std::string label() const { return process + " / " + thread; }
};

struct Operation {
  int64_t count = 0;
  double total = 0, self = 0, longest = 0;
};

struct Trace {
  std::map<std::pair<std::string, std::string>, Lane> lanes;  ///< by pid and tid
  std::map<std::string, Operation> operations;
  double begin = 0, end = 0;
  int64_t events = 0;
};

std::string id_of(const Json& event, const char* key) {
  if (!event.contains(key)) return "0";
  return event[key].is_string() ? event[key].get<std::string>() : event[key].dump();
}

double number_of(const Json& event, const char* key) {
  return event.contains(key) && event[key].is_number() ? event[key].get<double>() : 0;
}

void name_lane(Trace& trace, const Json& event, const std::string& what) {
  if (!event.contains("args") || !event["args"].is_object()) return;
  const std::string name = event["args"].value("name", "");
  const std::string pid = id_of(event, "pid"), tid = id_of(event, "tid");
  if (what == "thread_name" && !name.empty()) trace.lanes[{pid, tid}].thread = name;
  if (what != "process_name" || name.empty()) return;
  for (auto& [ids, lane] : trace.lanes)
    if (ids.first == pid) lane.process = name;
}

void add_event(Trace& trace, const Json& event) {
  const std::string phase = event.value("ph", "");
  if (phase != "X" && phase != "B" && phase != "E") return;
  Lane& lane = trace.lanes[{id_of(event, "pid"), id_of(event, "tid")}];
  Span span{event.value("name", ""), event.value("cat", ""), number_of(event, "ts"),
            number_of(event, "dur")};
  if (phase == "B") {
    lane.open.push_back(std::move(span));
    return;
  }
  if (phase == "E") {
    if (lane.open.empty()) return;
    const double end = span.begin;
    span = std::move(lane.open.back());
    lane.open.pop_back();
    span.length = end - span.begin;
  }
  lane.spans.push_back(std::move(span));
}

/// Time inside and outside of nested spans, and the time that a lane was busy.
void measure(Lane& lane, std::map<std::string, Operation>& operations) {
  std::stable_sort(lane.spans.begin(), lane.spans.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
  std::vector<const Span*> around;
  double covered = -INFINITY;
  for (const Span& s : lane.spans) {
    const double end = s.begin + s.length;
    while (!around.empty() && around.back()->begin + around.back()->length <= s.begin)
      around.pop_back();
    Operation& o = operations[s.name];
    ++o.count;
    o.total += s.length;
    o.self += s.length;
    o.longest = std::max(o.longest, s.length);
    if (!around.empty()) operations[around.back()->name].self -= s.length;
    around.push_back(&s);
    lane.busy += std::max(0.0, end - std::max(covered, s.begin));
    covered = std::max(covered, end);
  }
}

Trace read_trace(const std::string& path) {
  const Json content = read_trace_file(path);
  const bool wrapped = content.is_object() && content.contains("traceEvents");
  const Json& events = wrapped ? content["traceEvents"] : content;
  if (!events.is_array())
    throw UsageError(path + (content.is_discarded() ? " is no JSON" : " is no Chrome trace"));
  Trace out;
  for (const Json& event : events.elements())
    if (event.is_object()) add_event(out, event);
  for (const Json& event : events.elements())
    if (event.is_object() && event.value("ph", "") == "M")
      name_lane(out, event, event.value("name", ""));
  std::erase_if(out.lanes, [](const auto& entry) { return entry.second.spans.empty(); });
  bool first = true;
  for (auto& [ids, lane] : out.lanes) {
    if (lane.process.empty()) lane.process = "process " + ids.first;
    if (lane.thread.empty()) lane.thread = "thread " + ids.second;
    measure(lane, out.operations);
    for (const Span& s : lane.spans) {
      out.begin = first ? s.begin : std::min(out.begin, s.begin);
      out.end = first ? s.begin + s.length : std::max(out.end, s.begin + s.length);
      first = false;
      ++out.events;
    }
  }
  if (first) throw UsageError(path + " holds no events that last");
  return out;
}

std::vector<std::pair<std::string, Operation>> longest_first(const Trace& trace, size_t top) {
  std::vector<std::pair<std::string, Operation>> out(trace.operations.begin(),
                                                     trace.operations.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second.self > b.second.self; });
  out.resize(std::min(out.size(), top));
  return out;
}

std::string ms(double microseconds) { return logging::fixed(microseconds / 1000, 3); }

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

void print_trace(const Trace& trace, size_t top) {
  const double span = trace.end - trace.begin;
  double self = 0;
  for (const auto& [name, o] : trace.operations) self += o.self;
  std::printf("%s events over %s ms\n", logging::with_commas(trace.events).c_str(),
              ms(span).c_str());
  logging::Table lanes({"process / thread", "events", "busy ms", "busy"});
  for (const auto& [ids, lane] : trace.lanes)
    lanes.row({lane.label(), logging::with_commas(static_cast<long long>(lane.spans.size())),
               ms(lane.busy), logging::percent(share(lane.busy, span), 1)});
  std::printf("%s", lanes.str().c_str());
  logging::Table table({"operation", "self ms", "self", "total ms", "calls", "mean ms", "max ms"});
  for (const auto& [name, o] : longest_first(trace, top))
    table.row({name, ms(o.self), logging::percent(share(o.self, self), 1), ms(o.total),
               std::to_string(o.count), ms(o.total / static_cast<double>(o.count)), ms(o.longest)});
  std::printf("%s", table.str().c_str());
}

void print_trace_json(const Trace& trace, size_t top) {
  Json lanes = Json::array(), operations = Json::array();
  for (const auto& [ids, lane] : trace.lanes)
    lanes.push_back({{"process", lane.process},
                     {"thread", lane.thread},
                     {"events", lane.spans.size()},
                     {"busy_us", lane.busy}});
  for (const auto& [name, o] : longest_first(trace, top))
    operations.push_back({{"name", name},
                          {"calls", o.count},
                          {"self_us", o.self},
                          {"total_us", o.total},
                          {"max_us", o.longest}});
  print_json({{"events", trace.events},
              {"span_us", trace.end - trace.begin},
              {"lanes", lanes},
              {"operations", operations}});
}

}  // namespace

void add_trace(const Command& app) {
  const Command c =
      app.add_command("trace", "Summarise a Chrome trace: where the time went",
                      {"taeda trace trace.json", "taeda trace trace.json --top 50 --json"});
  struct Options {
    std::string path;
    int64_t top = 20;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  c.add_plain("file", o->path, "JSON that chrome://tracing or Perfetto opens");
  c.add_option("--top", o->top, "Operations to show, by the time spent in themselves");
  c.add_flag("--json", o->json, "Print JSON");
  add_trace_merge(c);
  c.on_call([o] {
    if (o->path.empty()) throw UsageError("trace: a file is required (see --help)");
    check_flag(o->top > 0, "--top", "positive", o->top);
    const Trace trace = user_input([&] { return read_trace(o->path); });
    (o->json ? print_trace_json : print_trace)(trace, static_cast<size_t>(o->top));
    return 0;
  });
}

}  // namespace taeda::tool
