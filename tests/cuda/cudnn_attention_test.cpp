// The graphs that attention gives to cuDNN: the library has kernels for them on GPUs that are only
// described, and translates these. Where there is no driver either, the toolkit's stand-in for it
// refuses to load what was translated, which is the last step.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "taeda/cuda/cudnn_attention_graph.h"

#if __has_include(<cudnn.h>) && CUDNN_VERSION >= 90800

namespace taeda::gpu {
namespace {

enum Exit { kPassed, kFailed, kSkipped };

void* find_in_cudnn(const char* name) {
  static void* library =
      dlopen(("libcudnn.so." + std::to_string(CUDNN_MAJOR)).c_str(), RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : nullptr;
}

/// What cuDNN wants to know of a device: an H100's memory and limits, for other versions, too.
std::string device_of(int version, int processors) {
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

struct Case {
  const char* name;
  cudnnDataType_t type;
  bool causal;
  int64_t heads, groups, queries, keys, width;
  bool heads_inside = false;  ///< (B, L, H, E) in memory
};

AttentionLayout layout_of(const Case& c) {
  const auto matrices = [&](int64_t heads, int64_t rows) {
    AttentionLayout::Matrices m;
    m.sizes = {2, heads, rows, c.width};
    m.strides = {heads * rows * c.width, rows * c.width, c.width, 1};
    if (c.heads_inside) m.strides = {heads * rows * c.width, c.width, heads * c.width, 1};
    return m;
  };
  AttentionLayout a;
  a.type = c.type;
  a.causal = c.causal;
  a.query = a.out = a.grad = a.grad_query = matrices(c.heads, c.queries);
  a.key = a.value = a.grad_key = a.grad_value = matrices(c.groups, c.keys);
  return a;
}

enum class Direction { Forward, ForwardForAllSizes, AnyOrder, Ordered };

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

  /// All but loaded, at least.
  bool built(const Case& c, Direction direction) {
    Graph graph(functions_);
    if (direction == Direction::Forward || direction == Direction::ForwardForAllSizes)
      describe_attention(graph, layout_of(c));
    else
      describe_attention_backward(graph, layout_of(c), direction == Direction::AnyOrder);
    std::optional<GraphObject> kernels;
    const cudnnStatus_t status =
        graph.build({.handle = nullptr, .properties = &*properties_}, int64_t{1} << 30,
                    direction == Direction::ForwardForAllSizes ? &kernels : nullptr);
    std::fprintf(stderr, "%s, direction %d: status %d\n", c.name, static_cast<int>(direction),
                 static_cast<int>(status));
    return status == CUDNN_STATUS_SUCCESS || status == CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER;
  }
  void accepts(const Case& c, Direction direction) { expect(built(c, direction), c.name); }
  void refuses(const Case& c, Direction direction) { expect(!built(c, direction), c.name); }
  Exit result() const { return passed_ ? kPassed : kFailed; }

 private:
  void expect(bool good, const char* what) {
    if (!good) std::fprintf(stderr, "not as expected: %s\n", what);
    passed_ = passed_ && good;
  }

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

const Case kPlain{"half", CUDNN_DATA_HALF, false, 4, 4, 256, 256, 64};
const Case kCausal{"half, causal, longer queries", CUDNN_DATA_HALF, true, 4, 4, 333, 200, 64};
const Case kShared{
    "bfloat16, causal, shared heads", CUDNN_DATA_BFLOAT16, true, 8, 2, 256, 512, 128, true};
const Case kOdd{"a width of 12", CUDNN_DATA_HALF, false, 4, 4, 256, 256, 12};

TEST(CudnnAttention, HopperHasKernels) {
  run_apart([] {
    DescribedDevice h100(900, 132);
    h100.accepts(kPlain, Direction::Forward);
    h100.accepts(kCausal, Direction::ForwardForAllSizes);
    h100.accepts(kShared, Direction::AnyOrder);
    h100.accepts(kCausal, Direction::Ordered);
    h100.refuses(kOdd, Direction::Forward);
    return h100.result();
  });
}

TEST(CudnnAttention, BlackwellHasKernels) {
  run_apart([] {
    DescribedDevice b200(1000, 148);
    b200.accepts(kShared, Direction::ForwardForAllSizes);
    b200.accepts(kCausal, Direction::AnyOrder);
    return b200.result();
  });
}

}  // namespace
}  // namespace taeda::gpu

#else

TEST(CudnnAttention, HasKernels) { GTEST_SKIP() << "built without cuDNN 9.8 or newer"; }

#endif
