// Matrices in compressed rows: their parts, what they become, what is computed with them and what
// is refused. Texts and shapes are PyTorch's (2.15).
#include <gtest/gtest.h>

#include <sstream>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Sizes = std::vector<int64_t>;

Tensor rows() { return tensor({0, 2, 2, 4}); }
Tensor columns() { return tensor({0, 2, 1, 3}); }

/// [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 4]]
Tensor matrix(ScalarType dtype = kFloat) {
  return sparse_csr_tensor(rows(), columns(), tensor({1.0f, 2.0f, 3.0f, 4.0f}).to(dtype), {3, 4});
}
Tensor dense(ScalarType dtype = kFloat) {
  return tensor({{1.0f, 0.0f, 2.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 3.0f, 0.0f, 4.0f}})
      .to(dtype);
}

TEST(SparseCsr, Parts) {
  const Tensor t = matrix();
  EXPECT_FALSE(t.is_sparse());
  EXPECT_TRUE(t.is_sparse_csr());
  EXPECT_FALSE(t.is_strided());
  EXPECT_TRUE(t.layout() == kSparseCsr);
  EXPECT_TRUE(t.options().layout() == kSparseCsr);
  EXPECT_FALSE(t.has_storage());
  EXPECT_EQ(shape(t), (Sizes{3, 4}));
  EXPECT_EQ(t.numel(), 12);
  EXPECT_EQ(t._nnz(), 4);
  EXPECT_EQ(t.sparse_dim(), 2);
  EXPECT_EQ(t.dense_dim(), 0);
  EXPECT_EQ(longs(t.crow_indices()), (Sizes{0, 2, 2, 4}));
  EXPECT_EQ(longs(t.col_indices()), (Sizes{0, 2, 1, 3}));
  EXPECT_EQ(floats(t.values()), (std::vector<float>{1, 2, 3, 4}));
  const Tensor narrow = sparse_csr_tensor(rows().to(kInt), columns().to(kInt), ones({4}));
  EXPECT_EQ(narrow.crow_indices().dtype(), kInt);
  EXPECT_EQ(shape(narrow), (Sizes{3, 4}));
  const Tensor hybrid = sparse_csr_tensor(tensor({0, 1, 2}), tensor({0, 1}), ones({2, 5}));
  EXPECT_EQ(shape(hybrid), (Sizes{2, 2, 5}));
  EXPECT_EQ(hybrid.dense_dim(), 1);
  EXPECT_EQ(shape(hybrid.to_dense()), (Sizes{2, 2, 5}));
}

TEST(SparseCsr, Making) {
  EXPECT_TRUE(zeros({2, 3}, kSparseCsr).is_sparse_csr());
  EXPECT_EQ(longs(zeros({2, 3}, kSparseCsr).crow_indices()), (Sizes{0, 0, 0}));
  EXPECT_EQ(matrix().new_zeros({5, 5})._nnz(), 0);
  EXPECT_TRUE(zeros_like(matrix()).is_sparse_csr());
  const Tensor v = ones({2});
  const Tensor shares = sparse_csr_tensor(tensor({0, 1, 2}), tensor({0, 1}), v, {2, 2});
  v.mul_(5);
  EXPECT_EQ(floats(shares.values()), (std::vector<float>{5, 5}));
  EXPECT_EQ(sparse_csr_tensor(tensor({0, 1, 2}), tensor({0, 1}), v, {2, 2}, kDouble).dtype(),
            kDouble);
  EXPECT_EQ(shape(sparse_csr_tensor(zeros({3}, kLong), zeros({0}, kLong), zeros({0}))),
            (Sizes{2, 0}));
  EXPECT_TRUE(
      sparse_csr_tensor(rows(), columns(), ones({4}), {3, 4}, TensorOptions().requires_grad(true))
          .is_leaf());
}

