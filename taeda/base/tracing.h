// Where the library tells what it does: operations, modules, copies, work of devices, memory.
//
// While nobody listens a place that tells costs one load and a branch. A session (tracing_log.h)
// collects: each thread writes into a log of its own, without locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "taeda/base/device.h"

namespace taeda::inline v0_2::tracing {

/// What is wanted, bits of `wanted`.
enum Want : uint32_t {
  kSpans = 1,       ///< operations, nodes of backward, copies, the program's own ranges
  kModules = 2,     ///< calls of modules
  kDeviceWork = 4,  ///< kernels and copies on their streams, and where they were launched
  kMemory = 8,      ///< memory taken and given back
  kShapes = 16,     ///< shapes of an operation's tensors
  kScopes = 32,     ///< open spans can be asked for (`innermost`), though nothing may be recorded
};
inline constinit std::atomic<uint32_t> wanted{0};
inline bool wants(uint32_t what) { return (wanted.load(std::memory_order_relaxed) & what) != 0; }

/// What a record is about.
/// Its sizes are bytes, its times nanoseconds.
enum class Kind : uint8_t { Operation, Backward, Module, Range, Copy, Launch, DeviceWork, Memory };

/// Which wish (`wanted`) makes records of a kind.
constexpr uint32_t recorded_by(Kind kind) { return kind == Kind::Module ? kModules : kSpans; }

/// A stretch of time on this thread. Spans are nested like the scopes that hold them.
/// Times are nanoseconds of the steady clock.
class Span {
 public:
  /// Does nothing until `enter`.
  Span() {}
  /// `name` must live as long as the span; for an operation, until the end of the session.
  Span(Kind kind, const char* name) {
    if (wants(recorded_by(kind) | kScopes)) [[unlikely]]
      enter(kind, name);
  }
  ~Span() {
    if (entered_) [[unlikely]]
      leave();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// `shown`, if given, is what the record is called; it may go after the call.
  void enter(Kind kind, const char* name, const char* shown = nullptr);
  /// The session records this span.
  bool recorded() const { return entered_ && log_ != nullptr; }
  /// For a copy.
  void set_copy(int64_t bytes, Device from, Device to);
  /// For an operation: "[[32, 64], [64]]".
  void set_shapes(const std::string& text);

  bool has_shapes() const { return recorded() && shapes_ != nullptr; }

  Kind kind() const { return kind_; }
  const char* name() const { return name_; }
  /// The one of those kinds around this one on the same thread, or nullptr.
  const Span* outer() const { return outer_; }

 private:
  void leave() noexcept;

  // Only `enter` sets the others: a span that is not entered must cost nothing.
  bool entered_ = false;
  bool announced_;
  Kind kind_;
  Device from_, to_;
  const char* name_;
  const char* shown_;
  const char* shapes_;
  const Span* outer_;
  struct ThreadLog* log_;  // what it is recorded in, or nullptr
  uint64_t place_;
  int64_t start_;
  int64_t bytes_;
};

/// The innermost operation, node of backward or module that is running on this thread; nullptr if
/// there is none.
const Span* innermost();
/// Gives this thread what is running on the one it works for, which waits meanwhile. Returns what
/// it had.
const Span* set_innermost(const Span* span);
/// "encoder.layers.3" from the modules that are being called on this thread; empty outside.
std::string module_path();

/// Shapes for the next operation of this thread, where its kernel no longer knows them.
void set_next_shapes(std::string text);
/// Called at the start of each operation while kScopes is wanted; nullptr for nobody.
inline constinit std::atomic<void (*)(const char* operation)> operation_listener{nullptr};

/// A thread is about to queue work for a device. Returns the number that the work's DeviceWork
/// takes; 0 while nobody listens.
uint64_t launched(const char* name, Device device, int64_t stream);

/// The stretch in which queued work runs, on whatever thread.
class DeviceWork {
 public:
  /// `launch` is what `launched` returned. `name` must live until the end of the session.
  DeviceWork(uint64_t launch, const char* name, Device device, int64_t stream);
  ~DeviceWork();
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;

 private:
  uint64_t launch_;
  const char* name_;
  Device device_;
  int64_t stream_;
  int64_t start_ = 0;
};

/// `bytes` of a device were taken (or given back, if negative); what is now allocated and reserved.
void memory(Device device, int64_t bytes, int64_t allocated, int64_t reserved);

}  // namespace taeda::tracing
