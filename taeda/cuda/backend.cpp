// Memory, copies, streams and events by the CUDA runtime.
#include "taeda/cuda/backend.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "taeda/base/error.h"
#include "taeda/cuda/context.h"
#include "taeda/cuda/fault.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2::gpu {

namespace {

/// An event knows its device: errors that kernels noted are reported by device.
struct CudaEvent {
  cudaEvent_t handle;
  int device;
};

CudaEvent* as_event(EventHandle e) { return static_cast<CudaEvent*>(e); }

/// Why the runtime finds no devices.
std::string explain(cudaError_t status) {
  if (status == cudaErrorInsufficientDriver) {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
      return "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
             "installed a driver: libcuda.so.1 cannot be loaded";
    dlclose(driver);
  }
  std::string text =
      detail::concat(cudaGetErrorString(status), " (", cudaGetErrorName(status), ")");
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    text += detail::concat("; CUDA_VISIBLE_DEVICES is '", visible, "'");
  return text;
}

/// True when the work is done; `status` is what a query gave.
bool is_done(cudaError_t status, const char* what) {
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(status, what);
  return true;
}

/// `use_device` for what is given back, which may be after the runtime has ended.
void try_device(int device) {
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current != device) cudaSetDevice(device);
}

/// Host memory that the driver knows, of whoever: the copy engine reads and writes it directly.
bool is_registered(const void* p) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, p) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type != cudaMemoryTypeUnregistered;
}

/// Whether the device reads any memory of the host without its being staged, as on a board that
/// both share.
bool uses_host_page_tables(int device) {
  int uses = 0;
  check(cudaDeviceGetAttribute(&uses, cudaDevAttrPageableMemoryAccessUsesHostPageTables, device),
        "reading the device's properties");
  return uses != 0;
}

}  // namespace

CudaBackend::CudaBackend() {
  const cudaError_t status = cudaGetDeviceCount(&count_);
  if (status != cudaSuccess) {
    cudaGetLastError();
    count_ = 0;
    reason_ = explain(status);
  } else if (count_ == 0) {
    reason_ = explain(cudaErrorNoDevice);
  }
  count_ = std::min(count_, kMaxDevices);
}

DeviceProperties CudaBackend::properties(int device) const {
  cudaDeviceProp found;
  check(cudaGetDeviceProperties(&found, device), "reading the device's properties");
  DeviceProperties p;
  p.name = found.name;
  p.total_memory = static_cast<int64_t>(found.totalGlobalMem);
  p.major = found.major;
  p.minor = found.minor;
  p.multi_processor_count = found.multiProcessorCount;
  p.max_threads_per_multi_processor = found.maxThreadsPerMultiProcessor;
  p.max_threads_per_block = found.maxThreadsPerBlock;
  p.regs_per_multiprocessor = found.regsPerMultiprocessor;
  p.warp_size = found.warpSize;
  p.shared_memory_per_block = static_cast<int64_t>(found.sharedMemPerBlock);
  p.shared_memory_per_multiprocessor = static_cast<int64_t>(found.sharedMemPerMultiprocessor);
  p.L2_cache_size = found.l2CacheSize;
  p.memory_bus_width = found.memoryBusWidth;
  p.is_integrated = found.integrated != 0;
  p.is_multi_gpu_board = found.isMultiGpuBoard != 0;
  char text[48];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", found.pciDomainID, found.pciBusID,
                found.pciDeviceID);
  p.pci_bus_id = text;
  p.uuid = "GPU-";
  for (int i = 0; i < 16; ++i) {
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned char>(found.uuid.bytes[i]));
    p.uuid += text;
    if (i == 3 || i == 5 || i == 7 || i == 9) p.uuid += '-';
  }
  return p;
}

