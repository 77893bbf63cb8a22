// Where a kernel runs, and memory for its intermediate results.
#pragma once

#include "taeda/cuda/error.h"
#include "taeda/device/allocator.h"
#include "taeda/device/stream.h"

namespace taeda::inline v0_2::gpu {

/// A stream's id is the runtime's handle: 0 is the legacy default stream, which waits for all
/// blocking streams, as in PyTorch.
inline cudaStream_t as_stream(StreamId id) { return reinterpret_cast<cudaStream_t>(id); }
inline StreamId as_id(cudaStream_t stream) { return reinterpret_cast<StreamId>(stream); }

/// Makes a device current for the runtime on this thread. The library keeps its own current device:
/// every use of the runtime starts here.
void use_device(int device);

/// Lets this thread call what would spoil another stream's capture, or its own, such as taking
/// memory from the device.
class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// The calling thread's stream of a device, which is made current for the runtime.
struct Context {
  int device;
  cudaStream_t stream;

  explicit Context(Device d);
  /// To be called after each launch: throws Error, naming `op`, if it failed. Waits for the kernel
  /// under TAEDA_LAUNCH_BLOCKING.
  void launched(const char* op) const;
};

/// Multiprocessors of a device.
int processor_count(int device);

/// Device memory for one call. It may be freed while kernels still use it: the allocator hands it
/// out again on the same stream only.
class Scratch {
 public:
  Scratch(Device device, int64_t bytes)
      : device_(device), p_(allocator::allocate(device, static_cast<size_t>(bytes + 16))) {}
  ~Scratch() { allocator::deallocate(device_, p_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(p_);
  }

 private:
  Device device_;
  void* p_;
};

}  // namespace taeda::gpu
