// Attention and transformer layers.
#pragma once

#include <variant>

#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"

namespace taeda::inline v0_2::nn {

class MultiheadAttentionOptions {
 public:
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  TAEDA_ARG(int64_t, embed_dim);
  TAEDA_ARG(int64_t, num_heads);
  TAEDA_ARG(double, dropout) = 0;
  TAEDA_ARG(bool, bias) = true;
  /// One more key and value for everybody: learnt ones, and zeros.
  TAEDA_ARG(bool, add_bias_kv) = false;
  TAEDA_ARG(bool, add_zero_attn) = false;
  /// Sizes of keys and values.
  TAEDA_ARG(int64_t, kdim);
  TAEDA_ARG(int64_t, vdim);
  /// Inputs and outputs are [N, L, E] instead of [L, N, E].
  TAEDA_ARG(bool, batch_first) = false;
};

/// Several attentions side by side over parts of the embedding (Vaswani et al. 2017).
class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  /// Throws ValueError unless the heads divide the embedding.
  explicit MultiheadAttentionImpl(MultiheadAttentionOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Draws all weights anew but the output projection's, as PyTorch; biases become 0, but for those
  /// of keys and values, which are drawn.
  void _reset_parameters();

  /// The output and, with `need_weights`, the attention weights [N, L, S] (averaged over the heads,
  /// or [N, heads, L, S]); else the second is undefined. `key_padding_mask` [N, S] is true where a
  /// key counts for nothing. `attn_mask` [L, S] or [N * heads, L, S] is true where not to look, or
  /// is added.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {},
                                     bool average_attn_weights = true);

  MultiheadAttentionOptions options;
  /// One weight for query, key and value if their sizes are equal, else three.
  Tensor in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias;
  Linear out_proj{nullptr};
  Tensor bias_k, bias_v;
};
TAEDA_MODULE(MultiheadAttention);

/// The function between the two linear maps of a transformer layer: kReLU, kGELU, or any other.
class Activation : public std::variant<Nonlinearity, std::function<Tensor(const Tensor&)>> {
 public:
  using variant::variant;
  // Compiled once: every program would else write what copies and destroys a variant.
  Activation(Nonlinearity kind);
  Activation(const Activation& other);
  Activation(Activation&& other) noexcept;
  Activation& operator=(const Activation& other);
  Activation& operator=(Activation&& other) noexcept;
  ~Activation();
  /// One of several forms.
  template <class... Form>
  Activation(const std::variant<Form...>& form)
      : variant(std::visit([](const auto& f) { return variant(f); }, form)) {}
};
using activation_t = Activation;  ///< libtorch's name

namespace detail {
/// Throws ValueError for a Nonlinearity that is neither kReLU nor kGELU, and for an empty function.
void check_activation(const activation_t& activation);
Tensor activate(const activation_t& activation, const Tensor& x);
}  // namespace detail

class TransformerEncoderLayerOptions {
 public:
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}
  TAEDA_ARG(int64_t, d_model);
  TAEDA_ARG(int64_t, nhead);
  TAEDA_ARG(int64_t, dim_feedforward) = 2048;
  TAEDA_ARG(double, dropout) = 0.1;
  TAEDA_ARG(activation_t, activation) = kReLU;
  TAEDA_ARG(bool, batch_first) = false;
  /// Normalise before attention and feed-forward instead of after.
  TAEDA_ARG(bool, norm_first) = false;
};

/// Self-attention and a feed-forward network, each with a residual connection and a layer norm.
class TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions o) : options(std::move(o)) {
    reset();
  }
  void reset() override;
  /// Those of all its layers, drawn anew.
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Linear linear1{nullptr}, linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr};
  Dropout dropout{nullptr}, dropout1{nullptr}, dropout2{nullptr};

 private:
  Tensor attend(const Tensor& x, const Tensor& mask, const Tensor& padding_mask);
  Tensor feed_forward(const Tensor& x);
};
TAEDA_MODULE(TransformerEncoderLayer);

}  // namespace taeda::inline v0_2::nn
