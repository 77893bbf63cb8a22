#include "taeda/models/gpt.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "taeda/base/error.h"
#include "taeda/nn/functional/activation.h"
#include "taeda/nn/functional/attention.h"
#include "taeda/nn/init.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::models {

namespace {

constexpr double kInitialStd = 0.02;
/// Width of the hidden layer of a block, in widths of the block.
constexpr int64_t kHiddenFactor = 4;

nn::Linear linear(int64_t in, int64_t out, bool bias) {
  return nn::Linear({.in_features = in, .out_features = out, .bias = bias});
}

nn::LayerNorm layer_norm(const GPTOptions& o) { return nn::LayerNorm(o.n_embd); }

}  // namespace

void CausalSelfAttentionImpl::reset() {
  const int64_t c = options.n_embd;
  c_attn = register_module("c_attn", linear(c, 3 * c, options.bias));
  c_proj = register_module("c_proj", linear(c, c, options.bias));
  resid_dropout = register_module("resid_dropout", nn::Dropout(options.dropout));
}

Tensor CausalSelfAttentionImpl::forward(const Tensor& x) { return run(x, nullptr); }
Tensor CausalSelfAttentionImpl::forward(const Tensor& x, const CachedLayer& cached) {
  return run(x, &cached);
}

Tensor CausalSelfAttentionImpl::run(const Tensor& x, const CachedLayer* cached) {
  const int64_t n = x.size(0), t = x.size(1), c = x.size(2), heads = options.n_head;
  const std::vector<Tensor> parts = c_attn(x).split(c, 2);
  const auto by_head = [&](const Tensor& part) {
    return part.reshape({n, t, heads, c / heads}).transpose(1, 2);
  };
  Tensor keys = by_head(parts[1]), values = by_head(parts[2]), mask;
  bool causal = true;
  if (cached) {
    KeyValueCache& cache = cached->cache;
    std::tie(keys, values) = cached->positions.defined()
                                 ? cache.update_at(cached->layer, keys, values, cached->positions)
                                 : cache.update(cached->layer, keys, values);
    mask = cached->mask;
    // One token looks at all there are.
    causal = !mask.defined() && keys.size(2) == t;
  }
  const Tensor y = nn::functional::scaled_dot_product_attention(
      by_head(parts[0]), keys, values, mask, is_training() ? options.dropout : 0, causal);
  return resid_dropout(c_proj(y.transpose(1, 2).reshape({n, t, c})));
}

void GPTBlockImpl::reset() {
  const int64_t c = options.n_embd;
  ln_1 = register_module("ln_1", layer_norm(options));
  attn = register_module("attn", CausalSelfAttention(options));
  ln_2 = register_module("ln_2", layer_norm(options));
  nn::ModuleDict layers;
  layers->insert("c_fc", linear(c, kHiddenFactor * c, options.bias));
  layers->insert("c_proj", linear(kHiddenFactor * c, c, options.bias));
  mlp = register_module("mlp", layers);
  dropout = register_module("dropout", nn::Dropout(options.dropout));
}

Tensor GPTBlockImpl::forward(const Tensor& x) { return run(x, nullptr); }
Tensor GPTBlockImpl::forward(const Tensor& x, const CachedLayer& cached) { return run(x, &cached); }

Tensor GPTBlockImpl::run(const Tensor& x, const CachedLayer* cached) {
  const Tensor normal = ln_1(x);
  const Tensor y = x + (cached ? attn(normal, *cached) : attn(normal));
  const Tensor hidden = gelu(nn::call(mlp->at<nn::Linear>("c_fc"), ln_2(y)), "tanh");
  return y + dropout(nn::call(mlp->at<nn::Linear>("c_proj"), hidden));
}

GPTImpl::GPTImpl(GPTOptions o) : options(o) {
  TAEDA_CHECK_VALUE(options.n_head > 0 && options.n_embd % options.n_head == 0,
                    "n_embd must be a multiple of n_head, got ", options.n_embd, " and ",
                    options.n_head);
  GPTImpl::reset();
  initialize();
}

void GPTImpl::reset() {
  nn::ModuleDict parts;
  const nn::Embedding wte(options.vocab_size, options.n_embd);
  nn::ModuleList blocks;
  for (int64_t i = 0; i < options.n_layer; ++i) blocks->push_back(GPTBlock(options));
  parts->insert("wte", wte);
  parts->insert("wpe", nn::Embedding(options.block_size, options.n_embd));
  parts->insert("drop", nn::Dropout(options.dropout));
  parts->insert("h", blocks);
  parts->insert("ln_f", layer_norm(options));
  transformer = register_module("transformer", parts);
}

void GPTImpl::initialize() {
  apply([](nn::Module& module) {
    if (auto* layer = module.as<nn::Linear>()) {
      nn::init::normal_(layer->weight, 0, kInitialStd);
      if (layer->bias.defined()) nn::init::zeros_(layer->bias);
    }
    if (auto* table = module.as<nn::Embedding>()) nn::init::normal_(table->weight, 0, kInitialStd);
  });
  // What the layers add up to keeps its variance (GPT-2, section 2.3).
  const double std = kInitialStd / std::sqrt(2. * static_cast<double>(options.n_layer));
  for (auto& [name, parameter] : named_parameters())
    if (name.ends_with("c_proj.weight")) nn::init::normal_(parameter, 0, std);
}

void GPTImpl::check_tokens(const Tensor& tokens, int64_t first) const {
  TAEDA_CHECK(tokens.dim() == 2, "GPT expects tokens (N, T), got shape ", tokens.sizes());
  const int64_t t = first + tokens.size(1);
  TAEDA_CHECK(t <= options.block_size, "Cannot forward sequence of length ", t,
              ", block size is only ", options.block_size);
}

