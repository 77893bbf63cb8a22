// Streams and events, for every device type.
#pragma once

#include <vector>

#include "taeda/base/device.h"
#include "taeda/device/backend.h"

namespace taeda::inline v0_2 {

class Event;

/// A queue of work on a device. The CPU has one stream whose work is done when a call returns.
/// By default the CPU's; errors of queued work are thrown by the call that next waits for it.
class Stream {
 public:
  Stream() = default;
  Stream(Device device, StreamId id) : device_(device), id_(id) {}
  /// libtorch's tags: the device's default stream, or any by its number.
  enum Default { DEFAULT };
  enum Unsafe { UNSAFE };
  Stream(Default, Device device) : device_(device) {}
  Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}

  Device device() const { return device_; }
  DeviceType device_type() const { return device_.type(); }
  int device_index() const { return device_.index(); }
  StreamId id() const { return id_; }
  /// Whether all work queued so far is done.
  bool query() const;
  /// Blocks the host until it is.
  void synchronize() const;
  /// 0, or below for one that is served before others.
  int priority() const;
  /// Later work of this stream starts after the event.
  void wait_event(const Event& event) const;
  void wait(const Event& event) const { wait_event(event); }
  /// Later work of this stream starts after what `other` has queued now.
  void wait_stream(const Stream& other) const;

  friend bool operator==(const Stream&, const Stream&) = default;

 private:
  Device device_;
  StreamId id_ = 0;
};

/// A stream of the device's pool for that priority. Smaller numbers are served first; one outside
/// of `stream_priority_range` means the nearest one in it. A pool makes 32 streams and then hands
/// them out again in turn.
Stream new_stream(Device device, int priority = 0);
/// From 0 down to at most -3.
PriorityRange stream_priority_range(Device device);
/// A stream that other code made: a cudaStream_t on "cuda". It must outlive its use here. Work on
/// it is not ordered with the default stream's if it was made non-blocking, as those of the pools
/// are.
Stream external_stream(Device device, void* handle);
/// The stream on which the calling thread's operations on `device` run.
Stream current_stream(Device device);
Stream default_stream(Device device);
void set_current_stream(Stream stream);
/// The calling thread's current streams where they are not the default ones, to be made another
/// thread's.
std::vector<Stream> current_streams();
/// Makes these current, and on all other devices the default streams.
void set_current_streams(const std::vector<Stream>& streams);

/// Makes `stream` (and its device) current for a scope.
class StreamGuard {
 public:
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  /// The stream that was current on the stream's device, and is again when the scope ends.
  Stream original_stream() const { return previous_; }
  Stream current_stream() const { return taeda::current_stream(previous_.device()); }
  /// The device that is current again when the scope ends, and the stream's.
  Device original_device() const { return {previous_.device_type(), previous_device_}; }
  Device current_device() const { return previous_.device(); }
  /// Makes another stream of that device current for the rest of the scope. Throws Error for one
  /// of another device.
  void reset_stream(Stream stream);

 private:
  Stream previous_;
  int previous_device_;
};

/// A point in a stream that others can wait for and, with `enable_timing`, measure.
class Event {
 public:
  explicit Event(bool enable_timing = false) : timing_(enable_timing) {}
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  /// Records on the current stream of the stream's device, or on the stream given.
  void record(const Stream& stream);
  /// Later work of the stream starts after the event.
  /// An event that was never recorded orders nothing; times between two are milliseconds.
  void wait(const Stream& stream) const { stream.wait_event(*this); }
  void block(const Stream& stream) const { wait(stream); }
  bool query() const;
  void synchronize() const;
  /// Milliseconds from this event to `end`. Throws Error unless both were recorded with timing.
  double elapsed_time(const Event& end) const;
  Device device() const { return device_; }
  DeviceType device_type() const { return device_.type(); }
  int device_index() const { return device_.index(); }
  EventHandle handle() const { return handle_; }

 private:
  bool timing_ = false;
  Device device_;
  EventHandle handle_ = nullptr;
};

}  // namespace taeda
