// Operations of sparse tensors against the same operations of dense ones, on random tensors, and
// their gradients.
#include <gtest/gtest.h>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/device/generator.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Tensors = std::vector<Tensor>;

/// Random elements of a tensor of `sizes`, equal ones among them.
Tensor random_sparse(IntArrayRef sizes, int64_t sparse_dim, int64_t nnz, ScalarType dtype) {
  Tensors rows;
  DimVector shape{nnz};
  for (size_t d = 0; d < sizes.size(); ++d)
    if (static_cast<int64_t>(d) < sparse_dim)
      rows.push_back(randint(sizes[d], {nnz}, kLong));
    else
      shape.push_back(sizes[d]);
  return sparse_coo_tensor(stack(rows), randn(shape, dtype), sizes);
}

/// The same operation takes a tensor, sparse or dense.
using Operation = std::function<Tensor(const Tensor&)>;

std::vector<std::pair<std::string, Operation>> operations_of_one() {
  const auto row = [](const char* name, Tensor (Tensor::*method)() const) {
    return std::pair<std::string, Operation>(name,
                                             [method](const Tensor& t) { return (t.*method)(); });
  };
  std::vector<std::pair<std::string, Operation>> out = {
      row("abs", &Tensor::abs),     row("neg", &Tensor::neg),       row("sin", &Tensor::sin),
      row("tanh", &Tensor::tanh),   row("sinh", &Tensor::sinh),     row("asinh", &Tensor::asinh),
      row("atan", &Tensor::atan),   row("erf", &Tensor::erf),       row("expm1", &Tensor::expm1),
      row("sign", &Tensor::sign),   row("square", &Tensor::square), row("relu", &Tensor::relu),
      row("floor", &Tensor::floor), row("ceil", &Tensor::ceil),     row("trunc", &Tensor::trunc),
  };
  const auto add = [&](const char* name, Operation f) { out.emplace_back(name, std::move(f)); };
  add("mul.number", [](const Tensor& t) { return t.mul(2.5); });
  add("mul.0-dim",
      [](const Tensor& t) { return t.mul(tensor(1.5, t.options().layout(kStrided))); });
  add("div.number", [](const Tensor& t) { return t.div(4); });
  add("div.0-dim",
      [](const Tensor& t) { return t.div(tensor(2.0, t.options().layout(kStrided))); });
  add("div.floor", [](const Tensor& t) { return t.div(0.5, "floor"); });
  add("pow", [](const Tensor& t) { return t.pow(3); });
  add("clone", [](const Tensor& t) { return t.clone(); });
  add("add.itself", [](const Tensor& t) { return t.add(t, 0.5); });
  add("sub.itself", [](const Tensor& t) { return t.mul(3).sub(t); });
  add("unsqueeze.0", [](const Tensor& t) { return t.unsqueeze(0); });
  add("unsqueeze.-1", [](const Tensor& t) { return t.unsqueeze(-1); });
  add("select", [](const Tensor& t) { return t.select(0, 1); });
  add("select.last", [](const Tensor& t) { return t.select(-1, -1); });
  add("index_select", [](const Tensor& t) {
    return t.index_select(0, tensor({2, 0, 2}, TensorOptions(kLong)));
  });
  add("index_select.last", [](const Tensor& t) {
    return t.index_select(-1, tensor({1, 0}, TensorOptions(kLong)));
  });
  add("sum", [](const Tensor& t) { return t.sum(); });
  add("sum.0", [](const Tensor& t) { return t.sum({0}); });
  add("sum.-1", [](const Tensor& t) { return t.sum({-1}); });
  add("sum.0 and 1", [](const Tensor& t) { return t.sum({0, 1}); });
  add("sum.keepdim", [](const Tensor& t) { return t.sum({0}, true); });
  add("sum.all keepdim", [](const Tensor& t) { return t.sum({0, 1, 2}, true); });
  add("sum.dtype", [](const Tensor& t) { return t.sum({1}, false, kDouble); });
  add("norm", [](const Tensor& t) { return t.norm(); });
  add("cat.0", [](const Tensor& t) { return cat({t, t.mul(2)}); });
  add("cat.-1", [](const Tensor& t) { return cat({t, t.mul(2)}, -1); });
  add("stack", [](const Tensor& t) { return stack({t, t}); });
  return out;
}

