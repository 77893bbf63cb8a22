// The library finds its kernels by the pattern of the operations, so their order and the types
// between them are those of its documentation of fused attention.
#include "taeda/cuda/cudnn_attention_graph.h"

#if __has_include(<cudnn.h>)
#include <utility>

namespace taeda::inline v0_2::gpu {

using namespace attention_ids;

namespace {

using Matrices = AttentionLayout::Matrices;

/// A tensor under its name; its rows as columns if `turned`.
void add_matrices(Graph& g, Graph::Id id, cudnnDataType_t type, Matrices m, bool turned = false) {
  if (turned) {
    std::swap(m.sizes[2], m.sizes[3]);
    std::swap(m.strides[2], m.strides[3]);
  }
  g.memory(id, type, m.sizes, m.strides);
}

/// A number for each row of query.
void add_rows(Graph& g, Graph::Id id, const AttentionLayout& a) {
  const auto& [b, h, l, e] = a.query.sizes;
  g.memory(id, CUDNN_DATA_FLOAT, {b, h, l, 1}, {h * l, l, 1, 1});
}

/// scores where row >= column, -infinity elsewhere.
Graph::Id look_back(Graph& g, Graph::Id scores) {
  g.number(kLowest);
  const Graph::Id column = g.index(scores, 3), row = g.index(scores, 2);
  return g.pointwise(CUDNN_POINTWISE_BINARY_SELECT, scores, kLowest, CUDNN_DATA_FLOAT,
                     g.at_least(row, column));
}

}  // namespace

void describe_attention(Graph& g, const AttentionLayout& a) {
  add_matrices(g, kQuery, a.type, a.query);
  add_matrices(g, kKey, a.type, a.key, true);
  add_matrices(g, kValue, a.type, a.value);
  add_matrices(g, kOut, a.type, a.out);
  add_rows(g, kLogSum, a);
  g.number(kScale);
  Graph::Id scores = g.pointwise(CUDNN_POINTWISE_MUL, g.matmul(kQuery, kKey), kScale);
  if (a.causal) scores = look_back(g, scores);
  const Graph::Id top = g.reduce(CUDNN_REDUCE_TENSOR_MAX, scores);
  const Graph::Id weights =
      g.pointwise(CUDNN_POINTWISE_EXP, g.pointwise(CUDNN_POINTWISE_SUB, scores, top));
  const Graph::Id sum = g.reduce(CUDNN_REDUCE_TENSOR_ADD, weights);
  g.pointwise(CUDNN_POINTWISE_ADD, top, g.pointwise(CUDNN_POINTWISE_LOG, sum), kLogSum);
  g.matmul(g.pointwise(CUDNN_POINTWISE_DIV, weights, sum, a.type), kValue, kOut);
}

void describe_attention_backward(Graph& g, const AttentionLayout& a, bool any_order) {
  add_matrices(g, kQuery, a.type, a.query);
  add_matrices(g, kKey, a.type, a.key, true);
  add_matrices(g, kValue, a.type, a.value, true);
  add_matrices(g, kOut, a.type, a.out);
  add_matrices(g, kGrad, a.type, a.grad);
  add_matrices(g, kGradQuery, a.type, a.grad_query);
  add_matrices(g, kGradKey, a.type, a.grad_key);
  add_matrices(g, kGradValue, a.type, a.grad_value);
  add_rows(g, kLogSum, a);
  add_rows(g, kDelta, a);
  g.number(kScale);
  g.number(kOne);
  const bool shared = a.query.sizes[1] != a.key.sizes[1];
  // grad^T products of all heads become those of the heads that they share.
  const auto product_into = [&](Graph::Id left, Graph::Id right, Graph::Id to) {
    if (shared)
      g.reduce(CUDNN_REDUCE_TENSOR_ADD, g.matmul(left, right, a.type), to);
    else
      g.matmul(left, right, to);
  };
  // delta = sum of grad out over each row; the factor has its place in the pattern for dropout.
  g.pointwise(CUDNN_POINTWISE_MUL,
              g.reduce(CUDNN_REDUCE_TENSOR_ADD, g.pointwise(CUDNN_POINTWISE_MUL, kGrad, kOut)),
              kOne, kDelta);
  // probability = exp(scale query key^T - log_sum)
  Graph::Id scores =
      g.pointwise(CUDNN_POINTWISE_SUB,
                  g.pointwise(CUDNN_POINTWISE_MUL, g.matmul(kQuery, kKey), kScale), kLogSum);
  if (a.causal) scores = look_back(g, scores);
  const Graph::Id probability = g.pointwise(CUDNN_POINTWISE_EXP, scores);
  product_into(g.transpose(probability, a.type), kGrad, kGradValue);
  // gradient of the products: scale probability (grad value^T - delta)
  const Graph::Id change = g.pointwise(CUDNN_POINTWISE_SUB, g.matmul(kGrad, kValue), kDelta);
  const Graph::Id slope = g.pointwise(
      CUDNN_POINTWISE_MUL, g.pointwise(CUDNN_POINTWISE_MUL, change, probability), kScale);
  product_into(g.transpose(slope, a.type), kQuery, kGradKey);
  const Graph::Id key = g.transpose(kKey, CUDNN_DATA_FLOAT);
  if (!any_order) {
    g.matmul(slope, key, kGradQuery);
    return;
  }
  const auto& [b, h, l, e] = a.query.sizes;
  g.memory(kQuerySums, CUDNN_DATA_FLOAT, a.query.sizes, {h * l * e, l * e, e, 1});
  g.matmul(slope, key, kQuerySums);
  g.pointwise(CUDNN_POINTWISE_IDENTITY, kQuerySums, 0, kGradQuery);
}

}  // namespace taeda::inline v0_2::gpu

#endif
