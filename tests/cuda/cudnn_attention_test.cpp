// The graphs that attention gives to cuDNN: the library has kernels for them on GPUs that are only
// described.
#include <gtest/gtest.h>

#include "described_device.h"
#include "taeda/cuda/cudnn_attention_graph.h"

#if __has_include(<cudnn.h>) && CUDNN_VERSION >= 90800

namespace taeda::gpu {
namespace {

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

bool built(DescribedDevice& device, const Case& c, Direction direction) {
  return device.builds(
      c.name,
      [&](Graph& graph) {
        if (direction == Direction::Forward || direction == Direction::ForwardForAllSizes)
          describe_attention(graph, layout_of(c));
        else
          describe_attention_backward(graph, layout_of(c), direction == Direction::AnyOrder);
      },
      direction == Direction::ForwardForAllSizes);
}
void accepts(DescribedDevice& device, const Case& c, Direction direction) {
  device.expect(built(device, c, direction), c.name);
}
void refuses(DescribedDevice& device, const Case& c, Direction direction) {
  device.expect(!built(device, c, direction), c.name);
}

const Case kPlain{"half", CUDNN_DATA_HALF, false, 4, 4, 256, 256, 64};
const Case kCausal{"half, causal, longer queries", CUDNN_DATA_HALF, true, 4, 4, 333, 200, 64};
const Case kShared{
    "bfloat16, causal, shared heads", CUDNN_DATA_BFLOAT16, true, 8, 2, 256, 512, 128, true};
const Case kOdd{"a width of 12", CUDNN_DATA_HALF, false, 4, 4, 256, 256, 12};

TEST(CudnnAttention, HopperHasKernels) {
  run_apart([] {
    DescribedDevice h100(900, 132);
    accepts(h100, kPlain, Direction::Forward);
    accepts(h100, kCausal, Direction::ForwardForAllSizes);
    accepts(h100, kShared, Direction::AnyOrder);
    accepts(h100, kCausal, Direction::Ordered);
    refuses(h100, kOdd, Direction::Forward);
    return h100.result();
  });
}

TEST(CudnnAttention, BlackwellHasKernels) {
  run_apart([] {
    DescribedDevice b200(1000, 148);
    accepts(b200, kShared, Direction::ForwardForAllSizes);
    accepts(b200, kCausal, Direction::AnyOrder);
    return b200.result();
  });
}

}  // namespace
}  // namespace taeda::gpu

#else

TEST(CudnnAttention, HasKernels) { GTEST_SKIP() << "built without cuDNN 9.8 or newer"; }

#endif
