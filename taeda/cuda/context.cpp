#include "taeda/cuda/context.h"

#include <atomic>

#include "taeda/cuda/fault.h"

namespace taeda::inline v0_2::gpu {

void use_device(int device) {
  int current = -1;
  // Asked for each time: other code in the process may have changed it.
  if (cudaGetDevice(&current) == cudaSuccess && current == device) return;
  check(cudaSetDevice(device), "setting the device");
}

Context::Context(Device d) {
  const Stream s = current_stream(d);
  device = s.device().index();
  stream = as_stream(s.id());
  use_device(device);
}

void Context::launched(const char* op) const {
  check(cudaGetLastError(), op);
  if (!launch_blocking()) [[likely]]
    return;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), op);
  if (status != cudaStreamCaptureStatusNone) return;  // it runs with the graph
  check(cudaStreamSynchronize(stream), op);
  report_fault(device, op);
}

int processor_count(int device) {
  static std::atomic<int> counts[128];
  int n = counts[device].load(std::memory_order_relaxed);
  if (n == 0) {
    check(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device),
          "reading the device's properties");
    counts[device].store(n, std::memory_order_relaxed);
  }
  return n;
}

}  // namespace taeda::gpu
