#include "taeda/device/host_graph.h"

#include <cstring>
#include <fstream>

#include "taeda/base/called_function.h"
#include "taeda/base/error.h"
#include "taeda/base/tracing.h"
#include "taeda/device/storage.h"

namespace taeda::inline v0_2::detail {

namespace {

struct Recording {
  std::unique_ptr<HostGraph> graph = std::make_unique<HostGraph>();
  uint64_t number = 0;
  bool spoilt = false;
};

constinit thread_local Recording* recording = nullptr;

[[noreturn]] void refuse(const std::string& what, const char* why) {
  recording->spoilt = true;
  throw Error(
      concat("CPU error: operation not permitted when stream is capturing (", what, "): ", why));
}

}  // namespace

HostGraph::~HostGraph() {
  for (HostTask* task : tasks_) task->~HostTask();
}

uint64_t* HostGraph::words(size_t count) {
  return static_cast<uint64_t*>(memory_.allocate(count * sizeof(uint64_t), alignof(uint64_t)));
}

void HostGraph::run() {
  if (tracing::wants(tracing::kSpans | tracing::kScopes)) [[unlikely]]
    return run_traced();
  for (HostTask* task : tasks_) task->run();
}

void HostGraph::run_traced() {
  for (HostTask* task : tasks_) {
    const tracing::Span span(tracing::Kind::Operation, task->name());
    task->run();
  }
}

void HostGraph::dump(const std::string& path) const {
  std::vector<const char*> names;
  for (const HostTask* task : tasks_) names.push_back(task->name());
  write_chain(path, names);
}

void write_chain(const std::string& path, const std::vector<const char*>& names) {
  std::ofstream out(path);
  out << "digraph {\n";
  for (size_t i = 0; i < names.size(); ++i) {
    out << "  n" << i << " [label=\"" << names[i] << "\"];\n";
    if (i > 0) out << "  n" << i - 1 << " -> n" << i << ";\n";
  }
  out << "}\n";
  TAEDA_CHECK(out.flush(), "cannot write the graph to ", path);
}

HostGraph* find_host_recording() { return recording ? recording->graph.get() : nullptr; }

void begin_host_capture() {
  TAEDA_CHECK(!recording, "CPU error: operation not permitted when stream is capturing");
  static std::atomic<uint64_t> captures{0};
  recording = new Recording;
  recording->number = ++captures;
  ++host_captures;
}

std::unique_ptr<HostGraph> end_host_capture() {
  TAEDA_CHECK(recording, "CPU error: the calling thread captures nothing");
  const std::unique_ptr<Recording> ended(std::exchange(recording, nullptr));
  --host_captures;
  TAEDA_CHECK(!ended->spoilt, "CPU error: operation failed due to a previous error during capture");
  return std::move(ended->graph);
}

HostCapturePause::HostCapturePause() : paused_(std::exchange(recording, nullptr)) {}
HostCapturePause::~HostCapturePause() { recording = static_cast<Recording*>(paused_); }

void check_not_recording(const char* what) {
  if (!host_recording()) [[likely]]
    return;
  const std::string called = called_function();
  refuse(called.empty() || called == what ? what : concat(called, ", ", what),
         "it needs values, which only a replay will compute");
}

CapturedMemory::CapturedMemory(HostGraph* graph) : graph_(graph), capture_(recording->number) {}

void CapturedMemory::ask(const StorageImpl& storage, bool for_work) {
  if (!recording || recording->number != capture_) return;
  if (!for_work) {
    if (state_ == State::Used)
      refuse(called_function(),
             "it reads or writes on the host what recorded work computes or uses");
    state_ = State::Written;
    return;
  }
  if (std::exchange(state_, State::Used) != State::Written) return;
  const auto* bytes = static_cast<const char*>(storage.address());
  graph_->add("host values",
              [to = storage.address(), kept = std::vector<char>(bytes, bytes + storage.nbytes())] {
                std::memcpy(to, kept.data(), kept.size());
              });
}

}  // namespace taeda::inline v0_2::detail