TEST(SparseRandom, FunctionsOfOneTensor) {
  manual_seed(3);
  for (int64_t sparse_dim = 1; sparse_dim <= 3; ++sparse_dim) {
    for (const int64_t nnz : {0, 1, 9}) {
      const Tensor s = random_sparse({3, 4, 2}, sparse_dim, nnz, kDouble), d = s.to_dense();
      for (const auto& [name, f] : operations_of_one()) {
        SCOPED_TRACE(name + " of " + std::to_string(nnz) + " elements in " +
                     std::to_string(sparse_dim) + " dimensions");
        const Tensor got = f(s), want = f(d);
        EXPECT_EQ(got.dtype(), want.dtype());
        expect_same(got.to_dense(), want, 1e-12);
        if (got.is_sparse()) expect_same(got.coalesce().to_dense(), want, 1e-12);
      }
    }
  }
}

TEST(SparseRandom, TransposedAndPermuted) {
  manual_seed(4);
  const Tensor s = random_sparse({3, 4, 2}, 3, 10, kFloat), d = s.to_dense();
  expect_same(s.transpose(0, 2).to_dense(), d.transpose(0, 2));
  expect_same(s.permute({2, 0, 1}).coalesce().to_dense(), d.permute({2, 0, 1}));
  const Tensor h = random_sparse({3, 4, 2, 5}, 2, 6, kFloat);
  expect_same(h.transpose(0, 1).to_dense(), h.to_dense().transpose(0, 1));
  expect_same(h.transpose(2, 3).to_dense(), h.to_dense().transpose(2, 3));
  expect_same(h.permute({1, 0, 3, 2}).to_dense(), h.to_dense().permute({1, 0, 3, 2}));
}

TEST(SparseRandom, FunctionsOfTwoTensors) {
  manual_seed(5);
  for (const int64_t nnz : {0, 3, 20}) {
    const Tensor a = random_sparse({4, 5}, 2, nnz, kDouble),
                 b = random_sparse({4, 5}, 2, 7, kDouble), d = randn({4, 5}, kDouble);
    const Tensor x = a.to_dense(), y = b.to_dense();
    expect_same(a.add(b, -0.5).to_dense(), x.add(y, -0.5), 1e-12);
    expect_same(a.coalesce().add(b.coalesce()).values().sum(), x.add(y).sum(), 1e-12);
    expect_same(a.mul(b).to_dense(), x.mul(y), 1e-12);
    expect_same(a.mul(d).to_dense(), x.mul(d), 1e-12);
    expect_same(d.mul(a).to_dense(), x.mul(d), 1e-12);
    expect_same(d.add(a, 2), d.add(x, 2), 1e-12);
    expect_same(d.sub(a), d.sub(x), 1e-12);
    expect_same(d.sparse_mask(a.coalesce()).to_dense(), d.mul(x.ne(0)), 1e-12);
  }
}

TEST(SparseRandom, Products) {
  manual_seed(6);
  for (const int64_t nnz : {0, 1, 15}) {
    const Tensor a = random_sparse({6, 5}, 2, nnz, kDouble),
                 b = random_sparse({5, 7}, 2, 12, kDouble);
    const Tensor d = randn({5, 3}, kDouble), x = a.to_dense();
    expect_same(a.mm(d), x.mm(d), 1e-12);
    expect_same(a.matmul(d), x.mm(d), 1e-12);
    expect_same(sparse::mm(a, d.t().contiguous().t()), x.mm(d), 1e-12);
    expect_same(a.mm(b).to_dense(), x.mm(b.to_dense()), 1e-12);
    expect_same(d.t().mm(b), d.t().mm(b.to_dense()), 1e-12);
    expect_same(a.mv(d.select(1, 0)), x.mv(d.select(1, 0)), 1e-12);
    const Tensor c = randn({6, 3}, kDouble), row = randn({3}, kDouble);
    expect_same(addmm(c, a, d, 0.5, 2), addmm(c, x, d, 0.5, 2), 1e-12);
    expect_same(sparse::addmm(row, a, d), addmm(row, x, d), 1e-12);
    const Tensor into = c.clone();
    expect_same(into.addmm_(a, d), addmm(c, x, d), 1e-12);
    expect_same(hspmm(a, d).to_dense(), x.mm(d), 1e-12);
    expect_same(smm(a, d).to_dense(), x.mm(d), 1e-12);
  }
}

