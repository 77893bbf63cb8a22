// Sparse tensors: what they are made of, how they print, and what is refused. Texts and shapes are
// PyTorch's (2.15).
#include "taeda/ops/sparse/sparse.h"

#include <gtest/gtest.h>

#include <sstream>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Sizes = std::vector<int64_t>;

/// [[0, 0, 3], [4, 0, 5]]
Tensor coalesced() {
  return sparse_coo_tensor(tensor({{0, 1, 1}, {2, 0, 2}}), tensor({3.0f, 4.0f, 5.0f}), {2, 3})
      .coalesce();
}
/// [[0, 7, 0], [0, 0, 5]]
Tensor uncoalesced() {
  return sparse_coo_tensor(tensor({{0, 0, 1}, {1, 1, 2}}), tensor({3.0f, 4.0f, 5.0f}), {2, 3});
}
/// Rows 0 and 1 of a [3, 2] matrix.
Tensor hybrid() {
  return sparse_coo_tensor(tensor({{0, 1}}), tensor({{3.0f, 4.0f}, {5.0f, 6.0f}}), {3, 2});
}

TEST(Sparse, Parts) {
  const Tensor t = uncoalesced();
  EXPECT_TRUE(t.is_sparse());
  EXPECT_TRUE(t.layout() == kSparse);
  EXPECT_TRUE(t.options().layout() == kSparse);
  EXPECT_EQ(shape(t), (Sizes{2, 3}));
  EXPECT_EQ(t.numel(), 6);
  EXPECT_EQ(t._nnz(), 3);
  EXPECT_EQ(t.sparse_dim(), 2);
  EXPECT_EQ(t.dense_dim(), 0);
  EXPECT_FALSE(t.is_coalesced());
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_FALSE(t.has_storage());
  const Tensor c = t.coalesce();
  EXPECT_TRUE(c.is_coalesced());
  EXPECT_TRUE(c.coalesce().is_same(c));
  EXPECT_EQ(longs(c.indices()), (Sizes{0, 1, 1, 2}));
  EXPECT_EQ(floats(c.values()), (std::vector<float>{7, 5}));
  EXPECT_EQ(hybrid().sparse_dim(), 1);
  EXPECT_EQ(hybrid().dense_dim(), 1);
  EXPECT_EQ(hybrid()._dimI(), 1);
  EXPECT_EQ(hybrid()._dimV(), 1);
  EXPECT_FALSE(coalesced()._coalesced_(false).is_coalesced());
  EXPECT_EQ(ones({2}).sparse_dim(), 0);
  EXPECT_EQ(ones({2}).dense_dim(), 1);
  EXPECT_TRUE(ones({2}).layout() == kStrided);
}

TEST(Sparse, Making) {
  const Tensor at = tensor({{0, 1}, {2, 3}}), v = tensor({1.0f, 2.0f});
  EXPECT_EQ(shape(sparse_coo_tensor(at, v)), (Sizes{2, 4}));
  EXPECT_EQ(sparse_coo_tensor(at, v, {2, 4}, kDouble).dtype(), kDouble);
  EXPECT_EQ(sparse_coo_tensor(at.to(kInt), v, {2, 4})._indices().dtype(), kLong);
  EXPECT_EQ(sparse_coo_tensor({2, 3})._nnz(), 0);
  EXPECT_EQ(shape(sparse_coo_tensor({2, 3})._indices()), (Sizes{2, 0}));
  EXPECT_TRUE(zeros({2, 3}, kSparse).is_sparse());
  EXPECT_TRUE(zeros_like(coalesced()).is_sparse());
  EXPECT_EQ(coalesced().new_zeros({2})._nnz(), 0);
  EXPECT_EQ(floats(sparse_coo_tensor(tensor({{1}}), tensor(2.5f), {3}).to_dense()),
            (std::vector<float>{0, 2.5, 0}));
  const Tensor number =
      sparse_coo_tensor(zeros({0, 2}, kLong), tensor({1.0f, 2.0f}), IntArrayRef());
  EXPECT_EQ(number.to_dense().item<float>(), 3);
  EXPECT_TRUE(sparse_coo_tensor(at, v, {2, 4}, {}, true).is_coalesced());
  EXPECT_EQ(sparse_coo_tensor(zeros({1, 0}), zeros({0})).size(0), 0);
}

