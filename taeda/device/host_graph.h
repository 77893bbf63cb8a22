// What the CPU does while a graph of its work is captured: kernels, copies and random draws are
// kept with their arguments and run at every replay. Programs use DeviceGraph (graph.h).
//
// Note [Graphs on the CPU]
// The CPU has one stream for each thread, which is the thread, so a capture records the work of the
// thread that began it and others go on as they are. Recorded is what passes through one of three
// gates: a kernel slot (cpu/capture.cpp puts recorders into all slots while a capture is under
// way, so that nothing is asked where none is), a copy or fill of the backend, and `record` for the
// few operations that work without a kernel, which are random draws.
//
// A replay calls the same kernels with the same arguments in the same order, so its results have
// the bits of an eager step. Memory is planned by capturing: what is allocated meanwhile comes from
// the graph's pool and what is freed goes back to it, so a block serves everything whose lifetimes
// do not meet, and a replay allocates nothing.
//
// Other devices cannot follow an address on the host; here everything could. What reads a value
// that only a replay computes would read old bytes, and what writes one would write it once. So
// memory of the pool knows what became of it. As long as no recorded work uses it the host may
// write it (an index that an operation works out from sizes): these bytes are kept, and put back by
// each replay where the first kernel uses them. After that an address is for kernels alone
// (StorageImpl::data_for_work); whoever else asks is refused by the name of the operation.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/device/backend.h"

namespace taeda::inline v0_2 {

class StorageImpl;

namespace detail {

/// A piece of recorded work. It may run any number of times.
class HostTask {
 public:
  explicit HostTask(const char* name) : name_(name) {}
  virtual ~HostTask() = default;
  HostTask(const HostTask&) = delete;
  HostTask& operator=(const HostTask&) = delete;
  virtual void run() = 0;
  /// Of the kernel; a literal.
  const char* name() const { return name_; }

 private:
  const char* const name_;
};

/// Recorded work, in order.
class HostGraph {
 public:
  HostGraph() = default;
  ~HostGraph();
  HostGraph(const HostGraph&) = delete;
  HostGraph& operator=(const HostGraph&) = delete;

  /// Adds `f()`, which is called at every replay and kept as long as the graph.
  template <class F>
  void add(const char* name, F f) {
    struct Task final : HostTask {
      Task(const char* n, F&& work) : HostTask(n), fn(std::move(work)) {}
      void run() override { fn(); }
      F fn;
    };
    tasks_.push_back(new (memory_.allocate(sizeof(Task), alignof(Task))) Task(name, std::move(f)));
  }
  /// Numbers that live as long as the graph.
  uint64_t* words(size_t count);

  void run();
  size_t size() const { return tasks_.size(); }
  /// Writes the order of the work in the language of Graphviz.
  void dump(const std::string& path) const;

 private:
  void run_traced();

  /// Tasks lie one behind the other, as a replay reads them.
  std::pmr::monotonic_buffer_resource memory_;
  std::vector<HostTask*> tasks_;
};

/// Writes work that is done one after the other to a file, in the language of Graphviz. Throws
/// Error where the file cannot be written.
void write_chain(const std::string& path, const std::vector<const char*>& names);

/// Captures of CPU work in this process: 0 most of the time.
inline constinit std::atomic<int> host_captures{0};
HostGraph* find_host_recording();
/// The graph that the calling thread's CPU work is recorded into, or nullptr.
inline HostGraph* host_recording() {
  if (host_captures.load(std::memory_order_relaxed) == 0) [[likely]]
    return nullptr;
  return find_host_recording();
}
void begin_host_capture();
/// What was recorded. Throws Error if something was refused.
std::unique_ptr<HostGraph> end_host_capture();

/// In a scope, the calling thread's work runs and its memory is everybody's.
class HostCapturePause {
 public:
  HostCapturePause();
  ~HostCapturePause();
  HostCapturePause(const HostCapturePause&) = delete;
  HostCapturePause& operator=(const HostCapturePause&) = delete;

 private:
  void* paused_;
};

/// Throws Error, if this thread's CPU work is being recorded, because `what` needs values now.
void check_not_recording(const char* what);
/// Whether values of `device`'s memory can be looked at in passing: on the CPU, unless its work is
/// only recorded now.
inline bool can_look_at_values(Device device) { return device.is_cpu() && !host_recording(); }

/// What became of memory that was allocated during a capture.
class CapturedMemory {
 public:
  explicit CapturedMemory(HostGraph* graph);
  /// The address of `storage` is asked for: by work that is recorded, or by the host.
  void ask(const StorageImpl& storage, bool for_work);

 private:
  enum class State : uint8_t { Fresh, Written, Used };
  HostGraph* graph_;
  const uint64_t capture_;
  State state_ = State::Fresh;
};

/// f() now, or at every replay if the CPU's work is being recorded.
template <class F>
void run_or_record(const char* name, F f) {
  if (HostGraph* graph = host_recording()) [[unlikely]]
    graph->add(name, std::move(f));
  else
    f();
}

}  // namespace detail
}  // namespace taeda::inline v0_2
