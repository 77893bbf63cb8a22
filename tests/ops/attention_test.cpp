// scaled_dot_product_attention where blocks meet, and what a row of the op table cannot say.
#include "taeda/ops/nn/attention.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "taeda/amp/autocast.h"
#include "taeda/autograd/engine.h"
#include "taeda/base/parallel_for.h"
#include "taeda/device/allocator.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using ::testing::HasSubstr;

struct AttentionSetting {
  int64_t batch, heads, groups, queries, keys, width, value_width;
  bool causal = false;
  std::vector<int64_t> mask = {};  // sizes
  ScalarType mask_dtype = kBool;
  double dropout = 0;
};

Tensor random_mask(const AttentionSetting& s, const TensorOptions& options) {
  if (s.mask.empty()) return {};
  const Tensor numbers = rand(s.mask, options.dtype(kFloat));
  if (s.mask_dtype == kBool) return numbers.lt(0.7);
  return numbers.masked_fill(numbers.gt(0.7), -INFINITY).to(s.mask_dtype);
}

/// The textbook's formula, with everything that it makes.
Tensor by_formula(const Tensor& q, const Tensor& key, const Tensor& value, const Tensor& mask,
                  const AttentionSetting& s) {
  const Tensor k = key.repeat_interleave(s.heads / s.groups, 1),
               v = value.repeat_interleave(s.heads / s.groups, 1);
  Tensor scores = q.matmul(k.transpose(-2, -1)).div(std::sqrt(static_cast<double>(s.width)));
  if (s.causal)
    scores = scores.masked_fill(
        ones({s.queries, s.keys}, TensorOptions(kBool).device(q.device())).triu(1), -INFINITY);
  if (mask.defined())
    scores = mask.dtype() == kBool ? scores.masked_fill(mask.logical_not(), -INFINITY)
                                   : scores.add(mask.to(scores.dtype()));
  return dropout(scores.softmax(-1), s.dropout).matmul(v);
}

/// Value and gradients of the operation, then of the formula in double, for the same random
/// numbers.
void expect_formula(const AttentionSetting& s, const TensorOptions& options, double tolerance) {
  manual_seed(5);
  const auto leaf = [&](int64_t heads, int64_t rows, int64_t width) {
    // As projections of (batch, rows, heads * width) lie in memory.
    return randn({s.batch, rows, heads, width}, options).transpose(1, 2);
  };
  const Tensor q = leaf(s.heads, s.queries, s.width), k = leaf(s.groups, s.keys, s.width),
               v = leaf(s.groups, s.keys, s.value_width), mask = random_mask(s, options);
  const Tensor g = randn({s.batch, s.heads, s.queries, s.value_width}, options);
  const auto run = [&](const auto& f, ScalarType dtype) {
    std::vector<Tensor> in;
    for (const Tensor& t : {q, k, v}) in.push_back(t.detach().to(dtype).requires_grad_(true));
    manual_seed(6);
    std::vector<Tensor> out{f(in)};
    for (const Tensor& t : autograd::grad({out[0]}, in, {g.to(dtype)})) out.push_back(t);
    return out;
  };
  const auto got = run(
      [&](const std::vector<Tensor>& t) {
        return scaled_dot_product_attention(t[0], t[1], t[2], mask, s.dropout, s.causal, {},
                                            s.groups != s.heads);
      },
      options.dtype());
  const auto want = run(
      [&](const std::vector<Tensor>& t) { return by_formula(t[0], t[1], t[2], mask, s); }, kDouble);
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor x = got[i].detach().cpu().to(kDouble), y = want[i].detach().cpu();
    ASSERT_EQ(x.sizes(), y.sizes());
    EXPECT_LE((x - y).abs().max().item<double>(), tolerance * y.abs().max().item<double>()) << i;
  }
}

const TensorOptions kPlainFloat(kFloat);

TEST(Attention, IsTheFormulaAcrossBlocks) {
  expect_formula({2, 3, 3, 130, 300, 40, 24}, kPlainFloat, 1e-5);
  expect_formula({1, 2, 2, 65, 257, 17, 33, true}, kPlainFloat, 1e-5);
  expect_formula({1, 2, 2, 300, 70, 16, 16, true}, kPlainFloat, 1e-5);
  expect_formula({2, 6, 2, 70, 90, 8, 8, true}, kPlainFloat, 1e-5);
  expect_formula({2, 4, 1, 5, 520, 8, 12}, kPlainFloat, 1e-5);
  expect_formula({1, 2, 2, 1, 300, 64, 64}, kPlainFloat, 1e-5);
  expect_formula({1, 1, 1, 70, 270, 12, 12}, TensorOptions(kDouble), 1e-12);
  expect_formula({1, 2, 2, 70, 270, 20, 12, true}, TensorOptions(kBFloat16), 2e-2);
  expect_formula({1, 2, 2, 3, 270, 20, 12}, TensorOptions(kHalf), 3e-3);
}