TEST(Sparse, WhatDoesNotFitIsRefused) {
  const Tensor at = tensor({{0, 1}, {2, 3}}), v = tensor({1.0f, 2.0f});
  EXPECT_EQ(error_of([&] {
              sparse_coo_tensor(at, v, {2, 3});
            }),
            "size is inconsistent with indices: for dim 1, size is 3 but found index 3");
  EXPECT_EQ(error_of([&] {
              sparse_coo_tensor(tensor({{0, -1}}), v);
            }),
            "found negative index -1 for dim 0");
  EXPECT_EQ(error_of([&] {
              sparse_coo_tensor(at, ones({3}), {2, 4});
            }),
            "indices and values must have same nnz, but got nnz from indices: 2, nnz from values: "
            "3");
  EXPECT_EQ(error_of([&] { sparse_coo_tensor(at, v, {2}); }),
            "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = 1, sparse_dim = "
            "2, dense_dim = 0");
  EXPECT_EQ(error_of([&] {
              sparse_coo_tensor(tensor({{0, 1}}), ones({2, 2}), {2, 3});
            }),
            "values has incorrect size, expected [2, 3], got [2, 2]");
  EXPECT_EQ(error_of([&] {
              sparse_coo_tensor(tensor({0, 1}), v, {2});
            }),
            "indices must be sparse_dim x nnz, but got: [2]");
  EXPECT_EQ(error_of([&] { uncoalesced().indices(); }),
            "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  EXPECT_EQ(error_of([&] { uncoalesced().values(); }),
            "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  EXPECT_EQ(error_of([&] { ones({2}).coalesce(); }),
            "coalesce expected sparse coordinate tensor layout but got Strided");
  EXPECT_EQ(error_of([&] {
              ones({2, 2}).to_sparse(3);
            }),
            "dense_to_sparse: sparse_dim argument must be in [0,2] range, but 3 is given");
  EXPECT_EQ(error_of([&] {
              ones({2, 2}).to_sparse(0);
            }),
            "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0");
  EXPECT_EQ(error_of([&] {
              ones({3, 3}).sparse_mask(coalesced());
            }),
            "sparse_mask(): operands have incompatible sizes; self has size [3, 3] but mask has "
            "size [2, 3]");
  EXPECT_EQ(error_of([&] {
              sparse_coo_tensor({int64_t{1} << 40, int64_t{1} << 40});
            }),
            "numel: integer multiplication overflow");
  EXPECT_EQ(error_of([&] { ones({2}, kSparse); }),
            "full(...) is not implemented for sparse layout");
}

