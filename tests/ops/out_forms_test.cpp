// `_out` of operations that make tensors, draw, convolve, ..., and `_outf` with out behind the
// arguments; how a tensor that is written to is resized.
#include "taeda/ops/out_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taeda/ops/elementwise/compare.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"
#include "tests/kept_warnings.h"
#include "tests/values.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(OutForms, OutComesLast) {
  Tensor out = empty({0}), values_out = empty({0}), indices = empty({0}, kLong);
  const Tensor x = tensor({1.0, 3.0});
  EXPECT_TRUE(add_outf(x, x, 2, out).is_same(out));
  EXPECT_THAT(values<float>(out), ElementsAre(3, 9));
  sum_outf(x, {0}, true, kDouble, out = empty({0}, kDouble));
  EXPECT_EQ(out.sizes(), IntArrayRef({1}));
  max_outf(x, 0, false, values_out, indices);
  EXPECT_EQ(values_out.item<float>(), 3);
  EXPECT_EQ(indices.item<int64_t>(), 1);
  EXPECT_TRUE(linalg::inv_outf(eye(2), out = empty({0})).equal(eye(2)));
}

TEST(OutForms, SecondNames) {
  Tensor out = empty({0});
  const Tensor x = tensor({1.0, 0.0});
  EXPECT_TRUE(arccos_out(out, x).equal(x.acos()));
  EXPECT_TRUE(multiply_outf(x, x, out).equal(x));
  EXPECT_TRUE(subtract_out(out, x, x).equal(zeros({2})));
}

TEST(OutForms, OperationsThatMakeTensors) {
  Tensor out = empty({0}, kDouble);
  EXPECT_THAT(values<double>(arange_out(out, 1, 7, 2)), ElementsAre(1, 3, 5));
  Tensor whole = empty({2, 2}, kInt);
  EXPECT_THAT(values<int>(ones_out(whole, {2, 2})), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(values<int>(full_outf({2, 2}, 7, whole)), ElementsAre(7, 7, 7, 7));
  EXPECT_EQ(eye_out(whole, 2)[1][1].item<int>(), 1);
  manual_seed(4);
  const Tensor expected = rand({3}, kDouble);
  manual_seed(4);
  EXPECT_TRUE(rand_out(out, {3}).equal(expected));
  EXPECT_EQ(randperm_out(whole = empty({0}, kInt), 4).sum().item<int64_t>(), 6);
  EXPECT_TRUE(zeros_like_out(out, ones({3})).equal(zeros({3}, kDouble)));
  EXPECT_EQ(hann_window_out(out, 4).sizes(), IntArrayRef({4}));
}

TEST(OutForms, SequencesTakeTheShapeOfAsManyElements) {
  const Tensor whole = zeros({2, 3});
  Tensor part = whole.narrow(1, 1, 2);
  linspace_out(part, 0, 3, 4);
  EXPECT_THAT(values<float>(whole), ElementsAre(0, 0, 1, 0, 2, 3));
  arange_out(part, 4, 8);
  EXPECT_THAT(values<float>(whole), ElementsAre(0, 4, 5, 0, 6, 7));
  logspace_out(part, 0, 3, 4);
  range_out(part, 1, 4);
  EXPECT_THAT(values<float>(whole), ElementsAre(0, 1, 2, 0, 3, 4));
}

TEST(OutForms, AnOutputOfOtherSizesLeavesWhatLiesBesideIt) {
  const Tensor whole = zeros({2, 3});
  Tensor part = whole.narrow(1, 1, 2);
  ones_out(part, {5});
  EXPECT_TRUE(part.equal(ones({5})));
  EXPECT_TRUE(whole.equal(zeros({2, 3})));
}

TEST(OutForms, OperationsOnTensors) {
  Tensor out = empty({0}), indices = empty({0}, kLong);
  const Tensor x = arange(16.0).reshape({1, 1, 4, 4});
  EXPECT_TRUE(conv2d_out(out, x, ones({1, 1, 3, 3})).equal(conv2d(x, ones({1, 1, 3, 3}))));
  EXPECT_TRUE(avg_pool2d_out(out, x, 2).equal(avg_pool2d(x, 2)));
  max_pool2d_with_indices_out(out, indices, x, 2);
  EXPECT_TRUE(out.equal(max_pool2d(x, 2)));
  EXPECT_TRUE(mse_loss_out(out, x, zeros_like(x)).equal(mse_loss(x, zeros_like(x))));
  EXPECT_TRUE(einsum_out(out, "ncij->ij", {x}).equal(x[0][0]));
  EXPECT_TRUE(embedding_out(out, x[0][0], tensor({1, 0})).equal(x[0][0].flip(0).slice(0, 2)));
  EXPECT_EQ(clone_out(out, x).sizes(), x.sizes());
}

TEST(OutForms, ResizingSaysSo) {
  Tensor out = zeros({3}), none = empty({0});
  KeptWarnings kept;
  add_out(out, ones({2}), 1);
  EXPECT_THAT(kept.take(), ElementsAre(StartsWith(
                               "UserWarning: An output with one or more elements was resized since "
                               "it had shape [3], which does not match the required output shape "
                               "[2].")));
  EXPECT_THAT(values<float>(out), ElementsAre(2, 2));
  out.resize_({0});
  add_out(out, ones({4}), 1);
  add_out(none, ones({4}), 1);
  EXPECT_THAT(kept.take(), ElementsAre());
  EXPECT_EQ(none.sizes(), IntArrayRef({4}));
}

TEST(OutForms, WhatIsRefused) {
  Tensor whole = empty({2}, kLong), learned = ones({2}, TensorOptions().requires_grad(true));
  const Tensor x = ones({2});
  EXPECT_EQ(error_of([&] { add_outf(x, 1, 1, whole); }),
            "result type Float can't be cast to the desired output type Long");
  EXPECT_THAT(error_of([&] { l1_loss_out(learned, x, x); }),
              HasSubstr("functions with out=... arguments don't support automatic "
                        "differentiation"));
  EXPECT_THAT(error_of([&] { ones_out(learned, {2}); }),
              HasSubstr("one of the arguments requires"));
  Tensor undefined;
  EXPECT_THAT(error_of([&] { zeros_out(undefined, {2}); }), HasSubstr("expect a defined tensor"));
  const NoGradGuard guard;
  EXPECT_TRUE(zeros_out(learned, {2}).equal(zeros({2})));
}

}  // namespace
}  // namespace taeda
