#include "taeda/nn/functional/embedding.h"

#include "taeda/ops/embedding.h"

namespace taeda::nn::functional {

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  int64_t padding = -1;
  if (options.padding_idx()) {
    padding = *options.padding_idx();
    TAEDA_CHECK(padding >= -weight.size(0) && padding < weight.size(0),
                "Padding_idx must be within num_embeddings");
    if (padding < 0) padding += weight.size(0);
  }
  return taeda::embedding(weight, input, padding);
}

}  // namespace taeda::nn::functional
