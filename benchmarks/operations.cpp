// Single operations: overhead of small ones, throughput of large ones.
#include <cmath>

#include "harness.h"

using bench::keep;
using torch::Tensor;

namespace {

void overhead(bench::Runner& r) {
  const Tensor a = torch::ones({1}), b = torch::ones({1}), g = torch::ones({1}).requires_grad_();
  const Tensor v = torch::ones({64}), w = torch::ones({64}), m = torch::ones({16, 16});
  const Tensor vg = torch::ones({64}).requires_grad_();
  r.run("overhead/add_1", [&] { keep(a + b); });
  r.run("overhead/add_1_grad", [&] { keep(g + b); });
  r.run("overhead/add_64", [&] { keep(v + w); });
  r.run("overhead/add_64_grad", [&] { keep(vg + w); });
  r.run("overhead/view", [&] { keep(m.view({256})); });
  r.run("overhead/select", [&] { keep(m.select(0, 3)); });
  r.run("overhead/transpose", [&] { keep(m.transpose(0, 1)); });
  r.run("overhead/slice", [&] { keep(m.slice(0, 2, 8)); });
  r.run("overhead/empty", [&] { keep(torch::empty({64})); });
  r.run("overhead/zeros", [&] { keep(torch::zeros({64})); });
  r.run("overhead/item", [&] {
    volatile float x = a.item<float>();
    (void)x;
  });
  r.run("overhead/chain10_forward", [&] {
    Tensor y = vg;
    for (int i = 0; i < 10; ++i) y = y * w;
    keep(y);
  });
  r.run("overhead/chain10_forward_backward", [&] {
    Tensor y = vg;
    for (int i = 0; i < 10; ++i) y = y * w;
    y.backward(w);
  });
}

void elementwise(bench::Runner& r) {
  for (int64_t n : {1000, 100000, 10000000}) {
    const std::string size = std::to_string(n);
    if (!r.wants_any("elementwise/") && !r.wants_any("random/")) return;
    const Tensor x = torch::rand({n}) + 0.1, y = torch::rand({n}) + 0.1;
    r.run("elementwise/add_" + size, [&] { keep(x + y); });
    r.run("elementwise/mul_scalar_" + size, [&] { keep(x * 2.5); });
    r.run("elementwise/relu_" + size, [&] { keep(torch::relu(x)); });
    r.run("elementwise/exp_" + size, [&] { keep(torch::exp(x)); });
    r.run("elementwise/tanh_" + size, [&] { keep(torch::tanh(x)); });
    r.run("elementwise/gelu_" + size, [&] { keep(torch::gelu(x)); });
    r.run("elementwise/add_inplace_" + size, [&] { x.add_(y, 1e-9); });
    r.run("elementwise/clone_" + size, [&] { keep(x.clone()); });
    r.run("elementwise/sum_" + size, [&] { keep(x.sum()); });
    r.run("random/rand_" + size, [&] { keep(torch::rand({n})); });
    r.run("random/randn_" + size, [&] { keep(torch::randn({n})); });
    r.run("random/dropout_" + size, [&] { keep(torch::dropout(x, 0.5, true)); });
  }
}

void reductions(bench::Runner& r) {
  if (!r.wants_any("reduce/")) return;
  const Tensor m = torch::rand({2048, 1024});
  r.run("reduce/sum_dim0", [&] { keep(m.sum(0)); });
  r.run("reduce/sum_dim1", [&] { keep(m.sum(1)); });
  r.run("reduce/max_dim1", [&] { keep(std::get<0>(m.max(1))); });
  r.run("reduce/argmax_dim1", [&] { keep(m.argmax(1)); });
  r.run("reduce/softmax_dim0", [&] { keep(m.softmax(0)); });
  r.run("reduce/softmax_dim1", [&] { keep(m.softmax(1)); });
  r.run("reduce/permute_contiguous", [&] {
    keep(m.view({32, 64, 32, 32}).permute({0, 2, 3, 1}).contiguous());
  });
  const Tensor w = torch::ones({1024}), b = torch::zeros({1024});
  r.run("reduce/layer_norm", [&] { keep(torch::layer_norm(m, {1024}, w, b)); });
  const Tensor x = torch::rand({64, 32, 32, 32}).requires_grad_();
  const Tensor scale = torch::ones({32}).requires_grad_(),
               shift = torch::zeros({32}).requires_grad_();
  const Tensor mean = torch::zeros({32}), var = torch::ones({32}),
               g = torch::ones({64, 32, 32, 32});
  r.run("reduce/batch_norm_forward_backward", [&] {
    torch::nn::functional::batch_norm(
        x, mean, var,
        torch::nn::functional::BatchNormFuncOptions().weight(scale).bias(shift).training(true))
        .backward(g);
  });
  const Tensor logits = torch::rand({1000, 10}).requires_grad_(),
               target = torch::randint(0, 10, {1000}, torch::kLong);
  r.run("reduce/cross_entropy_1000x10",
        [&] { torch::nn::functional::cross_entropy(logits, target).backward(); });
  const Tensor wide = torch::rand({64, 50000}).requires_grad_(),
               labels = torch::randint(0, 50000, {64}, torch::kLong);
  r.run("reduce/cross_entropy_64x50000",
        [&] { torch::nn::functional::cross_entropy(wide, labels).backward(); });
}

void products(bench::Runner& r) {
  for (int64_t n : {64, 128, 256, 512, 1024, 2048}) {
    if (!r.wants_any("matmul/")) return;
    const Tensor a = torch::rand({n, n}), b = torch::rand({n, n});
    r.run("matmul/mm_" + std::to_string(n), [&] { keep(a.mm(b)); });
  }
  const struct {
    int64_t batch, in, out;
  } layers[] = {{4, 16, 16}, {32, 100, 50}, {128, 784, 512}, {2048, 768, 3072}};
  for (const auto& l : layers) {
    const Tensor x = torch::rand({l.batch, l.in}).requires_grad_(),
                 w = torch::rand({l.out, l.in}).requires_grad_(),
                 b = torch::rand({l.out}).requires_grad_(), g = torch::ones({l.batch, l.out});
    const std::string name =
        std::to_string(l.batch) + "x" + std::to_string(l.in) + "x" + std::to_string(l.out);
    r.run("matmul/linear_" + name, [&] {
      torch::NoGradGuard guard;
      keep(torch::linear(x, w, b));
    });
    r.run("matmul/linear_forward_backward_" + name, [&] { torch::linear(x, w, b).backward(g); });
  }
  const Tensor p = torch::rand({32, 128, 64}), q = torch::rand({32, 64, 128});
  r.run("matmul/bmm_32x128x64x128", [&] { keep(p.bmm(q)); });
}

void convolutions(bench::Runner& r) {
  const struct {
    const char* name;
    int64_t n, in, out, size, k, pad, stride;
  } layers[] = {
      {"lenet1_b64", 64, 1, 6, 28, 5, 0, 1},  {"lenet2_b64", 64, 6, 12, 12, 5, 0, 1},
      {"rgb16_b32", 32, 3, 16, 32, 3, 1, 1},  {"64to64_b32", 32, 64, 64, 32, 3, 1, 1},
      {"resnet1_b4", 4, 3, 64, 224, 7, 3, 2}, {"resnet_layer4_b4", 4, 512, 512, 7, 3, 1, 1}};
  for (const auto& l : layers) {
    if (!r.wants_any("conv/")) return;
    const Tensor x = torch::rand({l.n, l.in, l.size, l.size}),
                 w = (torch::rand({l.out, l.in, l.k, l.k}) - 0.5).requires_grad_(),
                 b = torch::zeros({l.out}).requires_grad_();
    const std::string name = std::string("conv/") + l.name;
    const auto run = [&](const Tensor& in) { return torch::conv2d(in, w, b, l.stride, l.pad); };
    r.run(name + "_forward", [&] {
      torch::NoGradGuard guard;
      keep(run(x));
    });
    const Tensor g = torch::ones_like(run(x)).detach(), xg = x.clone().requires_grad_();
    r.run(name + "_forward_backward_weights", [&] { run(x).backward(g); });
    r.run(name + "_forward_backward_all", [&] { run(xg).backward(g); });
  }
  if (!r.wants_any("pool/")) return;
  const Tensor x = torch::rand({32, 64, 32, 32});
  r.run("pool/max_pool2d", [&] { keep(torch::max_pool2d(x, 2)); });
}

/// Attention from a product, a softmax and a product.
Tensor composed_attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
  Tensor scores = (q / std::sqrt(static_cast<double>(q.size(-1)))).matmul(k.transpose(-2, -1));
  if (causal)
    scores =
        scores.masked_fill(torch::ones({q.size(-2), k.size(-2)}, torch::kBool).triu(1), -INFINITY);
  return scores.softmax(-1).matmul(v);
}