TEST(Attention, TakesEveryKindOfMask) {
  expect_formula({2, 3, 3, 80, 270, 8, 8, false, {80, 270}}, kPlainFloat, 1e-5);
  expect_formula({2, 3, 3, 80, 270, 8, 8, false, {2, 1, 1, 270}}, kPlainFloat, 1e-5);
  expect_formula({2, 3, 3, 80, 70, 8, 8, false, {2, 3, 80, 70}, kFloat}, kPlainFloat, 1e-5);
  expect_formula({2, 3, 3, 20, 70, 8, 8, false, {3, 1, 70}, kFloat}, TensorOptions(kDouble), 1e-12);
  expect_formula({2, 2, 2, 20, 70, 8, 8, false, {20, 70}, kHalf}, TensorOptions(kHalf), 3e-3);
  expect_formula({2, 2, 2, 20, 70, 8, 8, false, {20, 70}, kFloat}, TensorOptions(kHalf), 3e-3);
}

/// Dropout of the weights by the same numbers, so with the same decisions.
TEST(Attention, DropsWhatDropoutOfTheWeightsWould) {
  AttentionSetting s{2, 2, 2, 70, 275, 8, 8, true};
  s.dropout = 0.3;
  expect_formula(s, kPlainFloat, 1e-5);
  s.groups = 1;
  expect_formula(s, TensorOptions(kDouble), 1e-12);
  if (device_count(kSim) > 0) expect_formula(s, kPlainFloat.device("sim:0"), 1e-5);
}

TEST(Attention, KeepsTheMeanUnderDropout) {
  manual_seed(7);
  const Tensor q = randn({1, 4, 64, 8}), v = ones({1, 4, 500, 8});
  const Tensor out = scaled_dot_product_attention(q, randn({1, 4, 500, 8}), v, {}, 0.4);
  EXPECT_NEAR(out.mean().item<double>(), 1, 0.02);
  EXPECT_GT(out.std().item<double>(), 0.01);
  const Tensor nothing = scaled_dot_product_attention(q, q, q, {}, 1);
  EXPECT_EQ(nothing.abs().max().item<double>(), 0);
}

TEST(Attention, HasTheSameGradientWhenThatIsRecorded) {
  manual_seed(8);
  const Tensor q = randn({2, 4, 9, 6}, TensorOptions(kDouble).requires_grad(true)),
               k = randn({2, 2, 11, 6}, TensorOptions(kDouble).requires_grad(true)),
               v = randn({2, 2, 11, 5}, TensorOptions(kDouble).requires_grad(true));
  const Tensor y = scaled_dot_product_attention(q, k, v, {}, 0.3, true, 0.7, true);
  EXPECT_STREQ(y.grad_fn()->name(), "ScaledDotProductFlashAttentionForCpuBackward0");
  const Tensor g = randn(y.sizes(), TensorOptions(kDouble));
  const auto fused = autograd::grad({y}, {q, k, v}, {g}, /*retain_graph=*/true);
  const auto recorded = autograd::grad({y}, {q, k, v}, {g}, true, /*create_graph=*/true);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(fused[i].requires_grad());
    EXPECT_TRUE(recorded[i].requires_grad());
    expect_same(fused[i], recorded[i].detach(), 1e-12);
  }
}

TEST(Attention, GivesZerosWhereNothingIsSeen) {
  for (const bool learned : {false, true}) {  // fused, composed
    const auto leaf = [] { return randn({1, 1, 3, 4}).requires_grad_(true); };
    const Tensor q = leaf(), k = leaf(), v = leaf();
    Tensor mask = zeros({3, 3});
    mask.select(0, 1).fill_(-INFINITY);
    mask.requires_grad_(learned);
    const Tensor y = scaled_dot_product_attention(q, k, v, mask);
    EXPECT_EQ(y.select(2, 1).abs().max().item<float>(), 0);
    y.sum().backward();
    for (const Tensor& t : {q, k, v}) EXPECT_TRUE(t.grad().isfinite().all().item<bool>());
    EXPECT_EQ(q.grad().select(2, 1).abs().max().item<float>(), 0);
    EXPECT_EQ(mask.grad().defined(), learned);
  }
}

TEST(Attention, DoesNotDependOnThreads) {
  const int threads = get_num_threads();
  for (const int64_t batch : {1, 5}) {
    std::vector<Tensor> results[2];
    for (int i = 0; i < 2; ++i) {
      set_num_threads(i == 0 ? 1 : 3);
      manual_seed(9);
      const auto leaf = [&](int64_t rows) { return randn({batch, 1, rows, 24}).requires_grad_(); };
      const Tensor q = leaf(200), k = leaf(600), v = leaf(600);
      const Tensor y = scaled_dot_product_attention(q, k, v, {}, 0.1, true);
      y.square().sum().backward();
      results[i] = {y, q.grad(), k.grad(), v.grad()};
    }
    for (size_t r = 0; r < 4; ++r) EXPECT_TRUE(results[0][r].equal(results[1][r])) << r;
  }
  set_num_threads(threads);
}

