// A row for each operation that can be exported: what is read back computes the same, for the
// example and for another batch. Rows of one name are different overloads or arguments.
#include <gmock/gmock.h>

#include <set>

#include "taeda/device/generator.h"
#include "taeda/nn/functional/activation.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/nn/functional/upsampling.h"
#include "taeda/nn/modules/transformer.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/attention.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/nn/rnn.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "tests/onnx/round_trip.h"

namespace taeda::onnx {
namespace {

using T = const Tensor&;
using List = std::vector<Tensor>;

struct Row {
  const char* operation;
  Forward function;
  List inputs;
  bool open = true;  ///< leaves dimension 0 of all inputs open
  int64_t opset = 17;
};

Forward one(Tensor (*f)(T)) {
  return [f](const List& in) { return List{f(in[0])}; };
}
Forward two(Tensor (*f)(T, T)) {
  return [f](const List& in) { return List{f(in[0], in[1])}; };
}

Tensor x() { return randn({2, 3, 4}); }
Tensor picture() { return randn({2, 3, 8, 8}); }
Tensor whole() { return randint(-5, 6, {2, 3, 4}, kLong); }
Tensor truth() { return randn({2, 3, 4}).gt(0); }
/// Learned tensors are constants here: nothing registers them.
Tensor fixed_numbers(IntArrayRef sizes) {
  return linspace(-0.5, 0.7, product(sizes)).reshape(sizes);
}

#define ONE(name, expression)                                    \
  Row {                                                          \
    name, one([](T x) -> Tensor { return expression; }), { x() } \
  }
#define ONE_OF(name, input, expression)                            \
  Row {                                                            \
    name, one([](T x) -> Tensor { return expression; }), { input } \
  }
#define TWO(name, a, b, expression)                                    \
  Row {                                                                \
    name, two([](T x, T y) -> Tensor { return expression; }), { a, b } \
  }

std::vector<Row> functions() {
  return {
      ONE("abs", x.abs()),
      ONE("neg", -x),
      ONE("sign", x.sign()),
      ONE("exp", x.exp()),
      ONE("log", x.abs().add(1).log()),
      ONE("sqrt", x.abs().sqrt()),
      ONE("reciprocal", x.abs().add(1).reciprocal()),
      ONE("sin", x.sin()),
      ONE("cos", x.cos()),
      ONE("tan", x.tan()),
      ONE("asin", x.sigmoid().asin()),
      ONE("acos", x.sigmoid().acos()),
      ONE("atan", x.atan()),
      ONE("sinh", x.sinh()),
      ONE("cosh", x.cosh()),
      ONE("tanh", x.tanh()),
      ONE("asinh", asinh(x)),
      ONE("acosh", acosh(x.abs().add(1.5))),
      ONE("atanh", atanh(x.sigmoid().mul(0.9))),
      ONE("erf", x.erf()),
      ONE("floor", x.floor()),
      ONE("ceil", x.ceil()),
      ONE("round", x.round()),
      ONE("trunc", x.mul(3).trunc()),
      ONE("sigmoid", x.sigmoid()),
      ONE("relu", relu(x)),
      ONE("relu", relu_(x.clone())),
      ONE("softsign", softsign(x)),
      ONE("hardswish", hardswish(x)),
      ONE("exp2", x.exp2()),
      ONE("expm1", x.expm1()),
      ONE("log2", x.abs().add(1).log2()),
      ONE("log10", x.abs().add(1).log10()),
      ONE("log1p", x.abs().log1p()),
      ONE("rsqrt", x.abs().add(1).rsqrt()),
      ONE("square", x.square()),
      ONE("relu6", relu6(x)),
      ONE("hardtanh", hardtanh(x, -0.5, 0.25)),
      ONE("clamp", x.clamp(-0.5, 0.5)),
      ONE("clamp", x.clamp(0.1)),
      ONE("clamp_min", x.clamp_min(0.2)),
      ONE("clamp_max", x.clamp_max(0.2)),
      ONE("leaky_relu", leaky_relu(x, 0.2)),
      ONE("prelu", prelu(x, fixed_numbers({3}))),
      ONE("prelu", prelu(x, fixed_numbers({1}))),
      ONE("elu", elu(x, 0.7)),
      ONE("celu", celu(x, 0.7)),
      ONE("selu", selu(x)),
      ONE("gelu", gelu(x)),
      ONE("gelu", gelu(x, "tanh")),
      ONE("silu", silu(x)),
      ONE("mish", mish(x)),
      ONE("softplus", softplus(x)),
      ONE("softplus", softplus(x, 2)),
      ONE("log_sigmoid", log_sigmoid(x)),
      ONE("hardsigmoid", hardsigmoid(x)),
      ONE("tanhshrink", tanhshrink(x)),
      ONE("softshrink", softshrink(x, 0.3)),
      ONE("hardshrink", hardshrink(x, 0.3)),
      ONE("threshold", threshold(x, 0.1, 7)),
      ONE("glu", glu(x)),
      ONE("isnan", isnan(x.div(x.sub(x)))),
      ONE("isinf", isinf(x.div(0.))),
      ONE("isfinite", isfinite(x.div(0.))),
      ONE("logical_not", x.logical_not()),
      Row{"mish", one([](T x) { return mish(x); }), {x()}, true, 18},
      Row{"gelu", one([](T x) { return gelu(x, "tanh"); }), {x()}, true, 20},
  };
}

std::vector<Row> of_two() {
  return {
      TWO("add", x(), x(), x + y),
      TWO("add", x(), x(), x.add(y, 2)),
      TWO("add", x(), whole(), x + y),
      ONE("add", x + 1.5),
      ONE("add", x.clone().add_(2)),
      TWO("sub", x(), x(), x - y),
      ONE("rsub", 1 - x),
      TWO("mul", x(), x(), x * y),
      TWO("mul", whole(), x(), x * y),
      TWO("mul", truth(), truth(), x * y),
      ONE("mul", x * 2),
      TWO("div", x(), x(), x.div(y)),
      ONE_OF("div", whole(), x.div(2)),
      ONE("div", x.div(0.3, "floor")),
      ONE("div", x.div(0.3, "trunc")),
      ONE("floor_divide", x.floor_divide(0.3)),
      ONE("remainder", x.remainder(0.3)),
      ONE_OF("remainder", whole(), x.remainder(3)),
      ONE("fmod", x.fmod(0.3)),
      ONE("pow", x.pow(2)),
      ONE("pow", x.abs().pow(0.3)),
      ONE("pow", pow(2, x)),
      TWO("maximum", x(), x(), maximum(x, y)),
      TWO("minimum", x(), x(), minimum(x, y)),
      TWO("lerp", x(), x(), x.lerp(y, 0.3)),
      TWO("addcmul", x(), x(), x.addcmul(y, y, 0.5)),
      TWO("addcdiv", x(), x(), x.addcdiv(y, y.abs().add(1), 0.5)),
      TWO("eq", whole(), whole(), x.eq(y)),
      TWO("ne", whole(), whole(), x.ne(y)),
      TWO("lt", x(), x(), x.lt(y)),
      ONE("le", x.le(0.2)),
      ONE_OF("gt", whole(), x.gt(0.5)),
      TWO("ge", x(), x(), x.ge(y)),
      TWO("logical_and", x(), truth(), x.logical_and(y)),
      TWO("logical_or", truth(), truth(), x.logical_or(y)),
      TWO("logical_xor", truth(), truth(), x.logical_xor(y)),
      TWO("bitwise_and", truth(), truth(), x.bitwise_and(y)),
      TWO("bitwise_or", truth(), truth(), x.bitwise_or(y)),
      TWO("bitwise_xor", truth(), truth(), x.bitwise_xor(y)),
      ONE_OF("bitwise_not", truth(), x.bitwise_not()),
      Row{"bitwise_and",
          two([](T x, T y) { return x.bitwise_and(y); }),
          {whole(), whole()},
          true,
          18},
      Row{"bitwise_not", one([](T x) { return x.bitwise_not(); }), {whole()}, true, 18},
      TWO("where", truth(), x(), where(x, y, 0.5)),
      TWO("where", x(), x(), where(x.gt(0), x, y)),
      TWO("masked_fill", x(), truth(), x.masked_fill(y, -1)),
  };
}

std::vector<Row> shapes() {
  return {
      ONE("view", x.view({x.size(0), -1})),
      ONE("view", x.view({x.size(0) * 3, 4})),
      ONE("reshape", x.reshape({-1, 2})),
      ONE("reshape", x.reshape({x.size(0), 2, 6})),
      ONE("flatten", x.flatten(1)),
      ONE("flatten", x.flatten()),
      ONE("unflatten", x.unflatten(2, {2, 2})),
      ONE("transpose", x.transpose(0, 2)),
      ONE("t", x.flatten(1).t()),
      ONE("permute", x.permute({2, 0, 1})),
      ONE("movedim", x.movedim(0, 2)),
      ONE("unsqueeze", x.unsqueeze(-1)),
      ONE("squeeze", x.unsqueeze(1).squeeze(1)),
      ONE("squeeze", x.unsqueeze(1).squeeze()),
      ONE("expand", x.unsqueeze(1).expand({-1, 5, -1, -1})),
      ONE("expand", fixed_numbers({1, 4}).expand({x.size(0), 4}) + x.select(1, 0)),
      ONE("clone", x.clone()),
      ONE("contiguous", x.transpose(1, 2).contiguous()),
      ONE("detach", x.detach()),
      ONE("copy", x.new_zeros(x.sizes()).copy_(x)),
      ONE("to", x.to(kDouble)),
      ONE("to", x.to(kLong)),
      ONE("repeat", x.repeat({2, 1, 3})),
      ONE("repeat", x.repeat({2, 1, 1, 1})),
      ONE("tile", x.tile({2})),
      ONE("repeat_interleave", x.repeat_interleave(2, 1)),
      ONE("flip", x.flip({1, 2})),
      ONE("roll", x.roll({1, -1}, {1, 2})),
      ONE("tril", x.tril()),
      ONE("triu", x.triu(1)),
      ONE_OF("tril", truth(), x.tril()),
  };
}

std::vector<Row> parts() {
  const auto lists = [](std::vector<Tensor> (*f)(T)) {
    return [f](const List& in) { return f(in[0]); };
  };
  return {
      ONE("select", x.select(1, -1)),
      ONE("select", x[0]),
      ONE("narrow", x.narrow(1, 1, 2)),
      ONE("narrow", x.narrow(0, 1, x.size(0) - 1)),
      ONE("slice", x.slice(2, 1, 4, 2)),
      ONE("slice", x.slice(1, -2)),
      {"split", lists([](T x) { return x.split(2, 1); }), {x()}},
      {"split",
       lists([](T x) {
         return x.split({1, 3}, 2);
       }),
       {x()}},
      {"chunk", lists([](T x) { return x.chunk(2, 2); }), {x()}},
      {"unbind", lists([](T x) { return x.unbind(1); }), {x()}},
      TWO("cat", x(), x(), cat({x, y}, 1)),
      TWO("cat", x(), whole(), cat({x, y}, 0)),
      TWO("stack", x(), x(), stack({x, y}, 1)),
      ONE("index_select", x.index_select(1, tensor({2, 0}))),
      ONE("gather", x.gather(2, x.argsort(2))),
      TWO("scatter", x(), x(), x.scatter(2, y.argsort(2), y)),
      ONE_OF("embedding", randint(5, {2, 3}, kLong), embedding(fixed_numbers({5, 4}), x)),
      ONE_OF("one_hot", randint(5, {2, 3}, kLong), one_hot(x, 5)),
      ONE("index", x.index({Slice(), 1})),
      ONE("index", x.index({"...", Slice(1, 3), None})),
      ONE("index", x.index({Slice(), tensor({2, 0}), Slice(None, None, 2)})),
      ONE_OF("pad", picture(), nn::functional::pad(x, {1, 2, 0, 1}, kConstant, 3)),
      ONE_OF("pad", picture(), nn::functional::pad(x, {1, 2, 2, 1}, kReflect)),
      ONE_OF("pad", picture().flatten(0, 1), nn::functional::pad(x, {1, 2}, kReplicate)),
      ONE_OF("pad", picture(), nn::functional::pad(x, {-1, 2}, kConstant)),
      {"pad",
       one([](T x) {
         return nn::functional::pad(x, {1, 2}, kCircular);
       }),
       {picture().flatten(0, 1)},
       true,
       19},
  };
}

std::vector<Row> made() {
  return {
      ONE("zeros", zeros({x.size(0), 3, 4}) + x),
      ONE("ones", ones({x.size(0), 1, 1}) + x),
      ONE("full", full({x.size(0), 1, 1}, 2.5) + x),
      ONE("zeros_like", zeros_like(x)),
      ONE("ones_like", ones_like(x)),
      ONE("full_like", full_like(x, 3)),
      ONE("new_zeros", x.new_zeros({x.size(0), 2})),
      ONE("new_ones", x.new_ones(x.sizes())),
      ONE("new_full", x.new_full({x.size(0)}, 7)),
      ONE("fill", x.clone().fill_(2)),
      ONE("fill", x.clone().zero_()),
      ONE("arange", arange(x.size(0))),
      ONE("arange", arange(1, 2 * x.size(0) + 1, 2, kFloat)),
      ONE("scalar_tensor", scalar_tensor(x.size(0), kFloat) + x),
  };
}

std::vector<Row> reduced() {
  const auto pairs = [](std::tuple<Tensor, Tensor> (*f)(T)) {
    return [f](const List& in) {
      const auto [a, b] = f(in[0]);
      return List{a, b};
    };
  };
  return {
      ONE("sum", x.sum()),
      ONE("sum", x.sum({0, 2}, true)),
      ONE_OF("sum", truth(), x.sum(1)),
      ONE("mean", x.mean()),
      ONE("mean", x.mean({-1})),
      ONE("prod", x.prod(1)),
      ONE("amax", x.amax({1, 2})),
      ONE("amin", x.amin(2, true)),
      ONE("logsumexp", x.logsumexp(1)),
      ONE("max", x.max()),
      ONE("min", x.min()),
      {"max", pairs([](T x) { return x.max(1); }), {x()}},
      {"min", pairs([](T x) { return x.min(1, true); }), {x()}},
      ONE("argmax", x.argmax(1)),
      ONE("argmax", x.argmax()),
      ONE("argmin", x.argmin(2, true)),
      ONE("var", x.var({1, 2})),
      ONE("var", x.var({1}, false, true)),
      ONE("std", x.std({2})),
      ONE("var_correction", var_correction(x, {1}, 0.5)),
      ONE("std_correction", std_correction(x, {1}, 0)),
      ONE("norm", x.norm()),
      ONE("norm", x.norm(1, {1}, true)),
      ONE_OF("any", truth(), x.any()),
      ONE_OF("any", truth(), x.any({}, true)),
      ONE_OF("any", truth(), x.any(IntArrayRef())),
      ONE_OF("all", truth(), x.all(1)),
      ONE_OF("all", truth(), x.all({0, 2})),
      ONE("cumsum", x.cumsum(1)),
      {"topk", pairs([](T x) { return x.topk(2, 1); }), {x()}},
      {"sort", pairs([](T x) { return x.sort(1, true); }), {x()}},
      ONE("argsort", x.argsort(2)),
      {"mean", one([](T x) { return x.mean({1}); }), {x()}, true, 18},
      {"max", pairs([](T x) { return x.max(1); }), {x()}, true, 18},
  };
}

std::vector<Row> layers() {
  const auto p = picture;
  return {
      ONE("conv1d", conv1d(x, fixed_numbers({5, 3, 2}), {}, 2, 1)),
      ONE_OF("conv2d", p(),
             conv2d(x, fixed_numbers({6, 1, 3, 2}), fixed_numbers({6}), {2, 1}, {1, 2}, {1, 2}, 3)),
      ONE_OF("conv2d", p(), conv2d(x, fixed_numbers({2, 3, 4, 3}), {}, 1, "same")),
      {"conv2d",
       one([](T x) {
         return conv2d(x, fixed_numbers({2, 3, 2, 2}));
       }),
       {randn({3, 5, 5})},
       false},
      ONE_OF("conv3d", randn({2, 2, 4, 4, 4}), conv3d(x, fixed_numbers({3, 2, 2, 2, 2}))),
      ONE("conv_transpose1d", conv_transpose1d(x, fixed_numbers({3, 2, 3}), {}, 2, 1, 1)),
      ONE_OF("conv_transpose2d", p(),
             conv_transpose2d(x, fixed_numbers({3, 2, 3, 2}), fixed_numbers({2}), 2, 1, 1)),
      ONE_OF("conv_transpose3d", randn({2, 2, 3, 3, 3}),
             conv_transpose3d(x, fixed_numbers({2, 1, 2, 2, 2}))),
      ONE_OF("batch_norm", p(),
             batch_norm(x, fixed_numbers({3}), fixed_numbers({3}), fixed_numbers({3}),
                        fixed_numbers({3}).abs(), false)),
      ONE_OF("batch_norm", p(),
             batch_norm(x, {}, {}, fixed_numbers({3}), fixed_numbers({3}).abs(), false)),
      ONE("layer_norm", layer_norm(x, {3, 4}, fixed_numbers({3, 4}), fixed_numbers({3, 4}))),
      ONE("layer_norm", layer_norm(x, {4})),
      ONE("rms_norm", rms_norm(x, {4}, fixed_numbers({4}))),
      ONE_OF("group_norm", randn({2, 6, 4, 4}),
             group_norm(x, 3, fixed_numbers({6}), fixed_numbers({6}))),
      ONE_OF("instance_norm", p(), instance_norm(x, fixed_numbers({3}), fixed_numbers({3}))),
      ONE_OF("local_response_norm", p(), local_response_norm(x, 3)),
      ONE("normalize", normalize(x)),
      ONE("normalize", normalize(x, 1, 2)),
      ONE("softmax", x.softmax(1)),
      ONE("log_softmax", x.log_softmax(-1)),
      ONE("softmin", softmin(x, 1)),
      ONE("dropout", dropout(x, 0.5, false)),
      ONE("feature_dropout", feature_dropout(x, 0.5, false)),
      ONE("alpha_dropout", alpha_dropout(x, 0.5, false)),
      ONE("feature_alpha_dropout", feature_alpha_dropout(x, 0.5, false)),
      ONE_OF("interpolate", p(),
             nn::functional::interpolate(x, {.scale_factor = std::vector<double>{2, 1.5}})),
      ONE_OF(
          "interpolate", p(),
          nn::functional::interpolate(
              x, {.size = std::vector<int64_t>{5, 11}, .mode = kBilinear, .align_corners = false})),
      ONE_OF(
          "interpolate", p(),
          nn::functional::interpolate(
              x, {.size = std::vector<int64_t>{5, 11}, .mode = kBilinear, .align_corners = true})),
      ONE_OF(
          "interpolate", p(),
          nn::functional::interpolate(
              x, {.size = std::vector<int64_t>{16, 12}, .mode = kBicubic, .align_corners = false})),
      ONE_OF("max_pool1d", randn({2, 3, 9}), max_pool1d(x, 2)),
      ONE_OF("max_pool2d", p(), max_pool2d(x, 3, 2, 1)),
      ONE_OF("max_pool2d", p(), max_pool2d(x, 3, 2, 0, 1, true)),
      ONE_OF("max_pool3d", randn({2, 2, 4, 4, 4}), max_pool3d(x, 2)),
      ONE_OF("avg_pool1d", randn({2, 3, 9}), avg_pool1d(x, 2)),
      ONE_OF("avg_pool2d", p(), avg_pool2d(x, 3, 2, 1, false, false)),
      ONE_OF("avg_pool3d", randn({2, 2, 4, 4, 4}), avg_pool3d(x, 2)),
      ONE_OF("adaptive_avg_pool1d", randn({2, 3, 9}), adaptive_avg_pool1d(x, 4)),
      ONE_OF("adaptive_avg_pool2d", p(), adaptive_avg_pool2d(x, {1, 1})),
      ONE_OF("adaptive_avg_pool2d", p(), adaptive_avg_pool2d(x, {4, 2})),
      ONE_OF("adaptive_avg_pool2d", p(), adaptive_avg_pool2d(x, {3, 8})),
      ONE_OF("adaptive_avg_pool3d", randn({2, 2, 4, 4, 4}), adaptive_avg_pool3d(x, {2, 3, 1})),
      ONE_OF("adaptive_max_pool1d", randn({2, 3, 9}), std::get<0>(adaptive_max_pool1d(x, 3))),
      ONE_OF("adaptive_max_pool2d", p(), std::get<0>(adaptive_max_pool2d(x, {2, 4}))),
      ONE_OF("adaptive_max_pool3d", randn({2, 2, 4, 4, 4}),
             std::get<0>(adaptive_max_pool3d(x, {1, 1, 1}))),
  };
}

/// (output, states ...) of a network over a batch in dimension 1; axis 0 is time.
template <class F>
Row network(const char* name, F run, int64_t directions, int64_t layers, int64_t gates,
            int64_t width = 3, int64_t hidden = 4) {
  return {name,
          [=](const List& in) {
            List weights;
            for (int64_t l = 0; l < layers; ++l)
              for (int64_t d = 0; d < directions; ++d) {
                const int64_t wide = l == 0 ? width : directions * hidden;
                weights.push_back(
                    fixed_numbers({gates * hidden, wide}).add(0.01 * static_cast<double>(d)));
                weights.push_back(fixed_numbers({gates * hidden, hidden}));
                weights.push_back(fixed_numbers({gates * hidden}));
                weights.push_back(fixed_numbers({gates * hidden}).neg());
              }
            const Tensor h = zeros({layers * directions, in[0].size(1), hidden});
            return run(in[0], h, weights, layers, directions == 2);
          },
          {randn({5, 2, width})}};
}

template <class F>
Row simple_network(const char* name, F f, int64_t directions, int64_t layers, int64_t gates) {
  return network(
      name,
      [f](T x, T h, const List& w, int64_t l, bool both) {
        const auto [y, last] = f(x, h, w, true, l, 0, false, both, false);
        return List{y, last};
      },
      directions, layers, gates);
}

std::vector<Row> recurrent() {
  const auto run_lstm = [](T x, T h, const List& w, int64_t l, bool both) {
    const auto [y, a, b] = lstm(x, List{h, h.add(0.1)}, w, true, l, 0, false, both, false);
    return List{y, a, b};
  };
  const auto first = [](T x, T h, const List& w, int64_t l, bool both) {
    const auto [y, a] = gru(x.transpose(0, 1), h, w, true, l, 0, false, both, true);
    return List{y, a};
  };
  const auto cell = [](const char* name, Tensor (*f)(T, T, T, T, T, T), int64_t gates) {
    return Row{
        name,
        [=](const List& in) {
          return List{f(in[0], in[1], fixed_numbers({gates * 4, 3}), fixed_numbers({gates * 4, 4}),
                        fixed_numbers({gates * 4}), fixed_numbers({gates * 4}))};
        },
        {randn({2, 3}), randn({2, 4})}};
  };
  return {
      network("lstm", run_lstm, 1, 1, 4),
      network("lstm", run_lstm, 2, 2, 4),
      simple_network("gru", gru, 1, 2, 3),
      network("gru", first, 2, 1, 3),
      simple_network("rnn_tanh", rnn_tanh, 2, 1, 1),
      simple_network("rnn_relu", rnn_relu, 1, 1, 1),
      {"lstm_cell",
       [](const List& in) {
         const auto [h, c] =
             lstm_cell(in[0], List{in[1], in[1]}, fixed_numbers({16, 3}), fixed_numbers({16, 4}),
                       fixed_numbers({16}), fixed_numbers({16}));
         return List{h, c};
       },
       {randn({2, 3}), randn({2, 4})}},
      cell("gru_cell", gru_cell, 3),
      cell("rnn_tanh_cell", rnn_tanh_cell, 1),
      cell("rnn_relu_cell", rnn_relu_cell, 1),
  };
}

std::vector<Row> matrices() {
  const auto attend = [](bool causal, const Tensor& mask = {}) {
    return [=](const List& in) {
      return List{scaled_dot_product_attention(in[0], in[1], in[2], mask, 0, causal)};
    };
  };
  const List qkv{randn({2, 3, 5, 4}), randn({2, 3, 5, 4}), randn({2, 3, 5, 4})};
  const Tensor nowhere = arange(25).reshape({5, 5}).ge(5);  // the first row looks nowhere
  return {
      ONE("mm", x.flatten(1).mm(fixed_numbers({12, 5}))),
      ONE("mv", x.flatten(1).mv(fixed_numbers({12}))),
      TWO("bmm", x(), x(), x.bmm(y.transpose(1, 2))),
      ONE("matmul", x.matmul(fixed_numbers({4, 2}))),
      {"dot", two([](T x, T y) { return x.dot(y); }), {randn({4}), randn({4})}, false},
      ONE("linear", linear(x, fixed_numbers({5, 4}), fixed_numbers({5}))),
      ONE("linear", linear(x.flatten(1), fixed_numbers({5, 12}), fixed_numbers({5}))),
      ONE("linear", linear(x, fixed_numbers({5, 4}))),
      ONE("addmm", addmm(fixed_numbers({5}), x.flatten(1), fixed_numbers({12, 5}), 0.5, 2)),
      ONE("addmv", addmv(fixed_numbers({1}), x.flatten(1), fixed_numbers({12}), 0.5)),
      TWO("baddbmm", x(), x(), baddbmm(fixed_numbers({3, 3}), x, y.transpose(1, 2), 2, 0.5)),
      TWO("einsum", x(), x(), einsum("bij,bkj->bik", {x, y})),
      {"scaled_dot_product_attention", attend(false), qkv},
      {"scaled_dot_product_attention", attend(true), qkv},
      {"scaled_dot_product_attention", attend(false, nowhere), qkv},
      {"scaled_dot_product_attention", attend(false, fixed_numbers({5, 5})), qkv},
  };
}
#undef ONE
#undef ONE_OF
#undef TWO

std::vector<Row> rows() {
  manual_seed(10);
  std::vector<Row> out;
  for (auto table : {functions, of_two, shapes, parts, made, reduced, layers, recurrent, matrices})
    for (Row& row : table()) out.push_back(std::move(row));
  return out;
}

TEST(Operations, ComputeTheSameAfterTheyWereWrittenAndRead) {
  int number = 0;
  for (const Row& row : rows()) {
    ExportOptions options = row.open ? open_batch(row.inputs.size()) : ExportOptions();
    options.opset_version = row.opset;
    EXPECT_LE(error_of_round_trip(row.function, row.inputs, options), 1e-6) << row.operation;
    keep_files("operation_" + std::to_string(number++) + "_" + row.operation,
               graph_of(row.function, row.inputs, options), 0, row.inputs,
               row.function(row.inputs));
  }
}

TEST(Operations, HaveARowEach) {
  std::set<std::string> missing;
  for (const std::string& name : exportable_operations()) missing.insert(name);
  for (const Row& row : rows()) missing.erase(row.operation);
  EXPECT_THAT(missing, testing::IsEmpty());
}

}  // namespace
}  // namespace taeda::onnx
