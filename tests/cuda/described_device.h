// GPUs that are only described to cuDNN: it has kernels for them, and translates these. Where there
// is no driver either, the toolkit's stand-in for it refuses to load what was translated, which is
// the last step.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "taeda/cuda/cudnn_graph.h"

#if __has_include(<cudnn.h>) && CUDNN_VERSION >= 90800

namespace taeda::gpu {

enum Exit { kPassed, kFailed, kSkipped };

inline void* find_in_cudnn(const char* name) {
  static void* library =
      dlopen(("libcudnn.so." + std::to_string(CUDNN_MAJOR)).c_str(), RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : nullptr;
}

/// What cuDNN wants to know of a device: an H100's memory and limits, for other versions, too.
inline std::string device_of(int version, int processors) {
  return R"({"deviceName": "described", "cudaDeviceId": 0, "pciDeviceId": 0, "isTccDriver": 0,
    "driverVer": 13000, "totalGlobalMem": 85520809984, "supportCoopLaunch": 1, "warpSize": 32,
    "smClockRateKHz": 1980000, "memClockRateKHz": 2619000, "l2CacheSize": 52428800,
    "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
    "reservedSharedMemoryPerBlock": 1024, "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
    "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
    "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32,
    "deviceVer": )" +
         std::to_string(version) + R"(, "multiProcessorCount": )" + std::to_string(processors) +
         "}";
}

/// Runs in a process of its own, whose libraries and driver nobody else sees.
class DescribedDevice {
 public:
  explicit DescribedDevice(int version, int processors) {
    if (!functions_.load(&find_in_cudnn)) _exit(kSkipped);
    if (functions_.version() < 90800) _exit(kSkipped);
    if (!dlopen("libcuda.so.1", RTLD_NOW) && !dlopen(TAEDA_CUDA_STUB, RTLD_NOW)) _exit(kSkipped);
    const std::string text = device_of(version, processors);
    properties_.emplace(functions_, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    properties_
        ->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, text.data(),
              static_cast<int64_t>(text.size()))
        .finalize();
    expect(properties_->status() == CUDNN_STATUS_SUCCESS, "the device's description");
  }

  /// Whether a graph that `describe` describes is built: all but loaded, at least.
  template <class Describe>
  bool builds(const char* name, Describe&& describe, bool for_all_sizes = false,
              GraphWishes wishes = {}) {
    Graph graph(functions_);
    describe(graph);
    std::optional<GraphObject> kernels;
    const cudnnStatus_t status =
        graph.build({.handle = nullptr, .properties = &*properties_}, int64_t{1} << 30,
                    for_all_sizes ? &kernels : nullptr, wishes);
    std::fprintf(stderr, "%s: status %d\n", name, static_cast<int>(status));
    return status == CUDNN_STATUS_SUCCESS || status == CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER;
  }
  void expect(bool good, const char* what) {
    if (!good) std::fprintf(stderr, "not as expected: %s\n", what);
    passed_ = passed_ && good;
  }
  Exit result() const { return passed_ ? kPassed : kFailed; }

 private:
  GraphFunctions functions_{};
  std::optional<GraphObject> properties_;
  bool passed_ = true;
};

template <class F>
void run_apart(F&& f) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(f());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kSkipped)
    GTEST_SKIP() << "no cuDNN 9.8 or newer, or neither a driver nor the toolkit's stand-in";
  EXPECT_EQ(WEXITSTATUS(status), kPassed);
}

}  // namespace taeda::gpu

#endif
