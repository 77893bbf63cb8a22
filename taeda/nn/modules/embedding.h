// Embedding.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/embedding.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

/// A row of `weight` [num_embeddings, embedding_dim] for each integer; normal initial values.
class EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input) {
    return functional::embedding(input, weight,
                                 functional::EmbeddingFuncOptions()
                                     .padding_idx(options.padding_idx())
                                     .max_norm(options.max_norm())
                                     .norm_type(options.norm_type())
                                     .scale_grad_by_freq(options.scale_grad_by_freq())
                                     .sparse(options.sparse()));
  }

  EmbeddingOptions options;
  Tensor weight;
};

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using Impl = EmbeddingImpl;
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  /// Rows given; they get no gradient unless `freeze` is false. Throws ValueError unless a matrix.
  static Embedding from_pretrained(const Tensor& embeddings,
                                   const EmbeddingFromPretrainedOptions& options = {});
};

/// Sums, means or maxima of bags of rows of `weight`; see functional::embedding_bag.
class EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {});

  EmbeddingBagOptions options;
  Tensor weight;
};

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using Impl = EmbeddingBagImpl;
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  /// As Embedding::from_pretrained.
  static EmbeddingBag from_pretrained(const Tensor& embeddings,
                                      const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace taeda::nn
