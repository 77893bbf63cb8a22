#include "taeda/nn/modules/embedding.h"

#include "taeda/nn/settings.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

namespace {

/// Checks the row that counts for nothing and counts it from the front. Row 0 is looked for when it
/// is to be zero.
void check_padding(std::optional<int64_t>& padding_idx, int64_t rows, const char* name) {
  if (!padding_idx) return;
  TAEDA_CHECK(*padding_idx == 0 || (*padding_idx >= -rows && *padding_idx < rows), name,
              " must be within num_embeddings");
  if (*padding_idx < 0) *padding_idx += rows;
}

/// The weight given, or an empty one.
Tensor rows_for(const auto& options) {
  const int64_t expected[] = {options.num_embeddings(), options.embedding_dim()};
  if (!options._weight().defined()) return empty(expected);
  TAEDA_CHECK(options._weight().sizes() == IntArrayRef(expected),
              "Shape of weight does not match num_embeddings and embedding_dim");
  return options._weight();
}

void draw_rows(const Tensor& weight, const std::optional<int64_t>& padding_idx) {
  init::normal_(weight);
  if (padding_idx) init::zeros_(weight.detach().select(0, *padding_idx));
}

/// What both layers show alike, `padding` in between.
void show_rows(Settings& out, const auto& o, const std::optional<int64_t>& padding) {
  out.plain("num_embeddings", o.num_embeddings).plain("embedding_dim", o.embedding_dim);
  out.present("padding_idx", padding).present("max_norm", o.max_norm());
  out.unless(2, "norm_type", o.norm_type());
  out.unless(false, "scale_grad_by_freq", o.scale_grad_by_freq());
  out.unless(false, "sparse", o.sparse());
}

}  // namespace

void EmbeddingImpl::reset() {
  check_padding(options.padding_idx(), options.num_embeddings(), "Padding_idx");
  weight = register_parameter("weight", rows_for(options));
  if (!options._weight().defined()) reset_parameters();
}

void EmbeddingImpl::reset_parameters() { draw_rows(weight, options.padding_idx()); }

void EmbeddingImpl::settings(Settings& out) const {
  show_rows(out.of(typeid(EmbeddingImpl)), options, options.padding_idx);
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& o) {
  TAEDA_CHECK_VALUE(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  Embedding out({.num_embeddings = embeddings.size(0),
                 .embedding_dim = embeddings.size(1),
                 .padding_idx = o.padding_idx,
                 .max_norm = o.max_norm,
                 .norm_type = o.norm_type,
                 .scale_grad_by_freq = o.scale_grad_by_freq,
                 .sparse = o.sparse,
                 ._weight = embeddings});
  out->weight.requires_grad_(!o.freeze);
  return out;
}

void EmbeddingBagImpl::reset() {
  check_padding(options.padding_idx(), options.num_embeddings(), "padding_idx");
  weight = register_parameter("weight", rows_for(options));
  if (!options._weight().defined()) reset_parameters();
}

void EmbeddingBagImpl::reset_parameters() { draw_rows(weight, options.padding_idx()); }

void EmbeddingBagImpl::settings(Settings& out) const {
  const auto& o = options;
  show_rows(out.of(typeid(EmbeddingBagImpl)), o, std::nullopt);
  if (out.is_python())
    out("mode", o.mode.name());
  else if (!o.mode.is_mean())
    out("mode", o.mode.is_sum() ? "kSum" : "kMax");
  if (o.include_last_offset) out.libtorch("include_last_offset", true);
  out.present("padding_idx", o.padding_idx());
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets,
                                 const Tensor& per_sample_weights) {
  return functional::embedding_bag(input, weight,
                                   {.offsets = offsets,
                                    .max_norm = options.max_norm,
                                    .norm_type = options.norm_type,
                                    .scale_grad_by_freq = options.scale_grad_by_freq,
                                    .mode = options.mode,
                                    .sparse = options.sparse,
                                    .per_sample_weights = per_sample_weights,
                                    .include_last_offset = options.include_last_offset,
                                    .padding_idx = options.padding_idx});
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& o) {
  TAEDA_CHECK_VALUE(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  EmbeddingBag out({.num_embeddings = embeddings.size(0),
                    .embedding_dim = embeddings.size(1),
                    .max_norm = o.max_norm,
                    .norm_type = o.norm_type,
                    .scale_grad_by_freq = o.scale_grad_by_freq,
                    .mode = o.mode,
                    .sparse = o.sparse,
                    ._weight = embeddings,
                    .include_last_offset = o.include_last_offset,
                    .padding_idx = o.padding_idx});
  out->weight.requires_grad_(!o.freeze);
  return out;
}

}  // namespace taeda::inline v0_2::nn
