#include "taeda/cuda/error.h"

#include <cstdlib>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::gpu {

void throw_cuda_error(cudaError_t status, const char* what) {
  cudaGetLastError();  // an error that is not sticky must not be reported again by the next call
  throw Error(detail::concat(
      "CUDA error: ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ") in ", what,
      launch_blocking() ? ""
                        : "\nKernels run asynchronously, so this call may not be the one that "
                          "failed: TAEDA_LAUNCH_BLOCKING=1 reports errors where they happen."));
}

bool launch_blocking() {
  static const bool blocking = [] {
    const char* text = std::getenv("TAEDA_LAUNCH_BLOCKING");
    return text && *text && *text != '0';
  }();
  return blocking;
}

}  // namespace taeda::gpu
