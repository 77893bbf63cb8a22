// What the files that use cuDNN share: the loaded library and its handles.
#pragma once

#include "taeda/cuda/context.h"

#if __has_include(<cudnn.h>)
#include <cudnn.h>

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "taeda/base/dtype.h"
#include "taeda/cuda/cudnn_graph.h"
#include "taeda/device/backends.h"

namespace taeda::inline v0_2::gpu {

/// A function of the library, or null where it is missing.
void* cudnn_symbol(const char* name);
/// Its graph interface, or null where it is missing or `backends::cudnn::enabled` is false.
const GraphFunctions* cudnn_graphs();

/// A handle of the context's device that no other thread uses meanwhile, on its stream; handles
/// are kept for the next call. While it lives the library may load kernels and take memory though a
/// capture is under way.
class CudnnHandle {
 public:
  explicit CudnnHandle(const Context& context);
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  /// Null without the library.
  cudnnHandle_t get() const { return usable_ ? handle_ : nullptr; }

 private:
  static std::mutex& mutex();
  static std::map<int, std::vector<cudnnHandle_t>>& free_ones();
  const RelaxedCapture relaxed_;
  int device_;
  cudnnHandle_t handle_ = nullptr;
  bool usable_ = false;
};

std::optional<cudnnDataType_t> cudnn_type(ScalarType t);

}  // namespace taeda::inline v0_2::gpu

#endif

namespace taeda::inline v0_2::gpu {

/// Whether the library is there and `backends::cudnn::enabled`.
bool cudnn_usable();

}  // namespace taeda::inline v0_2::gpu
