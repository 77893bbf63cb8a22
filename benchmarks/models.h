// Networks for the training benchmarks, in libtorch's C++ frontend's terms.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <vector>

namespace models {

namespace nn = torch::nn;
using torch::Tensor;

/// 100-50-10.
struct MlpImpl : nn::Module {
  nn::Linear fc1{register_module("fc1", nn::Linear(100, 50))},
      fc2{register_module("fc2", nn::Linear(50, 10))};
  Tensor forward(Tensor x) { return fc2(torch::relu(fc1(x))); }
};
TORCH_MODULE(Mlp);

/// 28x28 grey images; two convolutions and three linear layers.
struct LeNetImpl : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 6, 5)))},
      conv2{register_module("conv2", nn::Conv2d(nn::Conv2dOptions(6, 12, 5)))};
  nn::Linear fc1{register_module("fc1", nn::Linear(192, 120))},
      fc2{register_module("fc2", nn::Linear(120, 60))},
      out{register_module("out", nn::Linear(60, 10))};
  Tensor forward(Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    x = x.flatten(1);
    return out(torch::relu(fc2(torch::relu(fc1(x)))));
  }
};
TORCH_MODULE(LeNet);

/// 32x32 colour images; one convolution of 16 channels.
struct SmallCnnImpl : nn::Module {
  nn::Conv2d conv{register_module("conv", nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1)))};
  nn::Linear fc{register_module("fc", nn::Linear(16 * 16 * 16, 10))};
  Tensor forward(Tensor x) { return fc(torch::max_pool2d(torch::relu(conv(x)), 2).flatten(1)); }
};
TORCH_MODULE(SmallCnn);

struct BlockImpl : nn::Module {
  nn::Conv2d conv1{nullptr}, conv2{nullptr}, down{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr}, bn_down{nullptr};
  BlockImpl(int64_t in, int64_t out, int64_t stride) {
    const auto conv = [](int64_t i, int64_t o, int64_t k, int64_t s) {
      return nn::Conv2d(nn::Conv2dOptions(i, o, k).stride(s).padding(k / 2).bias(false));
    };
    conv1 = register_module("conv1", conv(in, out, 3, stride));
    bn1 = register_module("bn1", nn::BatchNorm2d(out));
    conv2 = register_module("conv2", conv(out, out, 3, 1));
    bn2 = register_module("bn2", nn::BatchNorm2d(out));
    if (stride == 1 && in == out) return;
    down = register_module("down", conv(in, out, 1, stride));
    bn_down = register_module("bn_down", nn::BatchNorm2d(out));
  }
  Tensor forward(Tensor x) {
    Tensor y = bn2(conv2(torch::relu(bn1(conv1(x)))));
    return torch::relu(y + (down.is_empty() ? x : bn_down(down(x))));
  }
};
TORCH_MODULE(Block);

struct ResNet18Impl : nn::Module {
  nn::Conv2d conv{register_module(
      "conv", nn::Conv2d(nn::Conv2dOptions(3, 64, 7).stride(2).padding(3).bias(false)))};
  nn::BatchNorm2d bn{register_module("bn", nn::BatchNorm2d(64))};
  std::vector<Block> blocks;
  nn::Linear fc{register_module("fc", nn::Linear(512, 1000))};
  ResNet18Impl() {
    int64_t in = 64;
    for (int64_t width : {64, 128, 256, 512})
      for (int i = 0; i < 2; ++i) {
        blocks.push_back(register_module("block" + std::to_string(blocks.size()),
                                         Block(in, width, width != 64 && i == 0 ? 2 : 1)));
        in = width;
      }
  }
  Tensor forward(Tensor x) {
    x = torch::max_pool2d(torch::relu(bn(conv(x))), 3, 2, 1);
    for (Block& b : blocks) x = b(x);
    return fc(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }
};
TORCH_MODULE(ResNet18);

/// Causal attention over [batch, heads, steps, width].
using Attention = Tensor (*)(const Tensor& q, const Tensor& k, const Tensor& v);

/// As every libtorch can write it.
inline Tensor plain_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const int64_t t = q.size(2);
  const Tensor mask = torch::ones({t, t}, q.options().dtype(torch::kBool)).triu(1);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  const Tensor scores = torch::matmul(q, k.transpose(-2, -1)) * scale;
  return torch::matmul(scores.masked_fill(mask, -1e9).softmax(-1), v);
}