void GPTImpl::check_cache(const Tensor& tokens, const KeyValueCache& cache) const {
  const KeyValueCacheOptions& c = cache.options();
  const int64_t width = options.n_embd / options.n_head;
  TAEDA_CHECK(c.layers == options.n_layer && c.heads == options.n_head && c.head_width == width,
              "GPT has ", options.n_layer, " layers of ", options.n_head, " heads of width ", width,
              ", the KeyValueCache was made for ", c.layers, " layers of ", c.heads,
              " heads of width ", c.head_width);
  TAEDA_CHECK(tokens.size(0) == c.batch_size, "GPT got tokens of ", tokens.size(0),
              " texts and a KeyValueCache of ", c.batch_size);
  TAEDA_CHECK(tokens.size(1) > 0,
              "GPT expects at least one token beside a KeyValueCache, got "
              "shape ",
              tokens.sizes());
  TAEDA_CHECK(tokens.device() == c.device, "GPT got tokens on ", tokens.device(),
              " and a KeyValueCache on ", c.device);
}

Tensor GPTImpl::forward(const Tensor& tokens) {
  check_tokens(tokens, 0);
  return run(tokens, arange(tokens.size(1), TensorOptions(kLong).device(tokens.device())), nullptr);
}

Tensor GPTImpl::forward(const Tensor& tokens, KeyValueCache& cache) {
  const int64_t seen = cache.length();
  TAEDA_CHECK(tokens.dim() == 2, "GPT expects tokens (N, T), got shape ", tokens.sizes());
  check_cache(tokens, cache);
  const int64_t t = tokens.size(1);
  cache.check_room(t);
  check_tokens(tokens, seen);
  CachedLayer cached{cache, 0, {}, {}};
  if (t > 1 && seen > 0)
    cached.mask = ones({t, seen + t}, TensorOptions(kBool).device(tokens.device())).tril(seen);
  const Tensor positions = arange(seen, seen + t, TensorOptions(kLong).device(tokens.device()));
  const Tensor scores = run(tokens, positions, &cached);
  cache.advance(t);
  return scores;
}

Tensor GPTImpl::forward(const Tensor& tokens, KeyValueCache& cache, const Tensor& positions) {
  check_tokens(tokens, 0);
  check_cache(tokens, cache);
  TAEDA_CHECK(positions.dim() == 1 && positions.size(0) == tokens.size(1) &&
                  positions.dtype() == kLong && positions.device() == tokens.device(),
              "GPT expects positions [", tokens.size(1), "] of int64 on ", tokens.device(),
              ", got ", positions.sizes(), " of ", to_string(positions.dtype()), " on ",
              positions.device());
  const Tensor all = arange(cache.capacity(), TensorOptions(kLong).device(tokens.device()));
  CachedLayer cached{cache, 0, positions, all.le(positions.unsqueeze(1))};
  return run(tokens, positions, &cached);
}

Tensor GPTImpl::run(const Tensor& tokens, const Tensor& positions, CachedLayer* cached) {
  auto& wte = transformer->at<nn::Embedding>("wte");
  Tensor x = nn::call(wte, tokens) + nn::call(transformer->at<nn::Embedding>("wpe"), positions);
  x = nn::call(transformer->at<nn::Dropout>("drop"), x);
  for (const auto& block : transformer->at<nn::ModuleList>("h")) {
    auto& layer = *block->as<GPTBlock>();
    x = cached ? nn::call(layer, x, *cached) : nn::call(layer, x);
    if (cached) ++cached->layer;
  }
  x = nn::call(transformer->at<nn::LayerNorm>("ln_f"), x);
  return matmul(x, wte.weight.t());
}

KeyValueCache GPTImpl::make_cache(int64_t batch_size) const {
  const Tensor& weight = transformer->at<nn::Embedding>("wte").weight;
  return KeyValueCache({.layers = options.n_layer,
                        .heads = options.n_head,
                        .capacity = options.block_size,
                        .head_width = options.n_embd / options.n_head,
                        .batch_size = batch_size,
                        .dtype = weight.dtype(),
                        .device = weight.device()});
}

Tensor GPTImpl::draw(Tensor scores, double temperature, int64_t top_k) const {
  if (temperature == 0) return scores.argmax(1, /*keepdim=*/true);
  scores = scores.div(temperature);
  if (top_k > 0) {
    const Tensor best = std::get<0>(scores.topk(std::min(top_k, options.vocab_size)));
    scores = scores.masked_fill(scores.lt(best.narrow(1, best.size(1) - 1, 1)), -INFINITY);
  }
  return multinomial(scores.softmax(1), 1);
}

Tensor GPTImpl::generate(Tensor tokens, int64_t count, double temperature, int64_t top_k) {
  const NoGradGuard no_grad;
  TAEDA_CHECK(tokens.dim() == 2, "GPT expects tokens (N, T), got shape ", tokens.sizes());
  // A network that drops other numbers at each step has no keys to keep.
  const bool keeps = !is_training() || options.dropout == 0;
  std::optional<KeyValueCache> cache;
  if (keeps && tokens.size(0) > 0 && tokens.size(1) < options.block_size && count > 1)
    cache = make_cache(tokens.size(0));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = tokens.size(1), seen = std::min(t, options.block_size);
    // Behind block_size every token moves to another position, which changes its keys.
    if (t > options.block_size) cache.reset();
    const int64_t known = cache ? cache->length() : 0;
    const Tensor part = tokens.narrow(1, t - seen + known, seen - known);
    const Tensor scores = cache ? forward(part, *cache) : forward(part);
    tokens = cat({tokens, draw(scores.select(1, -1), temperature, top_k)}, 1);
  }
  return tokens;
}

}  // namespace taeda::inline v0_2::models