TEST(SparseCsr, DenseCoordinatesAndBack) {
  expect_same(matrix().to_dense(), dense());
  const Tensor s = dense().to_sparse_csr();
  EXPECT_EQ(longs(s.crow_indices()), (Sizes{0, 2, 2, 4}));
  EXPECT_EQ(longs(s.col_indices()), (Sizes{0, 2, 1, 3}));
  EXPECT_TRUE(s.to_sparse_csr().is_same(s));
  const Tensor coo = s.to_sparse();
  EXPECT_TRUE(coo.is_sparse());
  EXPECT_TRUE(coo.is_coalesced());
  EXPECT_EQ(longs(coo.indices()), (Sizes{0, 0, 2, 2, 0, 2, 1, 3}));
  expect_same(coo.to_sparse_csr().to_dense(), dense());
  const Tensor twice =
      sparse_coo_tensor(tensor({{1, 0, 1}, {0, 1, 0}}), tensor({1.0f, 2.0f, 3.0f}), {2, 2});
  expect_same(twice.to_sparse_csr().to_dense(), twice.to_dense());
  expect_same(zeros({0, 3}).to_sparse_csr().to_dense(), zeros({0, 3}));
  expect_same(zeros({3, 0}).to_sparse_csr().to_dense(), zeros({3, 0}));
  const Tensor wide = arange(12, kFloat).view({2, 2, 3});
  EXPECT_EQ(wide.to_sparse_csr(1).dense_dim(), 1);
  expect_same(wide.to_sparse_csr(1).to_dense(), wide);
  EXPECT_EQ(s.to_dense(kDouble).dtype(), kDouble);
}

/// Columns that do not ascend, or are there twice, are taken as they are.
TEST(SparseCsr, UnorderedColumns) {
  const Tensor at = tensor({0, 3, 3}), mixed = tensor({2, 0, 2});
  const Tensor s = sparse_csr_tensor(at, mixed, tensor({1.0f, 2.0f, 3.0f}), {2, 3});
  const Tensor want = tensor({{2.0f, 0.0f, 4.0f}, {0.0f, 0.0f, 0.0f}});
  expect_same(s.to_dense(), want);
  EXPECT_FALSE(s.to_sparse().is_coalesced());
  expect_same(s.mm(ones({3, 2})), want.mm(ones({3, 2})));
  expect_same(s.mul(want).to_dense(), want.square());
  EXPECT_EQ(error_of([&] {
              sparse_csr_tensor(at, mixed, ones({3}), {2, 3}, {}, /*check_invariants=*/true);
            }),
            "`col_indices[..., crow_indices[..., i - 1]:crow_indices[..., i]] for all i = 1, ..., "
            "nrows are sorted and distinct along the last dimension values` is not satisfied.");
}

