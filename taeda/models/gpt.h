// A decoder of text in the manner of GPT-2 (Radford et al. 2019): attention to what came before,
// each layer normalised before it.
#pragma once

#include "taeda/models/key_value_cache.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/embedding.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"

namespace taeda::inline v0_2::models {

/// Options of GPT. The defaults make a network of 11 million parameters; {50257, 1024, 12, 12, 768}
/// is GPT-2. `n_embd` must be a multiple of `n_head`.
struct GPTOptions {
  int64_t vocab_size = 256;  ///< bytes
  int64_t block_size = 256;  ///< the longest text, in tokens; 256 by default
  int64_t n_layer = 6, n_head = 6, n_embd = 384;
  double dropout = 0;
  bool bias = true;
};

/// A layer's part of a forward with a cache. Tokens go behind those that the cache has, or where
/// `positions` says if that is defined. `mask` says what each token may look at; undefined: at all
/// before it and itself.
struct CachedLayer {
  KeyValueCache& cache;
  int64_t layer;
  Tensor positions, mask;
};

/// Attention to earlier positions, several heads: [batch, time, channels] to the same sizes.
class CausalSelfAttentionImpl : public nn::Cloneable<CausalSelfAttentionImpl> {
 public:
  explicit CausalSelfAttentionImpl(const GPTOptions& o) : options(o) {
    CausalSelfAttentionImpl::reset();
  }
  void reset() override;
  /// (N, T, n_embd) to the same.
  Tensor forward(const Tensor& x);
  /// The same of tokens that follow those of the cache, which are looked at, too.
  Tensor forward(const Tensor& x, const CachedLayer& cached);

  GPTOptions options;
  nn::Linear c_attn{nullptr}, c_proj{nullptr};
  nn::Dropout resid_dropout{nullptr};

 private:
  Tensor run(const Tensor& x, const CachedLayer* cached);
};
TAEDA_MODULE(CausalSelfAttention);

/// Attention and a perceptron, each after a layer norm and added to its input.
/// Shapes: [N, T, embedding], which the result has.
class GPTBlockImpl : public nn::Cloneable<GPTBlockImpl> {
 public:
  explicit GPTBlockImpl(const GPTOptions& o) : options(o) { GPTBlockImpl::reset(); }
  void reset() override;
  /// (N, T, n_embd) to the same; with a cache, of tokens that follow those it has.
  Tensor forward(const Tensor& x);
  Tensor forward(const Tensor& x, const CachedLayer& cached);

  GPTOptions options;
  nn::LayerNorm ln_1{nullptr}, ln_2{nullptr};
  CausalSelfAttention attn{nullptr};
  nn::ModuleDict mlp{nullptr};  ///< c_fc, c_proj
  nn::Dropout dropout{nullptr};

 private:
  Tensor run(const Tensor& x, const CachedLayer* cached);
};
TAEDA_MODULE(GPTBlock);

/// Tokens (N, T), int64, to scores of the next token (N, T, vocab_size). Parameters are named as
/// GPT-2's ("transformer.h.0.attn.c_attn.weight"); the embedding of tokens is the weight of the
/// last layer, too.
class GPTImpl : public nn::Cloneable<GPTImpl> {
 public:
  /// Throws ValueError unless n_head divides n_embd.
  explicit GPTImpl(GPTOptions options = {});
  void reset() override;
  /// Throws Error for texts longer than block_size.
  Tensor forward(const Tensor& tokens);
  /// Scores (N, T, vocab_size) of tokens that follow those of `cache`, which takes them: the whole
  /// text at once or in parts gives the same. Without gradients, as KeyValueCache::update says.
  /// Throws Error if the cache is full, and leaves its length as it was after any error; if it was
  /// made for another model, another number of texts or another device; and for texts longer than
  /// block_size.
  Tensor forward(const Tensor& tokens, KeyValueCache& cache);
  /// The same at `positions` (T), int64 on the model's device, of the texts; what the cache holds
  /// before them is looked at. Sizes do not depend on values, so a graph that captures it is right
  /// for every position (docs/capture.md). It looks at all of the cache's memory, and the cache's
  /// length stays: `advance` counts. Throws IndexError for positions beyond capacity or block_size.
  Tensor forward(const Tensor& tokens, KeyValueCache& cache, const Tensor& positions);
  /// A cache for `batch_size` texts of up to block_size tokens, with the weights' dtype and device.
  KeyValueCache make_cache(int64_t batch_size = 1) const;
  /// `tokens` (N, T) and `count` more, each drawn from the scores divided by `temperature`, of the
  /// `top_k` best only if that is positive; a temperature of 0 takes the best. Of texts longer than
  /// block_size the last block_size tokens are looked at; up to there a cache keeps keys and
  /// values, and from there on each token costs the work of all that are looked at.
  Tensor generate(Tensor tokens, int64_t count, double temperature = 1, int64_t top_k = 0);

  GPTOptions options;
  nn::ModuleDict transformer{nullptr};  ///< wte, wpe, drop, h, ln_f

 private:
  void initialize();
  void check_tokens(const Tensor& tokens, int64_t first) const;
  void check_cache(const Tensor& tokens, const KeyValueCache& cache) const;
  Tensor run(const Tensor& tokens, const Tensor& positions, CachedLayer* cached);
  Tensor draw(Tensor scores, double temperature, int64_t top_k) const;
};
TAEDA_MODULE(GPT);

}  // namespace taeda::models
