// A session: what was told between `start` and `stop`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taeda/base/tracing.h"

namespace taeda::inline v0_2::tracing {

/// Something that happened, in the log of the thread it happened on. Times are nanoseconds of the
/// steady clock.
struct Record {
  Kind kind = Kind::Operation;
  Device device;  ///< where to for a Copy; of the work; of the memory
  Device from;    ///< of a Copy
  const char* name = "";
  int64_t start = 0, end = 0;
  /// Places in the order of what happened on the thread: a span encloses what has places between
  /// its own.
  uint64_t enter = 0, leave = 0;
  /// The number that a Launch and its DeviceWork share.
  uint64_t launch = 0;
  /// DeviceWork whose launch is not in a log: the `span_id` of the operation that launched it, or
  /// 0, and when.
  uint64_t owner = 0;
  int64_t launch_time = 0;
  int64_t stream = 0;
  int64_t bytes = 0;                    ///< copied; taken or, if negative, given back
  int64_t allocated = 0, reserved = 0;  ///< of the device, after a Memory
  const char* shapes = nullptr;
};

/// What one thread recorded.
struct ThreadRecords {
  int thread = 0;  ///< numbered from 1 in the order of their first record
  std::vector<Record> records;
};

/// What a session collected. Names stay as long as it does.
/// Times are nanoseconds of the steady clock, memory is bytes.
struct Recording {
  int64_t start = 0, end = 0;
  std::vector<ThreadRecords> threads;
  /// Spans and other happenings for which there was no room.
  uint64_t dropped = 0;
  std::vector<std::shared_ptr<const void>> names;
};

/// Nanoseconds of the steady clock.
int64_t now();
/// One number for a span of a session: its thread's and its place there.
constexpr uint64_t span_id(int thread, uint64_t enter) {
  return static_cast<uint64_t>(thread) << 40 | enter;
}

/// Begins a session; `what` is made of bits of Want. False if there is one already. Memory is
/// bounded by `max_records`; what comes after is dropped and counted.
bool start(uint32_t what, uint64_t max_records);
bool is_running();
/// Those that work was launched for in this session: whoever wants all of it waits for them.
std::vector<Device> devices_with_work();
/// Ends the session. Spans that are still open are not part of it.
Recording stop();
/// Turns kScopes on or off, independently of sessions. Who turned it on must turn it off: it stays
/// on until all did.
void want_scopes(bool on);
/// Calls `observer` with the name of each operation's kernel, and of each copy between devices,
/// before it runs; nullptr for nobody. Turns kScopes on meanwhile. It must not throw.
void observe_kernels(void (*observer)(const char* kernel));

/// Tells of a device's work what cannot be seen from the host; a backend may have one (CUPTI).
class DeviceTracer {
 public:
  virtual ~DeviceTracer() = default;
  /// Empty if device work is being recorded from now on, otherwise the reason why not.
  virtual std::string start() = 0;
  /// Waits for the devices, and returns what they did since `start`: DeviceWork, with `owner`.
  virtual std::vector<Record> stop() = 0;
  /// Happenings since `start` for which there was no room.
  virtual uint64_t dropped() const = 0;
  /// Around the operations and copies of a thread; the number comes back as `owner`.
  virtual void push(uint64_t span_id) = 0;
  virtual void pop() = 0;
};
/// Who passes ranges on to a profiler of the device, or null.
void set_device_tracer(DeviceTracer* tracer);
DeviceTracer* device_tracer();
/// While on, operations are announced to the tracer.
void announce_operations(bool on);

}  // namespace taeda::tracing