TEST(SparseCsr, WhatDoesNotFitIsRefused) {
  const auto made = [](const Tensor& r, const Tensor& c, const Tensor& v, Sizes size) {
    return error_of([&] { sparse_csr_tensor(r, c, v, size); });
  };
  const Tensor r = tensor({0, 1, 2}), c = tensor({0, 1}), v = ones({2});
  EXPECT_EQ(made(r, c, v, {3, 3}),
            "crow_indices.shape[-1] must be equal to the number of rows + 1 (=4), but got 3");
  EXPECT_EQ(made(tensor({1, 1, 2}), c, v, {2, 3}), "`crow_indices[..., 0] == 0` is not satisfied.");
  EXPECT_EQ(made(tensor({0, 1, 1}), c, v, {2, 3}),
            "`crow_indices[..., -1] == nnz` is not satisfied.");
  const char* const order =
      "`0 <= crow_indices[..., 1:] - crow_indices[..., :-1] <= ncols` is not satisfied.";
  EXPECT_EQ(made(tensor({0, 2, 1, 2}), c, v, {3, 3}), order);
  EXPECT_EQ(made(tensor({0, 4, 4}), tensor({0, 1, 2, 1}), ones({4}), {2, 3}), order);
  EXPECT_EQ(made(tensor({0, 90, 2}), c, v, {2, 300}), order);
  EXPECT_EQ(made(r, tensor({0, 3}), v, {2, 3}), "`0 <= col_indices < ncols` is not satisfied.");
  EXPECT_EQ(made(r, tensor({0, -1}), v, {2, 3}), "`0 <= col_indices < ncols` is not satisfied.");
  EXPECT_EQ(made(r, c, ones({3}), {2, 3}),
            "col_indices.shape[-1] must be equal to nnz (=3) as defined by values.shape[0], but "
            "got 2");
  EXPECT_EQ(made(r.unsqueeze(0), c, v, {2, 3}),
            "crow_indices and col_indices dimensionalities must be equal but got 2 and 1, "
            "respectively");
  EXPECT_EQ(made(tensor(0), c, v, {2, 3}), "crow_indices must have dimensionality >= 1 but got 0");
  EXPECT_EQ(made(r, c, v, {2}),
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities (=0 + 2 "
            "+ 0) but got 1");
  EXPECT_EQ(made(r.to(kFloat), c.to(kFloat), v, {2, 3}),
            "crow_indices and col_indices dtype must be Int or Long, but got Float");
  EXPECT_EQ(made(r.to(kInt), c, v, {2, 3}),
            "crow_indices and col_indices must have the same dtype, but got Int and Long, "
            "respectively");
  EXPECT_EQ(made(r, c, ones({2, 2}), {2, 3, 3}),
            "values has incorrect size, expected [2, 3], got [2, 2]");
  EXPECT_THROW(sparse_csr_tensor(ones({2, 3}, kLong), ones({2, 2}, kLong), ones({2, 2}), {2, 2, 3}),
               NotImplementedError);
  EXPECT_EQ(error_of([&] { empty({2}, kSparseCsr); }),
            "torch.empty: Only batched sparse compressed (non-block) tensors are supported, but "
            "got size [2]");
}

TEST(SparseCsr, ConversionsThatAreRefused) {
  EXPECT_EQ(error_of([] { ones({2}).crow_indices(); }),
            "crow_indices expected sparse row compressed tensor layout but got Strided");
  EXPECT_EQ(error_of([] {
              ones({2, 2}).to_sparse().col_indices();
            }),
            "col_indices expected sparse row compressed tensor layout but got Sparse");
  EXPECT_EQ(error_of([] { matrix().indices(); }),
            "indices expected sparse coordinate tensor layout but got SparseCsr");
  EXPECT_EQ(error_of([] {
              ones({2, 2, 2}).to_sparse().to_sparse_csr();
            }),
            "coo_to_sparse_csr: conversion from Sparse to SparseCsr for input tensors with "
            "sparse_dim()!=2 is not supported");
  EXPECT_EQ(error_of([] {
              ones({2, 2, 2}).to_sparse_csr(2);
            }),
            "dense_to_sparse_csr: dense_dim argument must be in [0,1] range, but 2 is given");
  EXPECT_EQ(error_of([] { matrix().to_sparse_csr(1); }),
            "to_sparse_csr: conversion from SparseCsr to SparseCsr with dense_dim argument given "
            "is not supported");
  EXPECT_EQ(error_of([] { matrix().to_sparse(1); }),
            "sparse_compressed_to_sparse: conversion from SparseCsr to Sparse with sparse_dim "
            "argument !=2 is not supported");
  EXPECT_THROW(ones({2, 2, 2}).to_sparse_csr(), NotImplementedError);
  EXPECT_THROW(matrix().t(), NotImplementedError);
  EXPECT_THROW(matrix().transpose(0, 1), NotImplementedError);
  EXPECT_THROW((void)matrix().data_ptr(), NotImplementedError);
}

TEST(SparseCsr, OtherOperationsSayThatTheyTakeDenseTensors) {
  const Tensor t = matrix();
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { t.exp(); }, [&] { t.eq(t); }, [&] { t.mean(); }, [&] { t.view({12}); },
           [&] { t.cumsum(0); }, [&] { t.fill_(1); }, [&] { t.unsqueeze(0); },
           [&] {
             ones({3, 4}).mul_(t);
           },
           [&] { t.contiguous(); },
           [&] {
             t.permute({1, 0});
           }})
    EXPECT_THROW(call(), NotImplementedError);
  EXPECT_EQ(error_of([&] { t.copy_(dense()); }),
            "torch.copy_: copy of sparse compressed tensors having different layouts is not "
            "supported. self layout is SparseCsr and src layout is Strided");
  EXPECT_EQ(error_of([&] { t.sum({1}); }),
            "reduction operations on CSR tensors with keepdim=False is unsupported");
  const int64_t many = int64_t{1} << 31;
  const Tensor large =
      sparse_csr_tensor(zeros({3}, kLong), zeros({0}, kLong), zeros({0}), {2, many * many / 4});
  EXPECT_THROW(large.exp(), NotImplementedError);
}

