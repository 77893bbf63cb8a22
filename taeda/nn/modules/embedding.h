// Embedding.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/embedding.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

/// A row of `weight` [num_embeddings, embedding_dim] for each integer; normal initial values.
class EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  using Options = EmbeddingOptions;
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(Options{num_embeddings, embedding_dim}) {}
  explicit EmbeddingImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) {
    return functional::embedding(input, weight,
                                 {.padding_idx = options.padding_idx,
                                  .max_norm = options.max_norm,
                                  .norm_type = options.norm_type,
                                  .scale_grad_by_freq = options.scale_grad_by_freq,
                                  .sparse = options.sparse});
  }

  Options options;
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

/// Sums, means or maxima of bags of rows of `weight` [num_embeddings, embedding_dim]: [B,
/// embedding_dim] for B bags. Shapes and errors are those of functional::embedding_bag.
class EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  using Options = EmbeddingBagOptions;
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(Options{num_embeddings, embedding_dim}) {}
  explicit EmbeddingBagImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input, const Tensor& offsets = {},
                 const Tensor& per_sample_weights = {});

  Options options;
  Tensor weight;
};

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using Impl = EmbeddingBagImpl;
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  /// Makes a module of given rows, [num_embeddings, embedding_dim], which by default do not learn.
  /// Throws ValueError unless they are a matrix.
  static EmbeddingBag from_pretrained(const Tensor& embeddings,
                                      const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace taeda::inline v0_2::nn
