// Attention and transformer layers.
#pragma once

#include <variant>

#include "taeda/base/option.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"

namespace taeda::inline v0_2::nn {

/// Of module MultiheadAttention.
struct MultiheadAttentionOptions {
  /// E, the size of queries and of the result; a multiple of the heads.
  Option<int64_t> embed_dim;
  /// How many attentions there are side by side, at least 1.
  Option<int64_t> num_heads;
  /// The probability that a weight of the attention is dropped while training, from 0 to 1.
  Option<double> dropout = 0;
  /// Whether the projections add something.
  Option<bool> bias = true;
  /// Whether one more key and value, the same for everybody, are learned.
  Option<bool> add_bias_kv = false;
  /// Whether there is one more key and value of zeros.
  Option<bool> add_zero_attn = false;
  /// The size of keys; E unless given.
  Option<int64_t> kdim = embed_dim;
  /// The size of values; E unless given.
  Option<int64_t> vdim = embed_dim;
  /// Whether inputs and outputs are [N, L, E] instead of [L, N, E].
  Option<bool> batch_first = false;
};

/// Several attentions side by side over parts of the embedding (Vaswani et al. 2017).
class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  using Options = MultiheadAttentionOptions;
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(Options{embed_dim, num_heads}) {}
  /// Throws ValueError unless the heads divide the embedding.
  explicit MultiheadAttentionImpl(Options o) : options(std::move(o)) { reset(); }
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

  Options options;
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

/// Of modules TransformerEncoderLayer and TransformerDecoderLayer.
struct TransformerEncoderLayerOptions {
  /// E, the size of inputs and outputs; a multiple of the heads.
  Option<int64_t> d_model;
  /// How many attentions there are side by side, at least 1.
  Option<int64_t> nhead;
  /// The size between the two linear maps.
  Option<int64_t> dim_feedforward = 2048;
  /// The probability that an element is dropped while training, from 0 to 1.
  Option<double> dropout = 0.1;
  /// What is between the two linear maps: kReLU, kGELU or any function.
  Option<Activation> activation = kReLU;
  /// Whether inputs and outputs are [N, L, E] instead of [L, N, E].
  Option<bool> batch_first = false;
  /// Whether inputs of attention and linear maps are normalised, instead of sums with their
  /// results.
  Option<bool> norm_first = false;
};

/// Self-attention and a feed-forward network, each with a residual connection and a layer norm.
class TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  using Options = TransformerEncoderLayerOptions;
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerEncoderLayerImpl(Options{d_model, nhead}) {}
  explicit TransformerEncoderLayerImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Those of all its layers, drawn anew.
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});

  Options options;
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
