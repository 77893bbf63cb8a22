// The device interface of simulated accelerators, and their registration with the device room.
#include "taeda/sim/backend.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/device/allocator.h"
#include "taeda/device/builtin.h"
#include "taeda/kernels/registration.h"
#include "taeda/sim/addresses.h"
#include "taeda/sim/graph.h"
#include "taeda/sim/predictor.h"

namespace taeda::inline v0_2::sim {

namespace {

constexpr size_t kGiB = size_t{1} << 30;
// Up to this, pageable memory is copied to a staging buffer and the caller goes on.
constexpr size_t kStagedBytes = size_t{64} << 10;

/// An event: the ticket of its last recording.
struct SimEvent {
  std::mutex mutex;
  std::shared_ptr<Ticket> ticket;
  std::shared_ptr<Recording> recording;  ///< of its last recording, if that was captured
  Recording::Clock clock;                ///< and how far streams were there
  SimDevice* device = nullptr;

  std::shared_ptr<Ticket> current() {
    std::lock_guard lock(mutex);
    return ticket;
  }
  /// Throws Error if the event is a point in a graph, which the host cannot ask for.
  void check_not_captured() {
    std::lock_guard lock(mutex);
    if (recording)
      throw_capture_error(
          device->device(),
          "operation not permitted on an event last recorded in a capturing stream");
  }
};

SimEvent* as_event(EventHandle e) { return static_cast<SimEvent*>(e); }

template <class F>
std::unique_ptr<Task> kernel(const char* name, Device device, F fn) {
  return std::make_unique<KernelTask<F>>(name, device, std::move(fn));
}

}  // namespace

size_t parse_bytes(const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  const std::string unit = end;
  const double factor = unit.empty()  ? 1
                        : unit == "K" ? 0x1p10
                        : unit == "M" ? 0x1p20
                        : unit == "G" ? 0x1p30
                        : unit == "T" ? 0x1p40
                                      : 0;
  TAEDA_CHECK_VALUE(end != text && number > 0 && factor > 0,
                    "TAEDA_SIM_MEMORY: expected a number of bytes such as 512M or 2G, got '", text,
                    "'");
  return static_cast<size_t>(number * factor);
}

size_t default_memory() {
  const char* text = std::getenv("TAEDA_SIM_MEMORY");
  return text && *text ? parse_bytes(text) : 2 * kGiB;
}

std::optional<CostModel> default_cost_model() {
  const char* text = std::getenv("TAEDA_SIM_COST");
  return text && *text ? std::optional(cost_model(text)) : std::nullopt;
}

SimBackend::SimBackend(DeviceType type, int devices, size_t memory)
    : type_(type), count_(devices), memory_(memory) {}

void SimBackend::configure(int devices, size_t memory, bool compute) {
  std::lock_guard lock(mutex_);
  for (auto& d : devices_)
    if (SimDevice* device = d.load()) device->resize(memory);
  for (auto& d : devices_)
    if (SimDevice* device = d.load()) device->set_computes(compute);
  memory_ = memory;
  compute_ = compute;
  count_ = devices;
}

SimDevice& SimBackend::at(int index) const {
  auto& slot = devices_[static_cast<size_t>(index)];
  if (SimDevice* d = slot.load(std::memory_order_acquire)) return *d;
  std::lock_guard lock(mutex_);
  if (!slot.load(std::memory_order_relaxed)) {
    auto* device = new SimDevice(Device(type_, index), memory_);
    device->set_computes(compute_);
    slot.store(device, std::memory_order_release);
  }
  return *slot.load(std::memory_order_relaxed);
}

DeviceProperties SimBackend::properties(int device) const {
  DeviceProperties p;
  p.name = "Taeda simulated accelerator";
  p.total_memory = static_cast<int64_t>(at(device).memory().capacity());
  p.multi_processor_count = static_cast<int>(std::thread::hardware_concurrency());
  return p;
}

void* SimBackend::allocate(int device, size_t bytes) { return at(device).memory().allocate(bytes); }

void SimBackend::deallocate(int device, void* p, size_t bytes) {
  SimDevice& d = at(device);
  d.drain();  // queued work may still use the block
  Predictor::instance().host_waits(d.device());
  d.memory().deallocate(p, bytes);
}

void SimBackend::memory_info(int device, size_t* free, size_t* total) const {
  const Memory& memory = at(device).memory();
  *total = memory.capacity();
  *free = memory.capacity() - memory.used();
}

void* SimBackend::reserve(int device, size_t bytes) { return at(device).memory().reserve(bytes); }

void SimBackend::unreserve(int device, void* p, size_t bytes) {
  at(device).memory().unreserve(p, bytes);
}

bool SimBackend::map(int device, void* p, size_t bytes) {
  return at(device).memory().map(p, bytes);
}

void SimBackend::unmap(int device, void* p, size_t bytes) { at(device).memory().unmap(p, bytes); }

void* SimBackend::allocate_pinned(size_t bytes) {
  void* p = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!p) return nullptr;
  std::lock_guard lock(mutex_);
  pinned_[static_cast<char*>(p)] = bytes;
  return p;
}

