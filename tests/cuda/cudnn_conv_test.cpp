// The graphs that convolutions give to cuDNN: the library has kernels for them that give equal bits
// in every run, and exact ones for floats, on GPUs that are only described.
#include <gtest/gtest.h>

#include "described_device.h"

#if __has_include(<cudnn.h>) && CUDNN_VERSION >= 90800

namespace taeda::gpu {
namespace {

using Kind = Graph::Convolution::Kind;
using Sizes = Graph::Sizes;

struct ConvCase {
  const char* name;
  cudnnDataType_t type;
  Sizes in, weight, out;  ///< contiguous
  int64_t stride = 1, padding = 0;
  bool last = false;  ///< channels-last instead, of images
};

Sizes strides_of(const Sizes& n, bool last) {
  if (last) return {n[1] * n[2] * n[3], 1, n[3] * n[1], n[1]};
  Sizes strides(n.size(), 1);
  for (size_t d = n.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * n[d + 1];
  return strides;
}

void accepts(DescribedDevice& device, const ConvCase& c, GraphWishes wishes = {}) {
  for (const Kind kind : {Kind::Forward, Kind::InputGrad, Kind::WeightGrad}) {
    const auto describe = [&](Graph& graph) {
      graph.memory(1, c.type, c.in, strides_of(c.in, c.last));
      graph.memory(2, c.type, c.weight, strides_of(c.weight, c.last));
      graph.memory(3, c.type, c.out, strides_of(c.out, c.last), 8);
      const Sizes ones(c.in.size() - 2, 1), padding(c.in.size() - 2, c.padding),
          stride(c.in.size() - 2, c.stride);
      graph.convolution({kind, 1, 2, 3,
                         c.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
                         padding, stride, ones});
    };
    device.expect(device.builds(c.name, describe, false, wishes), c.name);
  }
}

TEST(CudnnConvolution, HasKernels) {
  run_apart([] {
    DescribedDevice h100(900, 132);
    const Sizes image{8, 64, 28, 28}, weight{64, 64, 3, 3};
    accepts(h100, {"half, channels-last", CUDNN_DATA_HALF, image, weight, image, 1, 1, true});
    accepts(h100, {"bfloat16", CUDNN_DATA_BFLOAT16, image, weight, image, 1, 1});
    accepts(h100, {"float", CUDNN_DATA_FLOAT, image, weight, image, 1, 1});
    accepts(h100, {"exact float", CUDNN_DATA_FLOAT, image, weight, image, 1, 1},
            {.tensor_cores = false});
    accepts(h100, {"one channel", CUDNN_DATA_FLOAT, {64, 1, 28, 28}, {6, 1, 5, 5}, {64, 6, 24, 24}},
            {.tensor_cores = false});
    accepts(h100, {"groups", CUDNN_DATA_FLOAT, image, {64, 1, 3, 3}, image, 1, 1});
    accepts(h100,
            {"volumes", CUDNN_DATA_FLOAT, {2, 8, 9, 9, 9}, {4, 8, 3, 3, 3}, {2, 4, 4, 4, 4}, 2});
    accepts(h100, {"double", CUDNN_DATA_DOUBLE, image, weight, image, 1, 1});
    return h100.result();
  });
}

}  // namespace
}  // namespace taeda::gpu

#else

TEST(CudnnConvolution, HasKernels) { GTEST_SKIP() << "built without cuDNN 9.8 or newer"; }

#endif