/// Results lie as the operands do: what projections and the joining of heads make stays a view.
TEST(Attention, KeepsTheOrderOfHeadsAndRows) {
  const Tensor x = randn({2, 5, 3 * 12}).requires_grad_(true);
  std::vector<Tensor> parts;
  for (const Tensor& part : x.split(12, 2))
    parts.push_back(part.view({2, 5, 3, 4}).transpose(1, 2));
  const Tensor y = scaled_dot_product_attention(parts[0], parts[1], parts[2]);
  EXPECT_TRUE(y.transpose(1, 2).is_contiguous());
  const auto grads = autograd::grad({y.sum()}, parts);
  for (const Tensor& g : grads) EXPECT_TRUE(g.transpose(1, 2).is_contiguous());
  const Tensor plain = randn({2, 3, 5, 4});
  EXPECT_TRUE(scaled_dot_product_attention(plain, plain, plain).is_contiguous());
}

TEST(Attention, NeedsNoMemoryForTheScores) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  const Device device("sim:0");
  const int64_t t = 1500, heads = 2, width = 8;
  const auto leaf = [&] {
    return randn({1, heads, t, width}, TensorOptions(device)).requires_grad_(true);
  };
  const Tensor q = leaf(), k = leaf(), v = leaf();
  allocator::reset_peak_memory_stats(device);
  const int64_t before = allocator::memory_stats(device).allocated;
  scaled_dot_product_attention(q, k, v, {}, 0.1, true).sum().backward();
  const int64_t used = allocator::memory_stats(device).peak_allocated - before;
  // Results, gradients, and what is saved for each row.
  EXPECT_LT(used, 10 * heads * t * width * 4);
  EXPECT_LT(used, t * t);
}

TEST(Attention, RunsInLowerPrecisionUnderAutocast) {
  const Tensor q = randn({1, 2, 4, 8}), mask = zeros({4, 4});
  const amp::autocast guard(kCPU, kBFloat16);
  EXPECT_EQ(scaled_dot_product_attention(q, q, q).dtype(), kBFloat16);
  EXPECT_EQ(scaled_dot_product_attention(q, q, q, mask).dtype(), kBFloat16);
}

TEST(Attention, BroadcastsBatchesAndTakesWideHeads) {
  manual_seed(10);
  const Tensor q = randn({2, 3, 4, 5}), k = randn({1, 3, 6, 5}), v = randn({1, 1, 6, 5});
  expect_same(scaled_dot_product_attention(q, k, v),
              scaled_dot_product_attention(q, k.expand({2, 3, 6, 5}), v.expand({2, 3, 6, 5})),
              1e-6);
  expect_formula({1, 1, 1, 3, 4, 300, 300}, kPlainFloat, 1e-5);
}

TEST(Attention, NamesWhatDoesNotFit) {
  const Tensor q = ones({2, 4, 3, 8}), line = ones({8});
  const auto attend = [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& mask = {},
                         double p = 0, bool causal = false, bool gqa = false) {
    return error_of([&] { scaled_dot_product_attention(a, b, c, mask, p, causal, {}, gqa); });
  };
  EXPECT_THAT(attend(q, q.to(kDouble), q),
              HasSubstr("Expected query, key, and value to have the same dtype, but got "
                        "query.dtype: float key.dtype: double and value.dtype: float instead."));
  if (device_count(kSim) > 0) {
    EXPECT_THAT(attend(q, q.to(Device("sim:0")), q),
                HasSubstr("Expected query, key, and value to have the same device type, but got "
                          "query.device: cpu key.device: sim:0 and value.device: cpu instead."));
  }
  EXPECT_THAT(attend(q, line, q),
              HasSubstr("Expected query, key, and value to all be  at least 2 dimensional, but got "
                        "query.dim: 4 key.dim: 1 and value.dim: 4 instead."));
  EXPECT_THAT(attend(q, q, q, ones({3, 3}), 0, true),
              HasSubstr("Explicit attn_mask should not be set when is_causal=True"));
  EXPECT_THAT(attend(q, q, q, ones({3, 3}, kLong)),
              HasSubstr("Expected attn_mask dtype to be bool or float or to match query dtype, but "
                        "got attn_mask.dtype: Long and  query.dtype: Float instead."));
  EXPECT_THAT(attend(q, q, q, {}, 1.5),
              HasSubstr("dropout probability has to be between 0 and 1, but got 1.5"));
  EXPECT_THAT(attend(q, ones({2, 3, 3, 8}), ones({2, 3, 3, 8}), {}, 0, false, true),
              HasSubstr("Number of heads in key and value must divide the number of heads in"));
  EXPECT_THAT(attend(ones({3, 8}), ones({3, 8}), ones({3, 8}), {}, 0, false, true),
              HasSubstr("enable_gqa expects query, key, and value to be at least 3 dimensional"));
  EXPECT_THAT(attend(q, ones({2, 4, 3, 7}), q), HasSubstr("8"));
  EXPECT_THAT(attend(q, q, q, ones({5, 5})), HasSubstr("must match"));
  const Tensor whole = ones({2, 3}, kLong);
  EXPECT_THAT(attend(whole, whole, whole), HasSubstr("not implemented for 'Long'"));
}

}  // namespace
}  // namespace taeda