/// An operation that does not know sparse tensors says so, by name, wherever it meets them.
TEST(Sparse, OtherOperationsSayThatTheyTakeDenseTensors) {
  const auto text = [](const std::string& operation) {
    return "Could not run '" + operation +
           "' with arguments from the 'SparseCPU' backend: it takes dense tensors only, such as "
           "to_dense() gives";
  };
  const Tensor t = coalesced(), wide = ones({2, 3});
  EXPECT_EQ(error_of([&] { t.sigmoid(); }), text("sigmoid"));
  EXPECT_EQ(error_of([&] { t.exp(); }), text("exp"));
  EXPECT_EQ(error_of([&] { t.cos(); }), text("cos"));
  EXPECT_EQ(error_of([&] { t.view({6}); }), text("view"));
  EXPECT_EQ(error_of([&] { t.mean(); }), text("mean"));
  EXPECT_EQ(error_of([&] { t.max(); }), text("max"));
  EXPECT_EQ(error_of([&] { t.eq(t); }), text("eq"));
  EXPECT_EQ(error_of([&] { t.cumsum(0); }), text("cumsum"));
  EXPECT_EQ(error_of([&] { t.expand({2, 2, 3}); }), text("expand"));
  EXPECT_EQ(error_of([&] { t.fill_(1); }), text("fill_"));
  EXPECT_EQ(error_of([&] { t.resize_({0}); }), text("resize_"));
  EXPECT_EQ(error_of([&] { wide.mul_(t); }), text("mul_"));
  EXPECT_EQ(error_of([&] { wide.bmm(t); }), "batch1 must be a 3D tensor");
  EXPECT_THROW((void)t.data_ptr(), NotImplementedError);
  EXPECT_THROW((void)t.data_ptr<float>(), NotImplementedError);
  EXPECT_EQ(error_of([&] { t.add(wide); }),
            "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  EXPECT_EQ(error_of([&] { t.reshape({6}); }), "reshape is not implemented for sparse tensors");
  EXPECT_EQ(error_of([&] { t.contiguous(); }), text("contiguous"));
  EXPECT_EQ(error_of([&] { t.div(wide); }),
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape [2, 3] "
            "for divisor)");
  EXPECT_EQ(error_of([&] { hybrid().t(); }),
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got 1 sparse and 1 "
            "dense dimensions");
  EXPECT_EQ(error_of([&] {
              cat({t, wide});
            }),
            "Concatenating sparse tensors, but a dense tensor was found at position 1.");
  EXPECT_NE(error_of([&] { wide.copy_(t); }).find("copy_() between dense and sparse"),
            std::string::npos);
  // Nothing is allocated for all the elements that are not there.
  const int64_t many = int64_t{1} << 31;
  const Tensor large = sparse_coo_tensor(tensor({{1}, {2}}), tensor({1.0f}), {many, many});
  EXPECT_EQ(error_of([&] { large.exp(); }), text("exp"));
  EXPECT_EQ(error_of([&] { large.eq(0); }), text("eq"));
}

TEST(Sparse, Prints) {
  EXPECT_EQ(coalesced().repr(),
            "tensor(indices=tensor([[0, 1, 1],\n"
            "                       [2, 0, 2]]),\n"
            "       values=tensor([3., 4., 5.]),\n"
            "       size=(2, 3), nnz=3, layout=taeda.sparse_coo)");
  EXPECT_EQ(hybrid().to(kDouble).repr(),
            "tensor(indices=tensor([[0, 1]]),\n"
            "       values=tensor([[3., 4.],\n"
            "                      [5., 6.]]),\n"
            "       size=(3, 2), nnz=2, dtype=taeda.float64, layout=taeda.sparse_coo)");
  EXPECT_EQ(sparse_coo_tensor({2}).repr(),
            "tensor(indices=tensor([], size=(1, 0)),\n"
            "       values=tensor([], size=(0,)),\n"
            "       size=(2,), nnz=0, layout=taeda.sparse_coo)");
  const Tensor v = ones({1}).requires_grad_();
  EXPECT_EQ(sparse_coo_tensor(tensor({{1}}), v, {2}).clone().repr(),
            "tensor(indices=tensor([[1]]),\n"
            "       values=tensor([1.]),\n"
            "       size=(2,), nnz=1, layout=taeda.sparse_coo, grad_fn=<CloneBackward0>)");
  std::ostringstream out;
  out << hybrid();
  EXPECT_EQ(out.str().substr(0, 38), "[ SparseCPUFloatType{}\nindices:\n 0  1\n");
}

TEST(Sparse, DenseAndBack) {
  const Tensor d = tensor({{0.0f, 2.0f, 0.0f}, {3.0f, 0.0f, 4.0f}});
  const Tensor s = d.to_sparse();
  EXPECT_EQ(longs(s.indices()), (Sizes{0, 1, 1, 1, 0, 2}));
  EXPECT_TRUE(s.is_coalesced());
  expect_same(s.to_dense(), d);
  EXPECT_TRUE(s.to_sparse().is_same(s));
  EXPECT_TRUE(d.to_dense().is_same(d));
  EXPECT_EQ(shape(d.to_sparse(1).values()), (Sizes{2, 3}));
  expect_same(d.to_sparse(1).to_dense(), d);
  expect_same(uncoalesced().to_dense(), tensor({{0.0f, 7.0f, 0.0f}, {0.0f, 0.0f, 5.0f}}));
  EXPECT_EQ(s.to_dense(kDouble).dtype(), kDouble);
  expect_same(tensor(2.0f).to_sparse().to_dense(), tensor(2.0f));
  const Tensor flags = sparse_coo_tensor(tensor({{0, 0}}), tensor({true, true}), {2});
  EXPECT_EQ(bools(flags.to_dense()), (std::vector<int>{1, 0}));
  // Elements that the mask has twice are there twice, as in PyTorch.
  EXPECT_EQ(floats(d.sparse_mask(uncoalesced())._values()), (std::vector<float>{2, 2, 4}));
  EXPECT_EQ(floats(s.sparse_mask(coalesced())._values()), (std::vector<float>{0, 3, 4}));
}

TEST(Sparse, InPlace) {
  const Tensor s = coalesced(), alias = s.detach();
  const auto version = s._version();
  s.mul_(2);
  EXPECT_EQ(floats(alias._values()), (std::vector<float>{6, 8, 10}));
  EXPECT_GT(alias._version(), version);
  s.add_(uncoalesced(), -1).neg_().tanh_();
  expect_same(s.to_dense(), tensor({{0.0f, 7.0f, -6.0f}, {-8.0f, 0.0f, -5.0f}}).tanh(), 1e-6);
  s._values().fill_(1);
  EXPECT_EQ(s.sum().item<float>(), s._nnz());
  s.copy_(hybrid().to_dense().t().to_sparse());
  expect_same(s.to_dense(), hybrid().to_dense().t());
  s.zero_();
  EXPECT_EQ(s._nnz(), 0);
  const Tensor d = ones({2, 3});
  d.add_(coalesced(), 2);
  expect_same(d, tensor({{1.0f, 1.0f, 7.0f}, {9.0f, 1.0f, 11.0f}}));
  const Tensor apart = ones({3, 2}).t();
  apart.add_(coalesced());
  expect_same(apart, tensor({{1.0f, 1.0f, 4.0f}, {5.0f, 1.0f, 6.0f}}));
}

TEST(Sparse, OtherSizes) {
  const Tensor s = coalesced();
  s.sparse_resize_({3, 4}, 2, 0);
  EXPECT_EQ(shape(s), (Sizes{3, 4}));
  EXPECT_EQ(s.to_dense().index({1, 2}).item<float>(), 5);
  EXPECT_NE(error_of([&] {
              s.sparse_resize_({1, 4}, 2, 0);
            })
                .find("shrinking the size of sparse dimensions (from [3, 4] to [1, 4]) on a "
                      "non-empty sparse tensor is not supported."),
            std::string::npos);
  s.sparse_resize_and_clear_({5, 2}, 1, 1);
  EXPECT_EQ(s._nnz(), 0);
  EXPECT_EQ(s.sparse_dim(), 1);
  s.resize_as_sparse_(hybrid());
  EXPECT_EQ(shape(s), (Sizes{3, 2}));
  Tensor out = coalesced();
  copy_sparse_to_sparse_(out, hybrid());
  expect_same(out.to_dense(), hybrid().to_dense());
}

TEST(Sparse, Copies) {
  const Tensor s = coalesced();
  const Tensor copy = s.clone();
  copy._values().fill_(0);
  EXPECT_EQ(s.sum().item<float>(), 12);
  EXPECT_EQ(s.to(kDouble).dtype(), kDouble);
  EXPECT_TRUE(s.to(kDouble).is_coalesced());
  EXPECT_FALSE(uncoalesced().to(kDouble).is_coalesced());
  EXPECT_TRUE(s.to(kFloat).is_same(s));
}

/// On a device whose memory the host cannot reach; where an operation cheats, it is an error.
TEST(Sparse, OnSimulatedDevices) {
  const Tensor s = uncoalesced().to(kSim), d = ones({3, 2}, kSim);
  EXPECT_TRUE(s.is_sim());
  expect_same(s.coalesce().to(kCPU).to_dense(), uncoalesced().to_dense());
  expect_same(s.to_dense().cpu(), uncoalesced().to_dense());
  expect_same(s.mm(d).cpu(), uncoalesced().to_dense().mm(ones({3, 2})));
  expect_same(s.add(s).t().to_dense().cpu(), uncoalesced().to_dense().mul(2).t());
  expect_same(s.sum({0}).to_dense().cpu(), uncoalesced().to_dense().sum({0}));
  expect_same(d.t().sparse_mask(s).cpu().to_dense(),
              d.cpu().t().sparse_mask(uncoalesced()).to_dense());
  EXPECT_NE(error_of([&] { s.exp(); }).find("'SparseSim' backend"), std::string::npos);
  EXPECT_NE(s.repr().find("device='sim:0', size=(2, 3)"), std::string::npos);
  EXPECT_EQ(error_of([&] { s.add(uncoalesced()); }).find("Expected all tensors to be on the same"),
            0u);
}

TEST(Sparse, Products) {
  const Tensor s = coalesced(), d = arange(6, kFloat).view({3, 2});
  const Tensor want = s.to_dense().mm(d);
  expect_same(smm(s, d).to_dense(), want);
  EXPECT_EQ(s.smm(d)._nnz(), 4);
  const Tensor rows = hspmm(s, d);
  EXPECT_EQ(rows.dense_dim(), 1);
  expect_same(rows.to_dense(), want);
  const Tensor addend = eye(2).to_sparse();
  expect_same(sspaddmm(addend, s, d, 2, 3).to_dense(), eye(2).mul(2).add(want, 3));
  expect_same(addend.sspaddmm(s, d).to_dense(), eye(2).add(want));
  expect_same(_sparse_coo_tensor_unsafe(s._indices(), s._values(), {2, 3}).mv(ones({3})),
              s.to_dense().sum({1}));
  EXPECT_EQ(error_of([&] {
              s.mm(ones({2, 2}));
            }),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)");
  EXPECT_EQ(error_of([&] { hybrid().mm(d); }),
            "mm: expected matrices with two sparse dimensions, but got one with 1 sparse and 1 "
            "dense dimensions");
}

}  // namespace
}  // namespace taeda