/// Elements that are not there count for minus infinity, and rows without any stay empty.
TEST(SparseRandom, Softmax) {
  manual_seed(7);
  const Tensor s = random_sparse({4, 5, 2}, 2, 9, kDouble).coalesce(), d = s.to_dense();
  const Tensor missing = ones({9}, kDouble)[0].expand({4, 5, 2}).sub(
      sparse_coo_tensor(s.indices(), ones_like(s.values()), {4, 5, 2}).to_dense());
  const Tensor masked = d.masked_fill(missing.ne(0), -std::numeric_limits<double>::infinity());
  for (const int64_t dim : {0, 1}) {
    const Tensor want = masked.softmax(dim);
    expect_same(sparse::softmax(s, dim).to_dense(), want.masked_fill(missing.ne(0), 0), 1e-12);
    expect_same(sparse::log_softmax(s, dim).values().exp(), sparse::softmax(s, dim).values(),
                1e-12);
  }
  expect_same(sparse::softmax(s, 2).values(), s.values().softmax(1), 1e-12);
  EXPECT_EQ(sparse::softmax(s.to(kFloat), 0, kDouble).dtype(), kDouble);
  expect_same(sparse::sum(s), d.sum(), 1e-12);
  expect_same(sparse::sum(s, {0}).to_dense(), d.sum({0}), 1e-12);
}

TEST(SparseRandom, WholeNumbers) {
  const Tensor s = sparse_coo_tensor(tensor({{0, 1, 1}}), tensor({1, 2, 3}), {2});
  EXPECT_EQ(s.sum().dtype(), kLong);
  EXPECT_EQ(longs(s.add(s).to_dense()), (std::vector<int64_t>{2, 10}));
  EXPECT_EQ(s.to(kInt).sum().dtype(), kLong);
  EXPECT_EQ(s.mul(0.5).dtype(), kFloat);
  EXPECT_EQ(s.sqrt().dtype(), kFloat);
}

// ---- gradients ----

/// Gradients of f(values, dense), where f makes a sparse matrix of the values.
void check_gradients(const char* name, const std::function<Tensor(const Tensor&, const Tensor&)>& f,
                     std::vector<int64_t> dense = {3, 2}, std::vector<int64_t> values = {5}) {
  SCOPED_TRACE(name);
  manual_seed(8);
  const Tensor v = rand(values, kDouble).add(0.1).requires_grad_(),
               d = rand(dense, kDouble).add(0.1).requires_grad_();
  const auto dense_result = [&](const Tensors& in) { return Tensors{f(in[0], in[1]).to_dense()}; };
  EXPECT_TRUE(autograd::gradcheck(dense_result, {v, d})) << name;
  EXPECT_TRUE(autograd::gradgradcheck(dense_result, {v, d})) << name;
}

Tensor matrix(const Tensor& values) {
  return sparse_coo_tensor(tensor({{0, 3, 1, 3, 0}, {2, 1, 0, 1, 0}}), values, {4, 3});
}

TEST(SparseGradients, Checked) {
  using T = const Tensor&;
  check_gradients("to_dense", [](T v, T d) { return matrix(v).to_dense().mm(d); });
  check_gradients("coalesce", [](T v, T d) { return matrix(v).coalesce().values().sum().mul(d); });
  check_gradients("mm", [](T v, T d) { return matrix(v).mm(d); });
  check_gradients("mm.right", [](T v, T d) { return d.t().mm(matrix(v).t()); });
  check_gradients("mm.sparse", [](T v, T d) { return matrix(v).mm(d.to_sparse()); });
  check_gradients("mv", [](T v, T d) { return matrix(v).mv(d.select(1, 0)); });
  check_gradients("addmm", [](T v, T d) { return addmm(d.sum(), matrix(v), d, 2, 3); });
  check_gradients("sum", [](T v, T d) { return sparse::sum(matrix(v)).mul(d); });
  check_gradients("sum.0", [](T v, T d) { return matrix(v).sum({0}).to_dense().matmul(d); });
  check_gradients("add", [](T v, T d) { return matrix(v).add(matrix(v.sin()), 2).mm(d); });
  check_gradients("add.dense", [](T v, T d) {
    return ones({4, 3}, kDouble).mul(d.sum()).add(matrix(v), 2);
  });
  check_gradients("functions", [](T v, T d) { return matrix(v).sqrt().mul(2).neg().tanh().mm(d); });
  check_gradients("mul", [](T v, T d) {
    return matrix(v).mul(d.sum().mul(ones({4, 3}, kDouble)));
  });
  check_gradients("select",
                  [](T v, T d) { return matrix(v).select(0, 3).to_dense().mul(d.sum()); });
  check_gradients("index_select", [](T v, T d) {
    return matrix(v).index_select(0, tensor({3, 3, 0})).mm(d);
  });
  check_gradients("cat", [](T v, T d) { return cat({matrix(v), matrix(v.mul(v))}, 0).mm(d); });
  check_gradients("softmax", [](T v, T d) { return sparse::softmax(matrix(v), 1).mm(d); });
  check_gradients("log_softmax", [](T v, T d) { return sparse::log_softmax(matrix(v), 0).mm(d); });
  check_gradients("to_sparse", [](T v, T d) { return d.mul(v.sum()).to_sparse().sin(); });
  check_gradients("sparse_mask", [](T v, T d) {
    return d.mul(v.sum()).sparse_mask(
        sparse_coo_tensor(tensor({{0, 2, 0}, {1, 1, 1}}), ones({3}), {3, 2}));
  });
  check_gradients("hspmm", [](T v, T d) { return hspmm(matrix(v), d); });
  check_gradients("smm", [](T v, T d) { return smm(matrix(v), d); });
  check_gradients("copies", [](T v, T d) {
    return matrix(v).clone().to(kDouble).unsqueeze(0).select(0, 0).mm(d);
  });
}