void SimBackend::deallocate_pinned(void* p, size_t) {
  {
    std::lock_guard lock(mutex_);
    pinned_.erase(static_cast<char*>(p));
  }
  std::free(p);
}

bool SimBackend::is_pinned(const void* p) const {
  std::lock_guard lock(mutex_);
  auto it = pinned_.upper_bound(static_cast<char*>(const_cast<void*>(p)));
  if (it == pinned_.begin()) return false;
  --it;
  return static_cast<const char*>(p) < it->first + it->second;
}

void* SimBackend::view(int device, const void* p, size_t bytes, const char* what,
                       size_t argument) const {
  const AddressOf of{what, argument, argument == 0 ? "destination" : "source"};
  auto* address = static_cast<char*>(const_cast<void*>(p));
  if (device < 0) {
    check_host_memory(of, p);
    return address;
  }
  check_device_memory(at(device), of, p, static_cast<int64_t>(bytes));
  return address + at(device).memory().alias_delta();
}

void SimBackend::copy(void* dst, int dst_device, const void* src, int src_device, size_t bytes,
                      int device, StreamId stream) {
  SimDevice& d = at(device);
  d.report_error();
  Queue& queue = d.queue(stream);
  void* to = view(dst_device, dst, bytes, "copy", 0);
  const void* from = view(src_device, src, bytes, "copy", 1);
  const auto move = [to, from, bytes] { std::memcpy(to, from, bytes); };
  Transfer predicted{src_device, dst_device, static_cast<int64_t>(bytes)};
  if (dst_device >= 0 && src_device >= 0) {
    const Link link = dst_device == src_device ? Link() : at(src_device).link_to(dst_device);
    if (link.gate || link.delay.count() > 0) queue.push_wait(link.gate, link.delay);
    predicted.extra_delay = link.delay.count();
    d.charge(stream, predicted);
    d.launch(stream, kernel("copy between devices", d.device(), move));
    return;
  }
  const char* name = src_device < 0 ? "copy to the device" : "copy to the host";
  predicted.pinned = is_pinned(src_device < 0 ? src : dst);
  predicted.staged = src_device < 0 && bytes <= kStagedBytes;
  if (!predicted.pinned) d.check_not_capturing(stream, "copy of pageable memory");
  TAEDA_CHECK(d.computes() || src_device < 0, "cannot copy ", bytes, " bytes from ", d.device(),
              " to the host: it only predicts times (sim::Options::compute is false), so nothing "
              "on it has a value");
  d.charge(stream, predicted);
  if (predicted.pinned || !d.computes()) {
    d.launch(stream, kernel(name, d.device(), move));
  } else if (queue.idle()) {
    const tracing::DeviceWork work(tracing::launched(name, d.device(), stream), name, d.device(),
                                   stream);
    move();
  } else if (predicted.staged) {
    auto staging = std::make_unique_for_overwrite<char[]>(bytes);
    std::memcpy(staging.get(), from, bytes);
    d.launch(stream, kernel(name, d.device(), [to, bytes, s = std::move(staging)] {
               std::memcpy(to, s.get(), bytes);
             }));
  } else {
    queue.push(kernel(name, d.device(), move));
    queue.drain();
    d.report_error();
  }
}

