// Stacks of transformer layers (Vaswani et al. 2017, arXiv:1706.03762). Sequences are [L, N, E], or
// [N, L, E] for layers that are `batch_first`; masks are those of MultiheadAttention. Parameters
// have Python's names.
#pragma once

#include "taeda/nn/any_module.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/nn/modules/transformer.h"

namespace taeda::inline v0_2::nn {

using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;

/// Self-attention, attention to the encoder's output and a feed-forward network, each with a
/// residual connection and a layer norm (Vaswani et al. 2017, arXiv:1706.03762): `tgt` [L, N,
/// d_model], whose shape stays, and `memory` [S, N, d_model].
class TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  using Options = TransformerDecoderLayerOptions;
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerDecoderLayerImpl(Options{d_model, nhead}) {}
  explicit TransformerDecoderLayerImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Draws the parameters of all its layers anew; shapes stay.
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});

  Options options;
  MultiheadAttention self_attn{nullptr}, multihead_attn{nullptr};
  Linear linear1{nullptr}, linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
  Dropout dropout{nullptr}, dropout1{nullptr}, dropout2{nullptr}, dropout3{nullptr};

 private:
  Tensor attend(const Tensor& x, const Tensor& mask, const Tensor& padding_mask);
  Tensor feed_forward(const Tensor& x);
};
TAEDA_MODULE(TransformerDecoderLayer);

/// Options of the module TransformerEncoder, for sequences [L, N, d_model].
struct TransformerEncoderOptions {
  /// The layer of which `num_layers` copies are taken; its options are the defaults of them all.
  Option<TransformerEncoderLayer> encoder_layer;
  /// How many copies, at least 1 to be called.
  Option<int64_t> num_layers;
  /// What is called with the last layer's output; empty for nothing.
  Option<AnyModule> norm = AnyModule();
};

/// `num_layers` encoder layers one after the other, which start equal, and an optional norm at the
/// end; [L, N, d_model] stays.
class TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  using Options = TransformerEncoderOptions;
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : TransformerEncoderImpl(Options{std::move(encoder_layer), num_layers}) {}
  explicit TransformerEncoderImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Draws all parameters of at least two dimensions anew, Xavier uniform; shapes stay.
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});

  Options options;
  ModuleList layers{nullptr};
  AnyModule norm;
};
TAEDA_MODULE(TransformerEncoder);

/// Options of the module TransformerDecoder, for sequences [L, N, d_model].
struct TransformerDecoderOptions {
  /// The layer of which `num_layers` copies are taken; its options are the defaults of them all.
  Option<TransformerDecoderLayer> decoder_layer;
  /// How many copies, at least 1 to be called.
  Option<int64_t> num_layers;
  /// What is called with the last layer's output; empty for nothing.
  Option<AnyModule> norm = AnyModule();
};

/// `num_layers` decoder layers one after the other, which start equal and all attend to `memory`
/// [S, N, d_model], and an optional norm at the end; `tgt` [L, N, d_model] keeps its shape.
class TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  using Options = TransformerDecoderOptions;
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : TransformerDecoderImpl(Options{std::move(decoder_layer), num_layers}) {}
  explicit TransformerDecoderImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Draws all parameters of at least two dimensions anew, Xavier uniform; shapes stay.
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});

  Options options;
  ModuleList layers{nullptr};
  AnyModule norm;
};
TAEDA_MODULE(TransformerDecoder);

/// Options of the module Transformer, for sources [S, N, d_model] and targets [L, N, d_model].
struct TransformerOptions {
  /// E, the size of inputs and outputs; a multiple of the heads.
  Option<int64_t> d_model = 512;
  /// How many attentions there are side by side, at least 1.
  Option<int64_t> nhead = 8;
  /// How many layers the encoder has; 6 by default.
  Option<int64_t> num_encoder_layers = 6;
  /// How many layers the decoder has; 6 by default.
  Option<int64_t> num_decoder_layers = 6;
  /// The size between the two linear maps of a layer.
  Option<int64_t> dim_feedforward = 2048;
  /// The probability that an element is dropped while training, from 0 to 1.
  Option<double> dropout = 0.1;
  /// What is between the two linear maps: kReLU, kGELU or any function.
  Option<Activation> activation = kReLU;
  /// A module of which a copy is the encoder, and whose forward takes the same arguments; empty for
  /// a TransformerEncoder.
  Option<AnyModule> custom_encoder = AnyModule();
  /// A module in the decoder's place; by default none, and the decoder is made of the other
  /// options.
  Option<AnyModule> custom_decoder = AnyModule();
  /// Whether inputs and outputs are [N, L, E] instead of [L, N, E].
  Option<bool> batch_first = false;
  /// Whether the inputs of attention and linear maps are normalised, instead of the sums with their
  /// results; false by default.
  Option<bool> norm_first = false;
};

/// Encoder and decoder, each with a layer norm at its end (Vaswani et al. 2017, arXiv:1706.03762);
/// all matrices start Xavier uniform. Sources [S, N, d_model] and targets [L, N, d_model] give [L,
/// N, d_model].
class TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  using Options = TransformerOptions;
  explicit TransformerImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  /// The decoder's output, [T, N, E] as `tgt`. Throws Error unless batches and embeddings fit.
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {},
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  /// [sz, sz]: -inf above the diagonal, 0 elsewhere, so that no position looks ahead.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  Options options;
  AnyModule encoder, decoder;
};
TAEDA_MODULE(Transformer);

}  // namespace taeda::inline v0_2::nn
