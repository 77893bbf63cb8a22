#include "taeda/device/stream.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2 {

namespace {

constexpr size_t kPoolSize = 32;
constexpr int kPriorities = 4;  // 0 to -3

/// This thread's current streams, made at the first change: until then it is stream 0 everywhere.
/// On the heap, because the thread-local block of a library that is loaded into a running program
/// (by Python, say) must be small. A plain pointer, so that it can still be read while a thread
/// ends.
struct CurrentStreams {
  StreamId id[kDeviceTypes][kMaxDeviceIndex] = {};
};
constinit thread_local CurrentStreams* current = nullptr;

CurrentStreams& make_current_streams() {
  static thread_local struct Owner {
    ~Owner() { delete std::exchange(current, nullptr); }
  } owner;
  (void)owner;
  return *(current = new CurrentStreams);
}

/// Streams of one device and priority. Made one by one until there are kPoolSize, then shared in
/// turn: a stream costs a thread or a queue of the driver, and programs ask for many.
struct Pool {
  std::vector<StreamId> streams;
  size_t next = 0;
};

struct Pools {
  std::mutex mutex;
  Pool pool[kDeviceTypes][kMaxDeviceIndex][kPriorities];
};

Pools& pools() {
  static auto* p = new Pools;
  return *p;
}

int index_of(Device device) {
  return device.has_index() ? device.index() : current_device(device.type());
}

}  // namespace

Stream new_stream(Device device, int priority) {
  const Device d = resolve(device);
  if (!d.is_accelerator()) return Stream(Device(kCPU), 0);
  Backend& backend = backend_of(d.type());
  const PriorityRange range = stream_priority_range(d);
  const int nearest = std::clamp(priority, range.greatest, range.least);
  Pools& all = pools();
  std::lock_guard lock(all.mutex);
  Pool& pool = all.pool[static_cast<int>(d.type())][d.index()][-nearest];
  if (pool.streams.size() < kPoolSize) {
    pool.streams.push_back(backend.new_stream(d.index(), nearest));
    return Stream(d, pool.streams.back());
  }
  return Stream(d, pool.streams[pool.next++ % kPoolSize]);
}

PriorityRange stream_priority_range(Device device) {
  const Device d = resolve(device);
  if (!d.is_accelerator()) return {};
  const PriorityRange range = backend_of(d.type()).stream_priority_range(d.index());
  return {0, std::max(range.greatest, 1 - kPriorities)};
}

Stream external_stream(Device device, void* handle) {
  const Device d = resolve(device);
  TAEDA_CHECK(d.is_accelerator(), d.is_cpu() ? "the CPU" : "meta", " has no streams of others");
  return Stream(d, reinterpret_cast<StreamId>(handle));
}

Stream current_stream(Device device) {
  if (!device.is_accelerator()) return Stream(Device(kCPU), 0);
  const int index = index_of(device);
  const StreamId id = current ? current->id[static_cast<int>(device.type())][index] : 0;
  return Stream(Device(device.type(), index), id);
}

Stream default_stream(Device device) {
  return device.is_accelerator() ? Stream(Device(device.type(), index_of(device)), 0)
                                 : Stream(Device(kCPU), 0);
}

void set_current_stream(Stream stream) {
  const Device d = stream.device();
  if (d.is_cpu()) return;
  CurrentStreams& streams = current ? *current : make_current_streams();
  streams.id[static_cast<int>(d.type())][index_of(d)] = stream.id();
}

std::vector<Stream> current_streams() {
  std::vector<Stream> out;
  if (!current) return out;
  for (int type = 0; type < kDeviceTypes; ++type)
    for (int i = 0; i < kMaxDeviceIndex; ++i)
      if (const StreamId id = current->id[type][i]) {
        const Device device(static_cast<DeviceType>(type), i);
        out.emplace_back(device, id);
      }
  return out;
}

void set_current_streams(const std::vector<Stream>& streams) {
  if (current) *current = {};
  for (const Stream& s : streams) set_current_stream(s);
}

StreamGuard::StreamGuard(Stream stream)
    : previous_(taeda::current_stream(stream.device())),
      previous_device_(taeda::current_device(stream.device().type())) {
  set_device(stream.device());
  set_current_stream(stream);
}

void StreamGuard::reset_stream(Stream stream) {
  TAEDA_CHECK(stream.device() == previous_.device(), "StreamGuard: cannot go from ",
              previous_.device().str(), " to ", stream.device().str());
  set_current_stream(stream);
}

StreamGuard::~StreamGuard() {
  set_current_stream(previous_);
  if (!previous_.device().is_cpu()) set_device(Device(previous_.device().type(), previous_device_));
}

bool Stream::query() const {
  return backend_of(device_.type()).stream_query(index_of(device_), id_);
}

int Stream::priority() const {
  return id_ == 0 ? 0 : backend_of(device_.type()).stream_priority(index_of(device_), id_);
}

void Stream::synchronize() const {
  backend_of(device_.type()).stream_synchronize(index_of(device_), id_);
}

void Stream::wait_event(const Event& event) const {
  if (!event.handle()) return;
  if (event.device().type() != device_.type()) {  // no common queue: the host waits for both
    event.synchronize();
    return;
  }
  backend_of(device_.type()).stream_wait_event(index_of(device_), id_, event.handle());
}

void Stream::wait_stream(const Stream& other) const {
  if (other == *this) return;
  Event event;
  event.record(other);
  wait_event(event);
}

Event::~Event() {
  if (handle_) backend_of(device_.type()).delete_event(handle_);
}

Event::Event(Event&& other) noexcept
    : timing_(other.timing_),
      device_(other.device_),
      handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(timing_, other.timing_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

void Event::record(const Stream& stream) {
  const Device d = resolve(stream.device());
  Backend& backend = backend_of(d.type());
  TAEDA_CHECK(!handle_ || device_ == d, "Event device ", device_,
              " does not match recording stream's device ", d, ".");
  if (!handle_) {
    handle_ = backend.new_event(index_of(d), timing_);
    device_ = d;
  }
  backend.record_event(handle_, index_of(d), stream.id());
}

bool Event::query() const { return !handle_ || backend_of(device_.type()).event_query(handle_); }

void Event::synchronize() const {
  if (handle_) backend_of(device_.type()).event_synchronize(handle_);
}

double Event::elapsed_time(const Event& end) const {
  TAEDA_CHECK(timing_ && end.timing_,
              "Both events must be created with argument 'enable_timing=True'.");
  TAEDA_CHECK(handle_ && end.handle_,
              "Both events must be recorded before calculating elapsed time.");
  TAEDA_CHECK(device_ == end.device_, "Both events must be on the same device, but they are on ",
              device_, " and ", end.device_, ".");
  TAEDA_CHECK(query() && end.query(),
              "Both events must be completed before calculating elapsed time.");
  return backend_of(device_.type()).event_elapsed_ms(handle_, end.handle_);
}

}  // namespace taeda::inline v0_2
