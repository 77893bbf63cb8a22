// Optimizers with sparse gradients, and models with sparse tensors, against PyTorch.
#include "taeda/ops/sparse/sparse.h"

#include <gtest/gtest.h>

#include <map>

#include "taeda/amp/grad_scaler.h"
#include "taeda/device/sim.h"
#include "taeda/nn/modules/embedding.h"
#include "taeda/nn/utils.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/optim/optim.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"
#include "tests/values.h"

namespace taeda::optim {
namespace {

#include "sparse_models.inc"

using nn::Embedding;
using nn::EmbeddingOptions;

void expect_near(const std::string& name, const std::vector<double>& got) {
  const std::vector<double>& want = sparse_models.at(name);
  ASSERT_EQ(got.size(), want.size()) << name;
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-9) << name << ", " << i;
}

Tensor sines(int64_t rows, int64_t columns, double a, double b) {
  const Tensor i = arange(rows, kDouble).unsqueeze(1), j = arange(columns, kDouble);
  return i.mul(a).add(j.mul(b)).add(0.3).sin();
}

struct Graph {
  Tensor indices, weights;
};

Graph ring() {
  std::vector<int64_t> from, to;
  const auto edge = [&](int64_t a, int64_t b) { from.push_back(a), to.push_back(b); };
  std::vector<std::pair<int64_t, int64_t>> edges;
  for (int64_t i = 0; i < 7; ++i) edges.emplace_back(i, (i + 1) % 7);
  edges.emplace_back(0, 3), edges.emplace_back(2, 5);
  for (const auto& [a, b] : edges) edge(a, b);
  for (const auto& [a, b] : edges) edge(b, a);
  for (int64_t i = 0; i < 7; ++i) edge(i, i);
  const auto n = static_cast<int64_t>(from.size());
  return {stack({tensor(from), tensor(to)}), arange(n, kDouble).mul(0.3).cos().abs().add(0.1)};
}

TEST(SparseModels, GraphConvolution) {
  const auto [indices, weights] = ring();
  const Tensor x = sines(7, 3, 0.7, 1.3), y = sines(7, 2, 1.1, 0.4);
  std::vector<Tensor> params = {weights, sines(3, 4, 0.9, 2.1), sines(4, 2, 1.7, 0.6)};
  for (const Tensor& p : params) p.requires_grad_();
  SGD optimizer(params, SGDOptions(0.05).momentum(0.9));
  std::vector<double> losses;
  for (int step = 0; step < 20; ++step) {
    const Tensor a = sparse_coo_tensor(indices, params[0], {7, 7});
    const Tensor hidden = sparse::mm(a, x.mm(params[1])).tanh();
    const Tensor loss = sparse::mm(a, hidden.mm(params[2])).sub(y).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  expect_near("convolution", losses);
  expect_near("convolution edges", values<double>(params[0].grad()));
}

TEST(SparseModels, SoftmaxOverEdges) {
  const auto [indices, weights] = ring();
  const Tensor scaled = weights.mul(3).requires_grad_();
  const Tensor a = sparse_coo_tensor(indices, scaled, {7, 7}).coalesce();
  const Tensor out = sparse::mm(sparse::softmax(a, 1), sines(7, 2, 0.7, 1.3));
  out.square().sum().backward();
  expect_near("spread", values<double>(out));
  expect_near("spread gradient", values<double>(scaled.grad()));
}

/// Trains as tests/golden/sparse_models.py does, on any device.
template <class Make>
void check_embedding(const std::string& name, const Make& make, EmbeddingOptions options,
                     Device device = kCPU) {
  options.sparse = true;
  Embedding table(options);
  table->to(kDouble);
  {
    NoGradGuard guard;
    table->weight.copy_(sines(9, 3, 0.9, 2.1));
  }
  table->to(device);
  auto optimizer = make(table->parameters());
  std::vector<double> losses;
  for (int64_t step = 0; step < 20; ++step) {
    const Tensor words = tensor({{step % 9, int64_t{3}, int64_t{1}},
                                 {(2 * step) % 5, int64_t{3}, (step * step) % 9}})
                             .to(device);
    const Tensor target = sines(2, 3, 0.3 * static_cast<double>(step), 0.5).to(device);
    const Tensor loss = table(words).tanh().sum({1}).sub(target).square().mean();
    optimizer.zero_grad();
    loss.backward();
    EXPECT_TRUE(table->weight.grad().is_sparse());
    optimizer.step();
    losses.push_back(loss.template item<double>());
  }
  expect_near(name, losses);
  expect_near(name + " weight", values<double>(table->weight));
}

TEST(SparseModels, EmbeddingsTrain) {
  const EmbeddingOptions plain{.num_embeddings = 9, .embedding_dim = 3};
  using Params = std::vector<Tensor>;
  const auto adam = [](Params p) { return SparseAdam(p, SparseAdamOptions(0.05)); };
  check_embedding("sparse adam", adam, plain);
  check_embedding("sparse adam", adam, plain, kSim);
  check_embedding(
      "sparse adam betas",
      [](Params p) {
        return SparseAdam(p, SparseAdamOptions(0.05).betas(std::make_tuple(0.7, 0.9)).eps(1e-4));
      },
      plain);
  const auto adagrad = [](Params p) {
    return Adagrad(p, AdagradOptions(0.3).lr_decay(0.1).initial_accumulator_value(0.1));
  };
  check_embedding("adagrad", adagrad, plain);
  check_embedding("adagrad", adagrad, plain, kSim);
  check_embedding(
      "sgd", [](Params p) { return SGD(p, SGDOptions(0.3)); }, plain);
  check_embedding(
      "sgd momentum", [](Params p) { return SGD(p, SGDOptions(0.1).momentum(0.8)); }, plain);
  check_embedding("padding", adam, {.num_embeddings = 9, .embedding_dim = 3, .padding_idx = 3});
}

TEST(SparseModels, BagsTrain) {
  nn::EmbeddingBag table({.num_embeddings = 6, .embedding_dim = 2, .mode = kMean, .sparse = true});
  table->to(kDouble);
  {
    NoGradGuard guard;
    table->weight.copy_(sines(6, 2, 0.9, 2.1));
  }
  SparseAdam optimizer(table->parameters(), SparseAdamOptions(0.1));
  for (int64_t step = 0; step < 10; ++step) {
    const Tensor words = tensor(std::vector<int64_t>{0, 1, step % 6, 3, 3, 5});
    const Tensor loss = table(words, tensor({0, 2, 2, 4})).square().sum();
    optimizer.zero_grad();
    loss.backward();
    EXPECT_TRUE(table->weight.grad().is_sparse());
    optimizer.step();
  }
  expect_near("bags weight", values<double>(table->weight));
}

/// A parameter [4, 2] with a sparse gradient of rows 1 and 3, the latter twice.
Tensor looked_up() {
  const Tensor w = ones({4, 2}).requires_grad_();
  embedding(w, tensor({1, 3, 3}), -1, false, true).sum().backward();
  return w;
}

TEST(SparseSteps, OthersRefuse) {
  const auto text = [](auto make) {
    const Tensor w = looked_up();
    auto optimizer = make(std::vector<Tensor>{w});
    const std::string said = error_of([&] { optimizer.step(); });
    EXPECT_EQ(w.sum().item<float>(), 8) << said;  // nothing has changed
    return said;
  };
  using Params = std::vector<Tensor>;
  EXPECT_EQ(text([](Params p) { return Adam(p); }),
            "Adam does not support sparse gradients, please consider SparseAdam instead");
  EXPECT_EQ(text([](Params p) { return RMSprop(p); }), "RMSprop does not support sparse gradients");
  EXPECT_EQ(text([](Params p) { return Adamax(p); }), "Adamax does not support sparse gradients");
  EXPECT_EQ(text([](Params p) { return Lion(p); }), "Lion does not support sparse gradients");
  EXPECT_EQ(text([](Params p) { return SGD(p, SGDOptions(0.1).weight_decay(0.1)); }),
            "weight_decay option is not compatible with sparse gradients");
  EXPECT_EQ(text([](Params p) { return Adagrad(p, AdagradOptions().weight_decay(0.1)); }),
            "weight_decay option is not compatible with sparse gradients");
  const Tensor w = ones({2}).requires_grad_();
  w.sum().backward();
  SparseAdam dense({w});
  EXPECT_EQ(error_of([&] { dense.step(); }),
            "SparseAdam does not support dense gradients, please consider Adam instead");
  const Tensor s = sparse_coo_tensor({2, 2});
  EXPECT_EQ(error_of([&] { SparseAdam({s}); }),
            "Sparse params at indices [0]: SparseAdam requires dense parameter tensors");
  EXPECT_EQ(error_of([&] { SparseAdam({w}, SparseAdamOptions(-1)); }), "Invalid learning rate: -1");
}

/// Rows without a gradient keep their values and moments.
TEST(SparseSteps, AreLazy) {
  const Tensor w = looked_up();
  SparseAdam optimizer({w}, SparseAdamOptions(0.1));
  optimizer.step();
  const auto& state = static_cast<const SparseAdamParamState&>(optimizer.state(w));
  EXPECT_EQ(values<float>(w.select(0, 0)), (std::vector<float>{1, 1}));
  EXPECT_NEAR(w.select(0, 3).select(0, 0).item<float>(), 0.9, 1e-6);
  EXPECT_NEAR(state.exp_avg().select(0, 3).select(0, 0).item<float>(), 0.2, 1e-6);
  EXPECT_EQ(state.exp_avg().select(0, 0).sum().item<float>(), 0);
  EXPECT_EQ(state.step(), 1);
}

TEST(SparseSteps, StateGoesOn) {
  const Tensor a = looked_up(), b = looked_up();
  SparseAdam one({a}, SparseAdamOptions(0.1)), two({b}, SparseAdamOptions(0.1));
  one.step(), one.step(), one.step();
  two.step();
  const Tensor c = b.detach().clone().requires_grad_();
  c.mutable_grad() = b.grad();
  SparseAdam three({c}, SparseAdamOptions(0.5));
  three.load_state_dict(two.state_dict());
  three.step(), three.step();
  EXPECT_EQ(values<float>(c), values<float>(a));
  EXPECT_EQ(two.state_dict().kind, "SparseAdam");
  EXPECT_TRUE(two.state_dict().tensors.contains("state.0.exp_avg_sq"));
}

TEST(SparseSteps, GradientsAreClippedAndScaled) {
  const Tensor w = looked_up();  // 1, 1 and 2, 2
  EXPECT_NEAR(nn::utils::clip_grad_norm_({w}, 1), std::sqrt(10.0), 1e-6);
  ASSERT_TRUE(w.grad().is_sparse());
  EXPECT_NEAR(w.grad().norm().item<float>(), 1, 1e-5);
  nn::utils::clip_grad_value_({w}, 0.5);
  EXPECT_NEAR(w.grad().to_dense().max().item<float>(), 0.5, 1e-6);

  const Tensor p = ones({4, 2}).requires_grad_();
  SGD optimizer({p}, SGDOptions(1));
  amp::GradScaler scaler(kCPU, 8);
  scaler.scale(embedding(p, tensor({1, 3, 3}), -1, false, true).sum()).backward();
  scaler.step(optimizer);
  EXPECT_EQ(values<float>(p), (std::vector<float>{1, 1, 0, 0, 1, 1, -1, -1}));
  optimizer.zero_grad(/*set_to_none=*/false);
  EXPECT_EQ(p.grad()._nnz(), 0);
}

}  // namespace
}  // namespace taeda::optim