/// A sparse leaf has a sparse gradient, with its own indices.
TEST(SparseGradients, OfSparseLeaves) {
  const Tensor s = matrix(ones({5}, kDouble)).coalesce().detach().requires_grad_();
  const Tensor d = arange(6, kDouble).view({3, 2});
  s.mm(d).sum().backward();
  ASSERT_TRUE(s.grad().is_sparse());
  EXPECT_EQ(longs(s.grad()._indices()), longs(s._indices()));
  EXPECT_EQ(values<double>(s.grad()._values()), (std::vector<double>{1, 9, 1, 5}));
  s.mm(d).sum().backward();
  EXPECT_EQ(values<double>(s.grad().coalesce().values()), (std::vector<double>{2, 18, 2, 10}));
  sparse::sum(s).backward();
  EXPECT_TRUE(s.grad().is_sparse());
}

/// Sparse gradients of a dense leaf are concatenated; with a dense one the sum is dense.
TEST(SparseGradients, Accumulate) {
  const Tensor w = ones({5, 2}).requires_grad_(), list = tensor({1, 3, 1});
  const auto look = [&] { return embedding(w, list, -1, false, /*sparse=*/true); };
  look().sum().backward();
  ASSERT_TRUE(w.grad().is_sparse());
  EXPECT_FALSE(w.grad().is_coalesced());
  EXPECT_EQ(w.grad()._nnz(), 3);
  look().mul(2).sum().backward();
  ASSERT_TRUE(w.grad().is_sparse());
  const Tensor want =
      tensor({{0.0f, 0.0f}, {6.0f, 6.0f}, {0.0f, 0.0f}, {3.0f, 3.0f}, {0.0f, 0.0f}});
  expect_same(w.grad().to_dense(), want);
  w.sum().backward();
  ASSERT_FALSE(w.grad().is_sparse());
  expect_same(w.grad(), want.add(1));
  look().sum().backward();
  ASSERT_FALSE(w.grad().is_sparse());
  w.mutable_grad().reset();
  look().sum().add(w.sum()).add(look().sum()).backward();  // both in one pass
  expect_same(w.grad(), want.mul(2).div(3).add(1));
  const auto g = autograd::grad({look().sum()}, {w});
  EXPECT_TRUE(g[0].is_sparse());
}

TEST(SparseGradients, OfEmbeddings) {
  manual_seed(9);
  const Tensor list = tensor({{1, 3, 1}, {0, 4, 3}});
  for (const bool by_frequency : {false, true})
    for (const int64_t padding : {-1, 3}) {
      const Tensor w = randn({5, 2}, kDouble).requires_grad_();
      const auto loss = [&](bool sparse) {
        return embedding(w, list, padding, by_frequency, sparse).square().sum();
      };
      const Tensor dense = autograd::grad({loss(false)}, {w})[0],
                   sparse = autograd::grad({loss(true)}, {w})[0];
      ASSERT_TRUE(sparse.is_sparse());
      EXPECT_EQ(sparse._nnz(), padding < 0 ? 6 : 4);
      expect_same(sparse.to_dense(), dense, 1e-12);
    }
}

TEST(SparseGradients, SavedTensorsAreChecked) {
  const Tensor v = ones({5}).requires_grad_();
  const Tensor s = matrix(v).coalesce();
  const Tensor d = ones({3, 2}).requires_grad_();
  const Tensor out = s.mm(d);
  {
    NoGradGuard guard;
    s.mul_(2);
  }
  EXPECT_NE(error_of([&] { out.sum().backward(); }).find("modified by an inplace operation"),
            std::string::npos);
}

}  // namespace
}  // namespace taeda