void* CudaBackend::allocate(int device, size_t bytes) {
  use_device(device);
  const RelaxedCapture relaxed;
  void* p = nullptr;
  const cudaError_t status = cudaMalloc(&p, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(status, "allocating device memory");
  return p;
}

void CudaBackend::deallocate(int device, void* p, size_t) {
  try_device(device);
  const RelaxedCapture relaxed;
  // At the end of the process the runtime may be gone already, and the memory with it.
  if (cudaFree(p) != cudaSuccess) cudaGetLastError();
}

void CudaBackend::memory_info(int device, size_t* free, size_t* total) const {
  use_device(device);
  const RelaxedCapture relaxed;
  check(cudaMemGetInfo(free, total), "reading the device's free memory");
}

void* CudaBackend::allocate_pinned(size_t bytes) {
  use_device(current_device(kCUDA));  // else the runtime starts device 0 for it
  const RelaxedCapture relaxed;
  void* p = nullptr;
  const cudaError_t status = cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(status, "allocating pinned memory");
  return p;
}

void CudaBackend::deallocate_pinned(void* p, size_t) {
  const RelaxedCapture relaxed;
  if (cudaFreeHost(p) != cudaSuccess) cudaGetLastError();
}

void CudaBackend::copy(void* dst, int dst_device, const void* src, int src_device, size_t bytes,
                       int device, StreamId stream) {
  use_device(device);
  const cudaStream_t s = as_stream(stream);
  if (dst_device >= 0 && src_device >= 0) {
    if (dst_device != src_device) {
      enable_peer(src_device, dst_device);
      use_device(device);
      check(cudaMemcpyPeerAsync(dst, dst_device, src, src_device, bytes, s),
            "copy between devices");
    } else {
      check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, s), "copy on the device");
    }
    return;
  }
  const bool to_host = dst_device < 0;
  const char* what = to_host ? "copy to the host" : "copy to the device";
  check(cudaMemcpyAsync(dst, src, bytes, to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice,
                        s),
        what);
  // Our pinned blocks are waited for by the caller, by their events. The runtime has staged other
  // host memory that it reads, unless the device reads it where it lies; what arrives there, and
  // what somebody else has pinned, is waited for.
  const void* host = to_host ? dst : src;
  if (allocator::is_pinned(kCUDA, host)) return;
  if (!to_host && !is_registered(host) && !uses_host_page_tables(device)) return;
  check(cudaStreamSynchronize(s), what);
  report_fault(device);
}

void CudaBackend::fill_zero(void* dst, size_t bytes, int device, StreamId stream) {
  use_device(device);
  check(cudaMemsetAsync(dst, 0, bytes, as_stream(stream)), "fill with zeros");
}

bool CudaBackend::can_access_peer(int device, int peer) const {
  if (device == peer) return true;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device, peer), "asking for peer access");
  return can != 0;
}

/// Lets copies from `device` go to `peer` without a detour through the host, where that is
/// possible.
void CudaBackend::enable_peer(int device, int peer) {
  if (peers_tried_[device][peer].exchange(true)) return;
  if (!can_access_peer(device, peer)) return;
  use_device(device);
  const RelaxedCapture relaxed;
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status != cudaSuccess) cudaGetLastError();  // the copy works without
  share_virtual_memory(peer, device);
}

PriorityRange CudaBackend::stream_priority_range(int device) const {
  use_device(device);
  PriorityRange range;
  check(cudaDeviceGetStreamPriorityRange(&range.least, &range.greatest),
        "reading stream priorities");
  return range;
}

StreamId CudaBackend::new_stream(int device, int priority) {
  const PriorityRange range = stream_priority_range(device);
  const RelaxedCapture relaxed;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                     std::clamp(priority, range.greatest, range.least)),
        "making a stream");
  return as_id(stream);
}

int CudaBackend::stream_priority(int device, StreamId stream) const {
  use_device(device);
  int priority = 0;
  check(cudaStreamGetPriority(as_stream(stream), &priority), "reading a stream's priority");
  return priority;
}

bool CudaBackend::stream_query(int device, StreamId stream) {
  use_device(device);
  return is_done(cudaStreamQuery(as_stream(stream)), "asking a stream");
}

void CudaBackend::stream_synchronize(int device, StreamId stream) {
  use_device(device);
  check(cudaStreamSynchronize(as_stream(stream)), "waiting for a stream");
  report_fault(device);
}

void CudaBackend::device_synchronize(int device) {
  use_device(device);
  check(cudaDeviceSynchronize(), "waiting for the device");
  report_fault(device);
}

