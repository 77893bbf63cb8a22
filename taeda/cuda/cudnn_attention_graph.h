// Attention and its gradient as graphs of cuDNN. Needs no device, as cudnn_graph.h.
#pragma once

#include "taeda/cuda/cudnn_graph.h"

#if __has_include(<cudnn.h>)
#include <array>

namespace taeda::inline v0_2::gpu {

/// Tensors (batch, head, row, column) in memory. Those that do not take part are not described.
struct AttentionLayout {
  cudnnDataType_t type = CUDNN_DATA_HALF;  ///< of all but float log_sum, delta and query_sums
  bool causal = false;
  struct Matrices {
    std::array<int64_t, 4> sizes{}, strides{};
  };
  Matrices query, key, value, out;
  Matrices grad, grad_query, grad_key, grad_value;
};

namespace attention_ids {
/// What a run of the graphs is given.
enum : Graph::Id {
  kQuery = 1,
  kKey,
  kValue,
  kOut,
  kLogSum,  ///< (B, H, L, 1), contiguous
  kGrad,
  kGradQuery,
  kGradKey,
  kGradValue,
  kDelta,      ///< (B, H, L, 1), contiguous: room for intermediate results
  kQuerySums,  ///< (B, H, L, E), contiguous: likewise, where sums have any order
  kScale,      ///< numbers: the scores' factor,
  kLowest,     ///< -infinity,
  kOne         ///< and 1
};
}  // namespace attention_ids

/// out = softmax(scale query key^T) value and log_sum, as attention_slot says.
void describe_attention(Graph& graph, const AttentionLayout& layout);

/// Its gradients, as attention_backward_slot says. With `any_order` those of queries are added up
/// in memory, by whichever block is first; otherwise each has one sum, for which the library keeps
/// the gradient of all scores.
void describe_attention_backward(Graph& graph, const AttentionLayout& layout, bool any_order);

}  // namespace taeda::inline v0_2::gpu

#endif
