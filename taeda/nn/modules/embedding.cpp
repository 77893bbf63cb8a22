#include "taeda/nn/modules/embedding.h"

#include "taeda/ops/create.h"

namespace taeda::nn {

void EmbeddingImpl::reset() {
  if (options.padding_idx()) {
    int64_t& padding = *options.padding_idx();
    const int64_t n = options.num_embeddings();
    TAEDA_CHECK(padding >= -n && padding < n, "Padding_idx must be within num_embeddings");
    if (padding < 0) padding += n;
  }
  if (!options._weight().defined()) {
    weight =
        register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
    reset_parameters();
    return;
  }
  const int64_t expected[] = {options.num_embeddings(), options.embedding_dim()};
  TAEDA_CHECK(options._weight().sizes() == IntArrayRef(expected),
              "Shape of weight does not match num_embeddings and embedding_dim");
  weight = register_parameter("weight", options._weight());
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (options.padding_idx()) init::zeros_(weight.detach().select(0, *options.padding_idx()));
}

std::string EmbeddingImpl::extra_repr() const {
  std::string out = taeda::detail::concat(options.num_embeddings(), ", ", options.embedding_dim());
  if (options.padding_idx()) out += ", padding_idx=" + std::to_string(*options.padding_idx());
  return out;
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& o) {
  TAEDA_CHECK_VALUE(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  EmbeddingOptions options(embeddings.size(0), embeddings.size(1));
  options.padding_idx(o.padding_idx())._weight(embeddings);
  Embedding out(options);
  out->weight.requires_grad_(!o.freeze());
  return out;
}

}  // namespace taeda::nn