EventHandle CudaBackend::new_event(int device, bool timing) {
  use_device(device);
  cudaEvent_t handle = nullptr;
  check(cudaEventCreateWithFlags(&handle, timing ? cudaEventDefault : cudaEventDisableTiming),
        "making an event");
  return new CudaEvent{handle, device};
}

void CudaBackend::delete_event(EventHandle event) {
  try_device(as_event(event)->device);
  if (cudaEventDestroy(as_event(event)->handle) != cudaSuccess) cudaGetLastError();
  delete as_event(event);
}

void CudaBackend::record_event(EventHandle event, int device, StreamId stream) {
  use_device(device);
  check(cudaEventRecord(as_event(event)->handle, as_stream(stream)), "recording an event");
}

void CudaBackend::stream_wait_event(int device, StreamId stream, EventHandle event) {
  use_device(device);
  check(cudaStreamWaitEvent(as_stream(stream), as_event(event)->handle, 0), "waiting for an event");
}

// Events that are asked belong to work that was queued, not captured: a capture on another stream
// or thread need not be spoiled.
bool CudaBackend::event_query(EventHandle event) {
  use_device(as_event(event)->device);
  const RelaxedCapture relaxed;
  return is_done(cudaEventQuery(as_event(event)->handle), "asking an event");
}

void CudaBackend::event_synchronize(EventHandle event) {
  use_device(as_event(event)->device);
  const RelaxedCapture relaxed;
  check(cudaEventSynchronize(as_event(event)->handle), "waiting for an event");
  report_fault(as_event(event)->device);
}

double CudaBackend::event_elapsed_ms(EventHandle start, EventHandle end) {
  float ms = 0;
  use_device(as_event(start)->device);
  check(cudaEventElapsedTime(&ms, as_event(start)->handle, as_event(end)->handle),
        "measuring the time between events");
  return ms;
}

namespace {

/// The graph itself is kept for dumps.
struct CudaGraph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
};

}  // namespace

void CudaBackend::begin_capture(int device, StreamId stream, CaptureMode mode) {
  use_device(device);
  fault_of(device);  // made now, because it cannot be while a capture is under way
  const auto as = mode == CaptureMode::Global        ? cudaStreamCaptureModeGlobal
                  : mode == CaptureMode::ThreadLocal ? cudaStreamCaptureModeThreadLocal
                                                     : cudaStreamCaptureModeRelaxed;
  check(cudaStreamBeginCapture(as_stream(stream), as), "beginning a capture");
}

GraphHandle CudaBackend::end_capture(int device, StreamId stream) {
  use_device(device);
  CudaGraph made;
  check(cudaStreamEndCapture(as_stream(stream), &made.graph), "ending a capture");
  const cudaError_t status = cudaGraphInstantiateWithFlags(
      &made.exec, made.graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  if (status != cudaSuccess) cudaGraphDestroy(made.graph);
  check(status, "making a graph executable");
  return new CudaGraph(made);
}

bool CudaBackend::is_capturing(int device, StreamId stream) const {
  if (stream == 0)
    return false;  // the default stream cannot be captured, or asked during a capture
  use_device(device);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(as_stream(stream), &status), "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

void CudaBackend::replay(GraphHandle graph, int device, StreamId stream) {
  use_device(device);
  check(cudaGraphLaunch(static_cast<CudaGraph*>(graph)->exec, as_stream(stream)), "a graph");
}

void CudaBackend::delete_graph(GraphHandle graph) {
  auto* g = static_cast<CudaGraph*>(graph);
  if (cudaGraphExecDestroy(g->exec) != cudaSuccess) cudaGetLastError();
  if (cudaGraphDestroy(g->graph) != cudaSuccess) cudaGetLastError();
  delete g;
}

void CudaBackend::dump_graph(GraphHandle graph, const std::string& path) {
  check(cudaGraphDebugDotPrint(static_cast<CudaGraph*>(graph)->graph, path.c_str(),
                               cudaGraphDebugDotFlagsVerbose),
        "writing a graph");
}

}  // namespace taeda::inline v0_2::gpu
