#include "taeda/nn/modules/embedding.h"

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

/// The options that both layers print alike.
std::string row_text(const auto& options) {
  std::string out;
  if (options.max_norm()) out += ", max_norm=" + float_text(*options.max_norm());
  if (options.norm_type() != 2) out += ", norm_type=" + float_text(options.norm_type());
  if (options.scale_grad_by_freq()) out += ", scale_grad_by_freq=True";
  if (options.sparse()) out += ", sparse=True";
  return out;
}

}  // namespace

void EmbeddingImpl::reset() {
  check_padding(options.padding_idx(), options.num_embeddings(), "Padding_idx");
  weight = register_parameter("weight", rows_for(options));
  if (!options._weight().defined()) reset_parameters();
}

void EmbeddingImpl::reset_parameters() { draw_rows(weight, options.padding_idx()); }

std::string EmbeddingImpl::extra_repr() const {
  std::string out = taeda::detail::concat(options.num_embeddings(), ", ", options.embedding_dim());
  if (options.padding_idx()) out += ", padding_idx=" + std::to_string(*options.padding_idx());
  return out + row_text(options);
}

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& o) {
  TAEDA_CHECK_VALUE(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  EmbeddingOptions options(embeddings.size(0), embeddings.size(1));
  options.padding_idx(o.padding_idx())
      .max_norm(o.max_norm())
      .norm_type(o.norm_type())
      .scale_grad_by_freq(o.scale_grad_by_freq())
      .sparse(o.sparse())
      ._weight(embeddings);
  Embedding out(options);
  out->weight.requires_grad_(!o.freeze());
  return out;
}

void EmbeddingBagImpl::reset() {
  check_padding(options.padding_idx(), options.num_embeddings(), "padding_idx");
  weight = register_parameter("weight", rows_for(options));
  if (!options._weight().defined()) reset_parameters();
}

void EmbeddingBagImpl::reset_parameters() { draw_rows(weight, options.padding_idx()); }

std::string EmbeddingBagImpl::extra_repr() const {
  std::string out = taeda::detail::concat(options.num_embeddings(), ", ", options.embedding_dim());
  out += row_text(options) + ", mode=" + options.mode().name();
  if (options.padding_idx()) out += ", padding_idx=" + std::to_string(*options.padding_idx());
  return out;
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets,
                                 const Tensor& per_sample_weights) {
  return functional::embedding_bag(input, weight,
                                   functional::EmbeddingBagFuncOptions()
                                       .offsets(offsets)
                                       .max_norm(options.max_norm())
                                       .norm_type(options.norm_type())
                                       .scale_grad_by_freq(options.scale_grad_by_freq())
                                       .mode(options.mode())
                                       .sparse(options.sparse())
                                       .per_sample_weights(per_sample_weights)
                                       .include_last_offset(options.include_last_offset())
                                       .padding_idx(options.padding_idx()));
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& o) {
  TAEDA_CHECK_VALUE(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  EmbeddingBagOptions options(embeddings.size(0), embeddings.size(1));
  options.max_norm(o.max_norm())
      .norm_type(o.norm_type())
      .scale_grad_by_freq(o.scale_grad_by_freq())
      .sparse(o.sparse())
      .mode(o.mode())
      .include_last_offset(o.include_last_offset())
      .padding_idx(o.padding_idx())
      ._weight(embeddings);
  EmbeddingBag out(options);
  out->weight.requires_grad_(!o.freeze());
  return out;
}

}  // namespace taeda::nn