void SimBackend::fill_zero(void* dst, size_t bytes, int device, StreamId stream) {
  SimDevice& d = at(device);
  d.charge(stream, Work{.bytes = static_cast<int64_t>(bytes)});
  d.launch(stream, kernel("fill with zeros", d.device(),
                          [to = view(device, dst, bytes, "fill with zeros", 0), bytes] {
                            std::memset(to, 0, bytes);
                          }));
}

StreamId SimBackend::new_stream(int device, int priority) {
  const PriorityRange range = stream_priority_range(device);
  return at(device).new_stream(std::clamp(priority, range.greatest, range.least));
}

int SimBackend::stream_priority(int device, StreamId stream) const {
  return at(device).priority(stream);
}

bool SimBackend::stream_query(int device, StreamId stream) {
  at(device).check_not_capturing(stream, "asking a stream");
  return at(device).queue(stream).idle();
}

void SimBackend::stream_synchronize(int device, StreamId stream) {
  SimDevice& d = at(device);
  d.check_not_capturing(stream, "waiting for a stream");
  d.queue(stream).drain();
  Predictor::instance().host_waits(d.device(), stream);
  d.report_error();
}

void SimBackend::device_synchronize(int device) {
  SimDevice& d = at(device);
  d.check_not_capturing(-1, "waiting for the device");
  d.drain();
  Predictor::instance().host_waits(d.device());
  d.report_error();
}

EventHandle SimBackend::new_event(int device, bool) {
  auto* event = new SimEvent;
  event->device = &at(device);
  return event;
}

void SimBackend::delete_event(EventHandle event) { delete as_event(event); }

void SimBackend::record_event(EventHandle event, int device, StreamId stream) {
  Queue& queue = at(device).queue(stream);
  auto recording = queue.recording();
  auto ticket = std::make_shared<Ticket>();
  ticket->predicted = Predictor::instance().time_of(at(device).device(), stream);
  {
    SimEvent& e = *as_event(event);
    std::lock_guard lock(e.mutex);
    e.ticket = recording ? nullptr : ticket;
    e.clock = recording ? recording->clock(queue) : Recording::Clock();
    e.recording = recording;
  }
  if (!recording) queue.push_record(std::move(ticket));
}

void SimBackend::stream_wait_event(int device, StreamId stream, EventHandle event) {
  Queue& queue = at(device).queue(stream);
  std::unique_lock lock(as_event(event)->mutex);
  if (const auto captured = as_event(event)->recording) {
    if (stream == 0) {  // CUDA's default stream takes no part in a capture
      captured->spoil();
      throw_capture_error(at(device).device(),
                          "operation would make the legacy stream depend on a capturing blocking "
                          "stream");
    }
    captured->wait(captured, queue, as_event(event)->clock);
    return;
  }
  lock.unlock();
  if (const auto recording = queue.recording()) {
    recording->spoil();
    throw_capture_error(at(device).device(),
                        "dependency created on uncaptured work in another stream");
  }
  if (auto ticket = as_event(event)->current()) {
    Predictor::instance().stream_waits(at(device).device(), stream, ticket->predicted);
    queue.push_wait(std::move(ticket));
  }
}

bool SimBackend::event_query(EventHandle event) {
  as_event(event)->check_not_captured();
  const auto ticket = as_event(event)->current();
  return !ticket || ticket->done();
}

void SimBackend::event_synchronize(EventHandle event) {
  as_event(event)->check_not_captured();
  if (const auto ticket = as_event(event)->current()) {
    ticket->wait();
    Predictor::instance().host_waits_until(ticket->predicted);
  }
  as_event(event)->device->report_error();
}

double SimBackend::event_elapsed_ms(EventHandle start, EventHandle end) {
  if (Predictor::instance().on())
    return static_cast<double>(as_event(end)->current()->predicted -
                               as_event(start)->current()->predicted) *
           1e-6;
  const auto span = as_event(end)->current()->time() - as_event(start)->current()->time();
  return std::chrono::duration<double, std::milli>(span).count();
}

