#include "taeda/sim/device.h"

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/sim/graph.h"
#include "taeda/sim/predictor.h"

namespace taeda::inline v0_2::sim {

namespace {

// Note [The process's end]
// A stream's thread must be gone before anything that its kernels use. That cannot be had from
// atexit(): libraries make static objects when they first need them, and what was made last ends
// first - oneDNN's tables, made within a kernel, before whatever was registered when the stream was
// made. But exit() ends the calling thread's thread-local objects before all static ones. So an
// object of the main thread, made when the library is loaded, stops the streams. atexit() is left
// for programs whose main thread never loaded the library, or that call exit() elsewhere.

/// All streams, to be stopped before the process ends.
struct ExitList {
  std::mutex mutex;
  std::vector<Queue*> queues;

  static ExitList& get() {
    static auto* list = new ExitList;
    return *list;
  }
  static void stop_all() {
    std::vector<Queue*> queues;
    {
      std::lock_guard lock(get().mutex);
      queues = get().queues;
    }
    for (Queue* q : queues) q->stop();
  }
  void add(Queue* queue) {
    static std::once_flag once;
    std::call_once(once, [] { std::atexit(stop_all); });
    std::lock_guard lock(mutex);
    queues.push_back(queue);
  }
};

struct MainThread {
  ~MainThread() {
    if (gettid() == getpid()) ExitList::stop_all();
  }
  /// Has the calling thread's object made.
  static bool watch() {
    static thread_local MainThread object;
    return object.watched;
  }
  bool watched = true;
};

[[maybe_unused]] const bool watched = MainThread::watch();

}  // namespace

SimDevice::SimDevice(Device device, size_t memory)
    : device_(device), memory_(std::make_unique<Memory>(device, memory)) {}

void SimDevice::resize(size_t memory) {
  TAEDA_CHECK(memory_->used() == 0, "sim::configure: ", device_, " holds ", memory_->used(),
              " bytes; configure simulated devices before tensors live on them");
  if (memory != memory_->capacity()) memory_ = std::make_unique<Memory>(device_, memory);
}

Queue& SimDevice::queue(StreamId id) {
  check_stream(id);
  auto& slot = queues_[static_cast<size_t>(id)];
  if (Queue* q = slot.load(std::memory_order_acquire)) return *q;
  std::lock_guard lock(mutex_);
  if (Queue* q = slot.load(std::memory_order_relaxed)) return *q;
  const auto keep = [this](std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  };
  auto* q = new Queue(keep, id);
  ExitList::get().add(q);
  slot.store(q, std::memory_order_release);
  return *q;
}

StreamId SimDevice::new_stream(int priority) {
  StreamId id = next_stream_.load();
  do {
    TAEDA_CHECK(id < static_cast<StreamId>(kMaxStreams), device_, " has no more streams");
  } while (!next_stream_.compare_exchange_weak(id, id + 1));
  priorities_[static_cast<size_t>(id)] = priority;
  return id;
}

void SimDevice::check_stream(StreamId id) const {
  TAEDA_CHECK(id >= 0 && id < next_stream_.load(), device_, " has no stream ", id);
}

int SimDevice::priority(StreamId id) const {
  check_stream(id);
  return priorities_[static_cast<size_t>(id)];
}

void SimDevice::launch(StreamId stream, std::unique_ptr<Task> task) {
  Queue& q = queue(stream);
  if (const auto recording = q.recording()) [[unlikely]] {
    recording->add(q, std::move(task));
    return;
  }
  if (!computes()) [[unlikely]]
    return;
  q.push(std::move(task));
  if (!launch_blocking()) [[likely]]
    return;
  q.drain();
  Predictor::instance().host_waits(device_, stream);
  report_error();
}

void SimDevice::charge(StreamId stream, const Cost& cost) {
  Predictor& predictor = Predictor::instance();
  if (!predictor.on()) return;
  Queue& q = queue(stream);
  if (const auto recording = q.recording())
    recording->charge(q, cost);
  else if (const auto* work = std::get_if<Work>(&cost))
    predictor.kernel(device_, stream, *work);
  else
    predictor.copy(device_, stream, std::get<Transfer>(cost));
}

void SimDevice::check_not_capturing(StreamId stream, const char* what) {
  const auto check = [&](Queue& q) {
    const auto recording = q.recording();
    if (!recording) return;
    recording->spoil();
    throw_capture_error(
        device_, detail::concat("operation not permitted when stream is capturing (", what, ")"));
  };
  if (stream >= 0)
    check(queue(stream));
  else
    for_each_queue(check);
}

void SimDevice::report_error() {
  std::exception_ptr error;
  {
    std::lock_guard lock(mutex_);
    error.swap(error_);
  }
  if (error) std::rethrow_exception(error);
}

Link SimDevice::link_to(int peer) {
  std::lock_guard lock(mutex_);
  const auto it = links_.find(peer);
  return it == links_.end() ? Link{} : it->second;
}

void SimDevice::set_link(int peer, Link link) {
  std::lock_guard lock(mutex_);
  links_[peer] = std::move(link);
}

void rethrow_named(const char* kernel, Device device) {
  const std::string where = detail::concat(
      "(raised by kernel '", kernel, "' on ", device,
      launch_blocking()
          ? ")"
          : "; kernels run asynchronously, so this call may not be the one that queued it: "
            "TAEDA_LAUNCH_BLOCKING=1 reports errors where they happen)");
  try {
    throw;
  } catch (Error& e) {
    e.add_context(where);
    throw;
  } catch (const std::exception& e) {
    throw Error(detail::concat(e.what(), "\n", where));
  } catch (...) {
    throw Error(detail::concat("unknown exception\n", where));
  }
}

bool launch_blocking() {
  static const bool blocking = [] {
    const char* text = std::getenv("TAEDA_LAUNCH_BLOCKING");
    return text && *text && *text != '0';
  }();
  return blocking;
}

}  // namespace taeda::sim
