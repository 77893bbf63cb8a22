// The trace event format of Chrome, which Perfetto reads, too. The host is one process with its
// threads, each device another with its streams.
#include <cstdio>
#include <map>
#include <set>

#include "taeda/base/json.h"
#include "taeda/profiler/events.h"

namespace taeda::inline v0_2::profiler {

namespace {

using tracing::Kind;

constexpr int kHost = 1;          // devices follow
constexpr int64_t kShortest = 1;  // ns; an event without duration cannot hold an arrow's end

const char* category(Kind kind) {
  switch (kind) {
    case Kind::Module: return "python_function";  // as PyTorch's traces call it
    case Kind::Range: return "user_annotation";
    case Kind::Copy: return "copy";
    case Kind::DeviceWork: return "kernel";
    default: return "cpu_op";
  }
}

/// Microseconds with all nanoseconds.
std::string us(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns) * 1e-3);
  return text;
}

class Writer {
 public:
  Writer(const Events& events, const std::string& process) : events_(events) {
    collect_processes();
    name_processes(process);
    for (size_t i = 0; i < events.events.size(); ++i) write(events.events[i], i);
    for (const MemoryPoint& m : events.memory) write(m);
  }

  std::string take() {
    return "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + out_ +
           "\n]}\n";
  }

 private:
  static std::string key(Device d) { return d.is_cpu() ? "cpu" : d.str(); }
  int process_of(Device d) const { return processes_.at(key(d)); }

  void collect_processes() {
    std::set<std::string> devices;
    for (const Event& e : events_.events)
      if (e.on_device())
        devices.insert(key(e.device)), streams_.insert({key(e.device), e.stream});
      else
        threads_.insert(e.thread);
    for (const Event& e : events_.events)
      if (e.on_device() && e.parent < 0 && e.launch_time >= 0) threads_.insert(e.launch_thread);
    for (const MemoryPoint& m : events_.memory) devices.insert(key(m.device));
    devices.erase("cpu");
    processes_["cpu"] = kHost;
    for (const std::string& d : devices) {
      const int next = kHost + static_cast<int>(processes_.size());
      processes_[d] = next;
    }
  }

  void add(const std::string& event) {
    if (!out_.empty()) out_ += ",\n";
    out_ += event;
  }
  void meta(const char* what, int pid, int64_t tid, const std::string& argument) {
    add("{\"ph\": \"M\", \"name\": \"" + std::string(what) + "\", \"pid\": " + std::to_string(pid) +
        ", \"tid\": " + std::to_string(tid) + ", \"args\": {" + argument + "}}");
  }
  void name_processes(const std::string& process) {
    for (const auto& [device, pid] : processes_) {
      meta("process_name", pid, 0, "\"name\": " + json::quoted(pid == kHost ? process : device));
      meta("process_labels", pid, 0,
           "\"labels\": " + json::quoted(pid == kHost ? "CPU" : "device"));
      meta("process_sort_index", pid, 0, "\"sort_index\": " + std::to_string(pid));
    }
    for (int thread : threads_)
      meta("thread_name", kHost, thread,
           "\"name\": " + json::quoted("thread " + std::to_string(thread)));
    for (const auto& [device, stream] : streams_)
      meta("thread_name", processes_.at(device), stream,
           "\"name\": " + json::quoted("stream " + std::to_string(stream)));
  }

  void write(const Event& e, size_t index) {
    const int pid = e.on_device() ? process_of(e.device) : kHost;
    const int64_t tid = e.on_device() ? e.stream : e.thread;
    const std::string place =
        ", \"pid\": " + std::to_string(pid) + ", \"tid\": " + std::to_string(tid);
    const bool copies = e.kind == Kind::Copy || (e.on_device() && e.bytes > 0);
    std::string text = "{\"ph\": \"X\", \"cat\": \"" + std::string(category(e.kind)) +
                       "\", \"name\": " + json::quoted(e.name) + place +
                       ", \"ts\": " + us(e.start) +
                       ", \"dur\": " + us(std::max(e.time(), kShortest)) + ", \"args\": {";
    std::string arguments;
    const auto argument = [&arguments](const char* name, const std::string& value) {
      arguments += (arguments.empty() ? "\"" : ", \"") + std::string(name) + "\": " + value;
    };
    if (!e.shapes.empty()) argument("Dims", e.shapes);
    if (copies) argument("bytes", json::number(e.bytes));
    if (e.kind == Kind::Copy) {
      argument("from", json::quoted(e.from.str()));
      argument("to", json::quoted(e.device.str()));
    }
    if (copies && e.time() > 0)
      argument("memory bandwidth (GB/s)",
               json::number(static_cast<double>(e.bytes) / static_cast<double>(e.time())));
    if (e.on_device()) {
      argument("device", json::quoted(e.device.str()));
      argument("stream", json::number(e.stream));
      if (e.parent >= 0)
        argument("launched by", json::quoted(events_.events[static_cast<size_t>(e.parent)].name));
    }
    add(text + arguments + "}}");
    if (e.on_device() && e.launch_time >= 0) write_arrow(e, index, place);
  }

  /// From the launch to the work.
  void write_arrow(const Event& e, size_t index, const std::string& place) {
    const std::string id =
        ", \"cat\": \"ac2g\", \"name\": \"launch\", \"id\": " + std::to_string(index);
    const std::string from =
        ", \"pid\": " + std::to_string(kHost) + ", \"tid\": " + std::to_string(e.launch_thread);
    if (e.parent < 0)  // an arrow starts in an event
      add("{\"ph\": \"X\", \"cat\": \"launch\", \"name\": " + json::quoted("launch " + e.name) +
          from + ", \"ts\": " + us(e.launch_time) + ", \"dur\": " + us(kShortest) +
          ", \"args\": {}}");
    add("{\"ph\": \"s\"" + id + from + ", \"ts\": " + us(e.launch_time) + "}");
    add("{\"ph\": \"f\", \"bp\": \"e\"" + id + place + ", \"ts\": " + us(e.start) + "}");
  }

  void write(const MemoryPoint& m) {
    add("{\"ph\": \"C\", \"name\": " + json::quoted("memory " + key(m.device)) + ", \"pid\": " +
        std::to_string(process_of(m.device)) + ", \"tid\": 0, \"ts\": " + us(m.time) +
        ", \"args\": {\"allocated\": " + json::number(m.allocated) +
        ", \"cached\": " + json::number(m.reserved - m.allocated) + "}}");
  }

  const Events& events_;
  std::map<std::string, int> processes_;
  std::set<int> threads_;
  std::set<std::pair<std::string, int64_t>> streams_;
  std::string out_;
};

}  // namespace

std::string chrome_trace(const Events& events, const std::string& process_name) {
  return Writer(events, process_name).take();
}

}  // namespace taeda::profiler