TEST(SparseCsr, Prints) {
  EXPECT_EQ(matrix().repr(),
            "tensor(crow_indices=tensor([0, 2, 2, 4]),\n"
            "       col_indices=tensor([0, 2, 1, 3]),\n"
            "       values=tensor([1., 2., 3., 4.]), size=(3, 4), nnz=4,\n"
            "       layout=taeda.sparse_csr)");
  EXPECT_EQ(zeros({2, 3}, TensorOptions(kDouble).layout(kSparseCsr)).repr(),
            "tensor(crow_indices=tensor([0, 0, 0]),\n"
            "       col_indices=tensor([], size=(0,)),\n"
            "       values=tensor([], size=(0,)), size=(2, 3), nnz=0, dtype=taeda.float64,\n"
            "       layout=taeda.sparse_csr)");
  std::ostringstream out;
  out << matrix();
  EXPECT_EQ(out.str().substr(0, 41), "[ SparseCsrCPUFloatType{}\ncrow_indices:\n ");
}

TEST(SparseCsr, Products) {
  const Tensor s = matrix(), d = arange(8, kFloat).view({4, 2}), want = dense().mm(d);
  expect_same(s.mm(d), want);
  expect_same(s.matmul(d.select(1, 0)), want.select(1, 0));
  expect_same(s.mv(d.select(1, 1)), want.select(1, 1));
  expect_same(ones({2, 3}).mm(s), ones({2, 3}).mm(dense()));
  expect_same(ones({3}).matmul(s), ones({3}).matmul(dense()));
  expect_same(addmm(ones({3, 2}), s, d, 2, 3), want.mul(3).add(2));
  expect_same(addmm(ones({2}), s, d), want.add(1));
  expect_same(addmv(ones({3}), s, d.select(1, 0), 2), want.select(1, 0).add(2));
  expect_same(sparse::mm(s, d), want);
  const Tensor both = s.mm(d.to_sparse_csr());
  EXPECT_TRUE(both.is_sparse_csr());
  expect_same(both.to_dense(), want);
  expect_same(linear(d.t(), s), want.t());
  expect_same(linear(ones({2, 2, 4}), s, ones({3})), linear(ones({2, 2, 4}), dense(), ones({3})));
  expect_same(linear(d.t(), s.to_sparse()), want.t());
  const Tensor at = sparse::sampled_addmm(s, ones({3, 2}), ones({2, 4}), 0.5, 2);
  EXPECT_TRUE(at.is_sparse_csr());
  EXPECT_EQ(floats(at.values()), (std::vector<float>{4.5, 5, 5.5, 6}));
  EXPECT_EQ(error_of([&] {
              s.mm(ones({3, 2}));
            }),
            "mat1 and mat2 shapes cannot be multiplied (3x4 and 3x2)");
  EXPECT_EQ(error_of([&] {
              sparse::sampled_addmm(s, ones({2, 2}), ones({2, 4}));
            }),
            "sampled_addmm: self.shape[-2] must match mat1.shape[-2]");
  EXPECT_EQ(error_of([&] {
              sparse::sampled_addmm(dense(), ones({3, 2}), ones({2, 4}));
            }),
            "sampled_addmm: Expected self to have sparse csr layout, but got Strided");
}

TEST(SparseCsr, ElementsAndSums) {
  const Tensor s = matrix();
  for (const auto& f : std::vector<std::function<Tensor(const Tensor&)>>{
           [](const Tensor& t) { return t.neg(); }, [](const Tensor& t) { return t.sin(); },
           [](const Tensor& t) { return t.mul(2); }, [](const Tensor& t) { return t.div(2); },
           [](const Tensor& t) { return t.relu(); }, [](const Tensor& t) { return t.square(); },
           [](const Tensor& t) { return t.mul(tensor(3.0f)); },
           [](const Tensor& t) {
             return t.mul(full({3, 4}, 2));
           },
           [](const Tensor& t) { return full({4}, 2).mul(t); },
           [](const Tensor& t) { return t.sum({1}, true); }}) {
    EXPECT_TRUE(f(s).is_sparse_csr());
    expect_same(f(s).to_dense(), f(dense()), 1e-6);
  }
  const Tensor other = tensor({{0.0f, 7.0f}, {1.0f, 0.0f}, {0.0f, 5.0f}});
  const Tensor left = tensor({{2.0f, 0.0f}, {1.0f, 0.0f}, {0.0f, 1.0f}});
  const Tensor a = left.to_sparse_csr(), b = other.to_sparse_csr();
  EXPECT_TRUE(a.add(b).is_sparse_csr());
  expect_same(a.add(b, 2).to_dense(), left.add(other, 2));
  expect_same(a.sub(b).to_dense(), left.sub(other));
  expect_same(a.mul(b).to_dense(), left.mul(other));
  expect_same(a.add(other), left.add(other));
  expect_same(other.add(a), left.add(other));
  expect_same(s.sum(), tensor(10.0f));
  expect_same(s.select(0, 2).to_dense(), dense().select(0, 2));
  expect_same(full({3, 4}, 7).sparse_mask(s).to_dense(), dense().gt(0).mul(7.0));
}

