#include "taeda/profiler/events.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace taeda::inline v0_2::profiler {

namespace {

using tracing::Kind;
using tracing::Record;

bool is_span(const Record& r) {
  return r.kind != Kind::Launch && r.kind != Kind::DeviceWork && r.kind != Kind::Memory;
}

/// Where device work was launched.
struct Launch {
  int event = -1;  // the innermost span around it
  int thread = 0;
  int64_t time = 0;
};

/// Adds the happenings of one thread after another.
class Arranger {
 public:
  explicit Arranger(const tracing::Recording& recording) : recording_(recording) {
    out_.dropped = recording.dropped;
    for (const tracing::ThreadRecords& t : recording.threads) add_thread(t);
    for (const tracing::ThreadRecords& t : recording.threads)
      for (const Record& r : t.records)
        if (r.kind == Kind::DeviceWork) add_work(r);
    sum_up();
    std::stable_sort(out_.memory.begin(), out_.memory.end(),
                     [](const MemoryPoint& a, const MemoryPoint& b) { return a.time < b.time; });
  }

  Events take() { return std::move(out_); }

 private:
  struct Open {
    int event;
    uint64_t leave;
    // Memory that was taken directly inside: the next operation's, if there is one.
    int64_t cpu_memory = 0, device_memory = 0;
  };

  void add_thread(const tracing::ThreadRecords& thread) {
    std::vector<const Record*> records;
    for (const Record& r : thread.records)
      if (r.kind != Kind::DeviceWork) records.push_back(&r);
    std::sort(records.begin(), records.end(),
              [](const Record* a, const Record* b) { return a->enter < b->enter; });
    open_.clear();
    open_.push_back({-1, UINT64_MAX});
    for (const Record* r : records) {
      while (open_.back().leave < r->enter) close();
      if (is_span(*r))
        add_span(*r, thread.thread);
      else if (r->kind == Kind::Launch)
        launches_[r->launch] = {open_.back().event, thread.thread, r->start - recording_.start};
      else
        add_memory(*r);
    }
    while (open_.size() > 1) close();
  }

  void add_span(const Record& r, int thread) {
    Open& around = open_.back();
    Event e;
    e.name = r.name;
    e.kind = r.kind;
    e.thread = thread;
    e.start = r.start - recording_.start;
    e.end = r.end - recording_.start;
    e.device = r.device;
    e.from = r.from;
    e.bytes = r.bytes;
    if (r.shapes) e.shapes = r.shapes;
    e.parent = parent_of(r);
    e.self_cpu_time = e.time();
    if (r.kind == Kind::Operation || r.kind == Kind::Copy) {
      e.self_cpu_memory = std::exchange(around.cpu_memory, 0);
      e.self_device_memory = std::exchange(around.device_memory, 0);
    }
    const int index = static_cast<int>(out_.events.size());
    spans_[tracing::span_id(thread, r.enter)] = index;
    out_.events.push_back(std::move(e));
    open_.push_back({index, r.leave});
  }

  /// The innermost span that does not end before `r`: ranges of a program need not be nested.
  int parent_of(const Record& r) const {
    for (size_t i = open_.size(); i-- > 0;)
      if (open_[i].leave >= r.leave) return open_[i].event;
    return -1;
  }

  void add_memory(const Record& r) {
    out_.memory.push_back({r.device, r.start - recording_.start, r.allocated, r.reserved});
    Open& around = open_.back();
    Event* e = around.event < 0 ? nullptr : &out_.events[static_cast<size_t>(around.event)];
    const bool own = r.bytes < 0 || (e && (e->kind == Kind::Operation || e->kind == Kind::Copy));
    int64_t unowned = 0;
    if (!own)
      (r.device.is_cpu() ? around.cpu_memory : around.device_memory) += r.bytes;
    else
      (!e ? unowned : r.device.is_cpu() ? e->self_cpu_memory : e->self_device_memory) += r.bytes;
  }

  /// The innermost span is over; what nobody claimed is its own.
  void close() {
    const Open& last = open_.back();
    Event& e = out_.events[static_cast<size_t>(last.event)];
    e.self_cpu_memory += last.cpu_memory;
    e.self_device_memory += last.device_memory;
    open_.pop_back();
  }

  void add_work(const Record& r) {
    Launch launch;
    if (const auto found = launches_.find(r.launch); found != launches_.end()) {
      launch = found->second;
    } else if (const auto span = spans_.find(r.owner); r.owner != 0 && span != spans_.end()) {
      launch = {span->second, out_.events[static_cast<size_t>(span->second)].thread,
                r.launch_time - recording_.start};
    }
    Event e;
    e.name = r.name;
    e.kind = r.kind;
    e.start = r.start - recording_.start;
    e.end = r.end - recording_.start;
    e.device = r.device;
    e.stream = r.stream;
    e.bytes = r.bytes;
    e.parent = launch.event;
    e.launch_thread = launch.thread;
    e.launch_time = launch.thread > 0 ? launch.time : -1;
    e.device_time = e.self_device_time = e.time();
    if (launch.event >= 0) {
      Event& parent = out_.events[static_cast<size_t>(launch.event)];
      parent.self_device_time += e.time();
      if (e.bytes == 0) e.bytes = parent.bytes;  // the host knows how much it copies
    }
    out_.events.push_back(std::move(e));
  }

  /// Totals from the innermost spans outwards; children stand behind their parents.
  void sum_up() {
    for (size_t i = out_.events.size(); i-- > 0;) {
      Event& e = out_.events[i];
      if (e.on_device()) continue;
      e.device_time += e.self_device_time;
      e.cpu_memory += e.self_cpu_memory;
      e.device_memory += e.self_device_memory;
      if (e.parent < 0) continue;
      Event& parent = out_.events[static_cast<size_t>(e.parent)];
      parent.self_cpu_time -= e.time();
      parent.device_time += e.device_time;
      parent.cpu_memory += e.cpu_memory;
      parent.device_memory += e.device_memory;
    }
  }

  const tracing::Recording& recording_;
  Events out_;
  std::vector<Open> open_;
  std::unordered_map<uint64_t, Launch> launches_;
  std::unordered_map<uint64_t, int> spans_;
};

}  // namespace

Events arrange(const tracing::Recording& recording) { return Arranger(recording).take(); }

}  // namespace taeda::profiler
