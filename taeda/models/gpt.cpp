#include "taeda/models/gpt.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/nn/functional/activation.h"
#include "taeda/nn/functional/attention.h"
#include "taeda/nn/init.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/join.h"
#include "taeda/ops/random.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/shape.h"
#include "taeda/ops/softmax.h"
#include "taeda/ops/sort.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::models {

namespace {

constexpr double kInitialStd = 0.02;
/// Width of the hidden layer of a block, in widths of the block.
constexpr int64_t kHiddenFactor = 4;

nn::Linear linear(int64_t in, int64_t out, bool bias) {
  return nn::Linear(nn::LinearOptions(in, out).bias(bias));
}

nn::LayerNorm layer_norm(const GPTOptions& o) { return nn::LayerNorm(o.n_embd); }

}  // namespace

void CausalSelfAttentionImpl::reset() {
  const int64_t c = options.n_embd;
  c_attn = register_module("c_attn", linear(c, 3 * c, options.bias));
  c_proj = register_module("c_proj", linear(c, c, options.bias));
  resid_dropout = register_module("resid_dropout", nn::Dropout(options.dropout));
}

Tensor CausalSelfAttentionImpl::forward(const Tensor& x) {
  const int64_t n = x.size(0), t = x.size(1), c = x.size(2), heads = options.n_head;
  const std::vector<Tensor> parts = c_attn(x).split(c, 2);
  const auto by_head = [&](const Tensor& part) {
    return part.reshape({n, t, heads, c / heads}).transpose(1, 2);
  };
  const Tensor y = nn::functional::scaled_dot_product_attention(
      by_head(parts[0]), by_head(parts[1]), by_head(parts[2]), {},
      is_training() ? options.dropout : 0, /*is_causal=*/true);
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

Tensor GPTBlockImpl::forward(const Tensor& x) {
  const Tensor y = x + attn(ln_1(x));
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

Tensor GPTImpl::forward(const Tensor& tokens) {
  TAEDA_CHECK(tokens.dim() == 2, "GPT expects tokens (N, T), got shape ", tokens.sizes());
  const int64_t t = tokens.size(1);
  TAEDA_CHECK(t <= options.block_size, "Cannot forward sequence of length ", t,
              ", block size is only ", options.block_size);
  auto& wte = transformer->at<nn::Embedding>("wte");
  const Tensor positions = arange(t, TensorOptions(kLong).device(tokens.device()));
  Tensor x = nn::call(wte, tokens) + nn::call(transformer->at<nn::Embedding>("wpe"), positions);
  x = nn::call(transformer->at<nn::Dropout>("drop"), x);
  for (const auto& block : transformer->at<nn::ModuleList>("h"))
    x = nn::call(*block->as<GPTBlock>(), x);
  x = nn::call(transformer->at<nn::LayerNorm>("ln_f"), x);
  return matmul(x, wte.weight.t());
}

Tensor GPTImpl::generate(Tensor tokens, int64_t count, double temperature, int64_t top_k) {
  const NoGradGuard no_grad;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = tokens.size(1), seen = std::min(t, options.block_size);
    Tensor scores = forward(tokens.narrow(1, t - seen, seen)).select(1, seen - 1);
    Tensor next;
    if (temperature == 0) {
      next = scores.argmax(1, /*keepdim=*/true);
    } else {
      scores = scores.div(temperature);
      if (top_k > 0) {
        const Tensor best = std::get<0>(scores.topk(std::min(top_k, options.vocab_size)));
        scores = scores.masked_fill(scores.lt(best.narrow(1, best.size(1) - 1, 1)), -INFINITY);
      }
      next = multinomial(scores.softmax(1), 1);
    }
    tokens = cat({tokens, next}, 1);
  }
  return tokens;
}

}  // namespace taeda::models
