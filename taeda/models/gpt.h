// A decoder of text in the manner of GPT-2 (Radford et al. 2019): attention to what came before,
// each layer normalised before it.
#pragma once

#include "taeda/nn/containers/lists.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/embedding.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"

namespace taeda::inline v0_2::models {

/// The defaults make a network of 11 million parameters; {50257, 1024, 12, 12, 768} is GPT-2.
struct GPTOptions {
  int64_t vocab_size = 256;  ///< bytes
  int64_t block_size = 256;  ///< longest text
  int64_t n_layer = 6, n_head = 6, n_embd = 384;
  double dropout = 0;
  bool bias = true;
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

  GPTOptions options;
  nn::Linear c_attn{nullptr}, c_proj{nullptr};
  nn::Dropout resid_dropout{nullptr};
};
TAEDA_MODULE(CausalSelfAttention);

/// Attention and a perceptron, each after a layer norm and added to its input.
class GPTBlockImpl : public nn::Cloneable<GPTBlockImpl> {
 public:
  explicit GPTBlockImpl(const GPTOptions& o) : options(o) { GPTBlockImpl::reset(); }
  void reset() override;
  Tensor forward(const Tensor& x);

  GPTOptions options;
  nn::LayerNorm ln_1{nullptr}, ln_2{nullptr};
  CausalSelfAttention attn{nullptr};
  nn::ModuleDict mlp{nullptr};  ///< c_fc, c_proj
  nn::Dropout dropout{nullptr};
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
  /// `tokens` (N, T) and `count` more, each drawn from the scores divided by `temperature`, of the
  /// `top_k` best only if that is positive; a temperature of 0 takes the best.
  Tensor generate(Tensor tokens, int64_t count, double temperature = 1, int64_t top_k = 0);

  GPTOptions options;
  nn::ModuleDict transformer{nullptr};  ///< wte, wpe, drop, h, ln_f

 private:
  void initialize();
};
TAEDA_MODULE(GPT);

}  // namespace taeda::models