/// The library's own, if it has one (libtorch since 2.0), where every query looks at all keys; of
/// `mask`, if it is defined, at those that are true.
template <class T>
T open_attention(const T& q, const T& k, const T& v, const T& mask = {}) {
  if constexpr (requires { scaled_dot_product_attention(q, k, v, mask); })
    return mask.defined() ? scaled_dot_product_attention(q, k, v, mask)
                          : scaled_dot_product_attention(q, k, v);
  T scores = (q / std::sqrt(static_cast<double>(q.size(3)))).matmul(k.transpose(-2, -1));
  if (mask.defined()) scores = scores.masked_fill(mask.logical_not(), -1e9);
  return scores.softmax(-1).matmul(v);
}

struct GptLayerImpl : nn::Module {
  int64_t heads;
  Attention attention;
  nn::LayerNorm ln1{nullptr}, ln2{nullptr};
  nn::Linear qkv{nullptr}, proj{nullptr}, up{nullptr}, down{nullptr};
  GptLayerImpl(int64_t d, int64_t h, Attention a) : heads(h), attention(a) {
    ln1 = register_module("ln1", nn::LayerNorm(nn::LayerNormOptions({d})));
    ln2 = register_module("ln2", nn::LayerNorm(nn::LayerNormOptions({d})));
    qkv = register_module("qkv", nn::Linear(d, 3 * d));
    proj = register_module("proj", nn::Linear(d, d));
    up = register_module("up", nn::Linear(d, 4 * d));
    down = register_module("down", nn::Linear(4 * d, d));
  }
  Tensor forward(Tensor x) { return run(x, attention); }
  template <class Attend>
  Tensor run(Tensor x, const Attend& attend) {
    const int64_t b = x.size(0), t = x.size(1), d = x.size(2), width = d / heads;
    const auto parts = qkv(ln1(x)).view({b, t, 3, heads, width}).permute({2, 0, 3, 1, 4});
    const Tensor y = attend(parts.select(0, 0), parts.select(0, 1), parts.select(0, 2));
    x = x + proj(y.transpose(1, 2).reshape({b, t, d}));
    return x + down(torch::gelu(up(ln2(x))));
  }
};
TORCH_MODULE(GptLayer);

struct GptImpl : nn::Module {
  nn::Embedding token{nullptr}, position{nullptr};
  std::vector<GptLayer> layers;
  nn::LayerNorm ln{nullptr};
  nn::Linear head{nullptr};
  GptImpl(int64_t vocabulary, int64_t context, int64_t depth, int64_t d, int64_t heads,
          Attention attention = plain_attention) {
    token = register_module("token", nn::Embedding(vocabulary, d));
    position = register_module("position", nn::Embedding(context, d));
    for (int64_t i = 0; i < depth; ++i)
      layers.push_back(register_module("layer" + std::to_string(i), GptLayer(d, heads, attention)));
    ln = register_module("ln", nn::LayerNorm(nn::LayerNormOptions({d})));
    head = register_module("head", nn::Linear(d, vocabulary));
  }
  Tensor forward(Tensor ids) {
    Tensor x = token(ids) + position(torch::arange(ids.size(1), ids.options()));
    for (GptLayer& l : layers) x = l(x);
    return head(ln(x));
  }
  /// Scores of tokens at `positions` that follow others: `attend(layer, q, k, v)` keeps keys and
  /// values and looks at all there are.
  template <class Attend>
  Tensor go_on(const Tensor& ids, const Tensor& positions, const Attend& attend) {
    Tensor x = token(ids) + position(positions);
    for (size_t i = 0; i < layers.size(); ++i)
      x = layers[i]->run(x, [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        return attend(static_cast<int64_t>(i), q, k, v);
      });
    return head(ln(x));
  }
};
TORCH_MODULE(Gpt);

}  // namespace models
