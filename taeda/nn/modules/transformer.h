// Attention and transformer layers.
#pragma once

#include <variant>

#include "taeda/base/option.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"

namespace taeda::inline v0_2::nn {

/// Options of the module MultiheadAttention, for queries [L, N, embed_dim], keys [S, N, kdim] and
/// values [S, N, vdim].
struct MultiheadAttentionOptions {
  /// E, the size of queries and of the result; a multiple of the heads.
  Option<int64_t> embed_dim;
  /// How many attentions there are side by side, at least 1.
  Option<int64_t> num_heads;
  /// The probability that a weight of the attention is dropped while training, from 0, the default,
  /// to 1.
  Option<double> dropout = 0;
  /// Whether the four projections have biases; true by default.
  Option<bool> bias = true;
  /// Whether one more key and value, [1, 1, embed_dim], the same for all sequences, are learned;
  /// false by default.
  Option<bool> add_bias_kv = false;
  /// Whether keys and values get one more element of zeros at their end; false by default.
  Option<bool> add_zero_attn = false;
  /// The size of keys; E unless given.
  Option<int64_t> kdim = embed_dim;
  /// The size of values; E unless given.
  Option<int64_t> vdim = embed_dim;
  /// Whether inputs and outputs are [N, L, E] instead of [L, N, E].
  Option<bool> batch_first = false;
};

/// Several attentions side by side over parts of the embedding (Vaswani et al. 2017,
/// arXiv:1706.03762): query [L, N, E], key and value [S, N, *] give [L, N, E] and the weights [N,
/// L, S]. Throws ValueError unless the heads divide E.
class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  using Options = MultiheadAttentionOptions;
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(Options{embed_dim, num_heads}) {}
  /// Throws ValueError unless the heads divide the embedding.
  explicit MultiheadAttentionImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Draws all weights anew, but for those of the output projection, as PyTorch does; biases become
  /// 0, and bias_k and bias_v are drawn. Shapes stay.
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
  /// The activation of a transformer's layers: kReLU, the default, kGELU, or a function from a
  /// tensor to one of the same shape. Its copies are compiled once, in the library.
  Activation(Nonlinearity kind);
  Activation(const Activation& other);
  Activation(Activation&& other) noexcept;
  Activation& operator=(const Activation& other);
  Activation& operator=(Activation&& other) noexcept;
  ~Activation();
  /// From the form that a variant holds: kReLU, the default of layers, kGELU, or a function of a
  /// tensor.
  template <class... Form>
  Activation(const std::variant<Form...>& form)
      : variant(std::visit([](const auto& f) { return variant(f); }, form)) {}
};
/// The type of an activation under libtorch's name; kReLU is the default.
using activation_t = Activation;

namespace detail {
/// Throws ValueError for a Nonlinearity that is neither kReLU nor kGELU, and for an empty function.
void check_activation(const activation_t& activation);
Tensor activate(const activation_t& activation, const Tensor& x);
}  // namespace detail

/// Options of the modules TransformerEncoderLayer and TransformerDecoderLayer, for sequences [L, N,
/// d_model].
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
  /// Whether the inputs of attention and linear maps are normalised, instead of the sums with their
  /// results; false by default.
  Option<bool> norm_first = false;
};

/// Self-attention and a feed-forward network, each with a residual connection and a layer norm
/// (Vaswani et al. 2017, arXiv:1706.03762): [L, N, d_model] stays. Throws Error for other sizes.
class TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  using Options = TransformerEncoderLayerOptions;
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerEncoderLayerImpl(Options{d_model, nhead}) {}
  explicit TransformerEncoderLayerImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Draws the parameters of all its layers anew; shapes stay.
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