TEST(SparseCsr, InPlaceAndCopies) {
  const Tensor s = matrix(), alias = s.detach();
  const auto version = s._version();
  s.mul_(2);
  EXPECT_EQ(floats(alias.values()), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_GT(alias._version(), version);
  s.add_(matrix(), -1).neg_();
  expect_same(s.to_dense(), dense().neg());
  s.copy_(eye(4).narrow(0, 0, 3).to_sparse_csr());
  expect_same(s.to_dense(), eye(4).narrow(0, 0, 3));
  s.zero_();
  EXPECT_EQ(s._nnz(), 0);
  const Tensor d = ones({3, 4});
  d.add_(matrix(), 2);
  expect_same(d, dense().mul(2).add(1));
  const Tensor copy = matrix().clone();
  copy.values().fill_(0);
  EXPECT_EQ(copy.sum().item<float>(), 0);
  EXPECT_EQ(matrix().to(kDouble).dtype(), kDouble);
  EXPECT_TRUE(matrix().to(kDouble).is_sparse_csr());
}

TEST(SparseCsr, OnSimulatedDevices) {
  const Tensor s = matrix().to(kSim), d = randn({4, 2});
  EXPECT_TRUE(s.is_sim() && s.is_sparse_csr());
  expect_same(s.mm(d.to(kSim)).cpu(), matrix().mm(d), 1e-6);
  expect_same(s.to_dense().cpu(), dense());
  expect_same(dense().to(kSim).to_sparse_csr().cpu().to_dense(), dense());
  const Tensor made = sparse_csr_tensor(rows().to(kSim), columns().to(kSim), ones({4}, kSim));
  expect_same(made.add(s).cpu().to_dense(), dense().add(dense().gt(0)));
}

/// Gradients have the elements of the tensor that they are of, in its layout.
TEST(SparseCsr, Gradients) {
  const Tensor at = rows(), col = columns();
  const auto with = [&](const Tensor& values) {
    return sparse_csr_tensor(at, col, values, {3, 4});
  };
  const Tensor values = randn({4}, kDouble).requires_grad_(),
               d = randn({4, 2}, kDouble).requires_grad_(),
               e = randn({3, 2}, kDouble).requires_grad_();
  using autograd::gradcheck;
  using Inputs = std::vector<Tensor>;
  const auto check = [](const autograd::GradcheckFn& f, const Inputs& in) {
    EXPECT_TRUE(gradcheck(f, in));
  };
  check([&](const Inputs& t) { return Inputs{with(t[0]).mm(t[1])}; }, {values, d});
  check([&](const Inputs& t) { return Inputs{addmm(t[2], with(t[0]), t[1], 2, 3)}; },
        {values, d, e});
  check([&](const Inputs& t) { return Inputs{with(t[0]).mv(t[1].select(1, 0))}; }, {values, d});
  check([&](const Inputs& t) { return Inputs{t[1].t().mm(with(t[0]))}; }, {values, e});
  check([&](const Inputs& t) { return Inputs{with(t[0]).sin().mul(with(t[0])).to_dense()}; },
        {values});
  check([&](const Inputs& t) { return Inputs{with(t[0]).mm(t[1].to_sparse_csr()).to_dense()}; },
        {values, d});
  check(
      [&](const Inputs& t) {
        return Inputs{sparse::sampled_addmm(with(t[0]), t[1], t[2].t(), 2, 3).values()};
      },
      {values, e, d});
  const Tensor leaf = matrix().requires_grad_();
  for (int i = 0; i < 2; ++i) leaf.mm(ones({4, 2})).sum().backward();
  EXPECT_TRUE(leaf.grad().is_sparse_csr());
  EXPECT_EQ(floats(leaf.grad().values()), (std::vector<float>{4, 4, 4, 4}));
  EXPECT_EQ(longs(leaf.grad().col_indices()), (Sizes{0, 2, 1, 3}));
  const Tensor whole = dense().requires_grad_();
  whole.to_sparse_csr().to_dense().mul(3).sum().backward();
  expect_same(whole.grad(), dense().gt(0).mul(3.0));
}

}  // namespace
}  // namespace taeda
