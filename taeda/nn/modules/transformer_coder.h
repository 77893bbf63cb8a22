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
/// residual connection and a layer norm.
class TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions o) : options(std::move(o)) {
    reset();
  }
  void reset() override;
  /// Those of all its layers, drawn anew.
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn{nullptr}, multihead_attn{nullptr};
  Linear linear1{nullptr}, linear2{nullptr};
  LayerNorm norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
  Dropout dropout{nullptr}, dropout1{nullptr}, dropout2{nullptr}, dropout3{nullptr};

 private:
  Tensor attend(const Tensor& x, const Tensor& mask, const Tensor& padding_mask);
  Tensor feed_forward(const Tensor& x);
};
TAEDA_MODULE(TransformerDecoderLayer);

class TransformerEncoderOptions {
 public:
  /// Copies of the layer given.
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                            int64_t num_layers)
      : encoder_layer_(encoder_layer_options), num_layers_(num_layers) {}
  TAEDA_ARG(TransformerEncoderLayer, encoder_layer);
  TAEDA_ARG(int64_t, num_layers);
  /// Called with the last layer's output.
  TAEDA_ARG(AnyModule, norm);
};

/// `num_layers` layers one after the other, which start equal.
class TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Draws all matrices again, Xavier uniform.
  void reset_parameters();
  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});

  TransformerEncoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;
};
TAEDA_MODULE(TransformerEncoder);

class TransformerDecoderOptions {
 public:
  /// Copies of the layer given.
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                            int64_t num_layers)
      : decoder_layer_(decoder_layer_options), num_layers_(num_layers) {}
  TAEDA_ARG(TransformerDecoderLayer, decoder_layer);
  TAEDA_ARG(int64_t, num_layers);
  /// Called with the last layer's output.
  TAEDA_ARG(AnyModule, norm);
};

/// `num_layers` layers one after the other, which start equal and all attend to `memory`.
class TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  /// Draws all matrices again, Xavier uniform.
  void reset_parameters();
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});

  TransformerDecoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;
};
TAEDA_MODULE(TransformerDecoder);

class TransformerOptions {
 public:
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                     int64_t num_decoder_layers)
      : d_model_(d_model),
        nhead_(nhead),
        num_encoder_layers_(num_encoder_layers),
        num_decoder_layers_(num_decoder_layers) {}
  TAEDA_ARG(int64_t, d_model) = 512;
  TAEDA_ARG(int64_t, nhead) = 8;
  TAEDA_ARG(int64_t, num_encoder_layers) = 6;
  TAEDA_ARG(int64_t, num_decoder_layers) = 6;
  TAEDA_ARG(int64_t, dim_feedforward) = 2048;
  TAEDA_ARG(double, dropout) = 0.1;
  TAEDA_ARG(activation_t, activation) = kReLU;
  /// Copies of these modules instead of a TransformerEncoder and a TransformerDecoder. Their
  /// forward takes the same arguments.
  TAEDA_ARG(AnyModule, custom_encoder);
  TAEDA_ARG(AnyModule, custom_decoder);
  TAEDA_ARG(bool, batch_first) = false;
  TAEDA_ARG(bool, norm_first) = false;
};

/// Encoder and decoder, each with a layer norm at its end; all matrices start Xavier uniform.
class TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  /// The decoder's output, [T, N, E] as `tgt`. Throws Error unless batches and embeddings fit.
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {},
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  /// [sz, sz]: -inf above the diagonal, 0 elsewhere, so that no position looks ahead.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  TransformerOptions options;
  AnyModule encoder, decoder;
};
TAEDA_MODULE(Transformer);

}  // namespace taeda::nn