void SimBackend::begin_capture(int device, StreamId stream, CaptureMode) {
  Queue& queue = at(device).queue(stream);
  if (queue.recording())
    throw_capture_error(at(device).device(), "operation not permitted when stream is capturing");
  queue.set_recording(std::make_shared<Recording>(at(device).device(), queue));
}

std::string SimBackend::unavailable_reason() const {
  if (device_count() > 0) return "";
  return type_ == kCUDA
             ? "TAEDA_SIM_AS_CUDA and CUDA_VISIBLE_DEVICES leave no simulated device"
             : "there are no simulated devices of this name: TAEDA_SIM_DEVICES makes some";
}

GraphHandle SimBackend::end_capture(int device, StreamId stream) {
  Queue& queue = at(device).queue(stream);
  const auto recording = queue.recording();
  TAEDA_INTERNAL_ASSERT(recording, "the stream is not being captured");
  return new std::shared_ptr<Graph>(recording->end(queue));
}

bool SimBackend::is_capturing(int device, StreamId stream) const {
  return at(device).queue(stream).recording() != nullptr;
}

void SimBackend::replay(GraphHandle graph, int device, StreamId stream) {
  SimDevice& d = at(device);
  const auto& replayed = *static_cast<std::shared_ptr<Graph>*>(graph);
  Predictor::instance().replay(d.device(), stream, replayed->parts());
  d.launch(stream, replay_task(replayed));
}

void SimBackend::delete_graph(GraphHandle graph) {
  delete static_cast<std::shared_ptr<Graph>*>(graph);
}

void SimBackend::dump_graph(GraphHandle graph, const std::string& path) {
  (*static_cast<std::shared_ptr<Graph>*>(graph))->dump(path);
}

namespace {

constexpr int kDefaultDevices = 2;

std::atomic<SimBackend*> backends[kDeviceTypes] = {};

SimBackend* make_backend(DeviceType type, int devices, size_t memory) {
  const std::optional<CostModel> cost = default_cost_model();
  auto* backend = new SimBackend(type, devices, memory);
  Predictor::instance().set_model(cost ? &*cost : nullptr);
  backends[static_cast<int>(type)].store(backend, std::memory_order_release);
  register_sim_kernels(type);
  return backend;
}

int parse_count(const char* variable, const char* text) {
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  TAEDA_CHECK_VALUE(*end == 0 && n >= 0 && n <= SimBackend::kMaxDevices, variable,
                    ": expected a number of devices from 0 to ", SimBackend::kMaxDevices, ", got '",
                    text, "'");
  return static_cast<int>(n);
}

/// How many of `devices` a list of their numbers shows, by CUDA's rule: those before the first that
/// is none of them, or there already.
int count_visible(const std::string& list, int devices) {
  std::set<long> visible;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    char* end = nullptr;
    const long n = std::strtol(part.c_str(), &end, 10);
    if (part.empty() || *end != 0 || n < 0 || n >= devices || !visible.insert(n).second) break;
  }
  return static_cast<int>(visible.size());
}

}  // namespace

SimBackend* backend_if_loaded(DeviceType type) {
  return backends[static_cast<int>(type)].load(std::memory_order_acquire);
}

}  // namespace taeda::inline v0_2::sim

namespace taeda::inline v0_2::builtin {

Backend* sim_backend() {
  const char *text = std::getenv("TAEDA_SIM_DEVICES"), *as_cuda = std::getenv("TAEDA_SIM_AS_CUDA");
  const int otherwise = as_cuda && *as_cuda ? 0 : sim::kDefaultDevices;
  const int devices = text && *text ? sim::parse_count("TAEDA_SIM_DEVICES", text) : otherwise;
  return sim::make_backend(kSim, devices, sim::default_memory());
}

Backend* sim_as_cuda_backend(const char* text) {
  int devices = sim::parse_count("TAEDA_SIM_AS_CUDA", text);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    devices = sim::count_visible(visible, devices);
  return sim::make_backend(kCUDA, devices, sim::default_memory());
}

}  // namespace taeda::inline v0_2::builtin