/// The library's own, if it has one (libtorch since 2.0).
template <class T>
T own_attention(const T& q, const T& k, const T& v, bool causal) {
  if constexpr (requires { scaled_dot_product_attention(q, k, v, T(), 0.0, causal); })
    return scaled_dot_product_attention(q, k, v, T(), 0.0, causal);
  else
    return composed_attention(q, k, v, causal);
}

void attention(bench::Runner& r) {
  const struct {
    int64_t batch, heads, queries, keys, width;
    bool causal;
  } shapes[] = {{8, 8, 512, 512, 64, false}, {8, 8, 512, 512, 64, true},
                {8, 4, 128, 128, 64, true},  {1, 4, 2048, 2048, 64, true},
                {8, 8, 1, 512, 64, false},   {8, 4, 16, 16, 16, true}};
  for (const auto& s : shapes) {
    if (!r.wants_any("attention/")) return;
    const auto leaf = [&](int64_t rows) {
      return torch::rand({s.batch, rows, s.heads * s.width}).requires_grad_();
    };
    const auto heads = [&](const Tensor& t) {
      return t.view({s.batch, t.size(1), s.heads, s.width}).transpose(1, 2);
    };
    const Tensor q = leaf(s.queries), k = leaf(s.keys), v = leaf(s.keys),
                 g = torch::rand({s.batch, s.heads, s.queries, s.width});
    const std::string name = std::to_string(s.batch) + "x" + std::to_string(s.heads) + "x" +
                             std::to_string(s.queries) + "x" + std::to_string(s.keys) + "x" +
                             std::to_string(s.width) + (s.causal ? "_causal" : "");
    const auto both = [&](const std::string& kind, const auto& attend) {
      r.run("attention/" + kind + "_forward_" + name, [&] {
        torch::NoGradGuard guard;
        keep(attend(heads(q), heads(k), heads(v), s.causal));
      });
      r.run("attention/" + kind + "_forward_backward_" + name,
            [&] { attend(heads(q), heads(k), heads(v), s.causal).backward(g); });
    };
    both("own", own_attention<Tensor>);
    both("composed", composed_attention);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner runner(bench::parse(argc, argv));
  torch::manual_seed(0);
  overhead(runner);
  elementwise(runner);
  reductions(runner);
  products(runner);
  convolutions(runner);
  attention(runner);
}
