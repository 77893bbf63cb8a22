// The dtype that every operation with a policy gives, on the CPU and on an accelerator.
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "taeda/amp/autocast.h"
#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/nn/functional/attention.h"
#include "taeda/nn/functional/linear.h"
#include "taeda/nn/functional/loss.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/nn/functional/pooling.h"
#include "taeda/nn/functional/vision.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/linalg_tensors.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/nn/ctc_loss.h"
#include "taeda/ops/nn/fractional_pool.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/nn/rnn.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/operations.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/statistics.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda {
namespace {

struct Row {
  const char* name;
  std::function<Tensor(const Tensor&)> run;  // of a 4 x 4 tensor of numbers in (0, 1)
};

Tensor batch(const Tensor& x) { return x.expand({2, 4, 4}); }
Tensor classes(const Tensor& x) { return arange(4, TensorOptions(kLong).device(x.device())); }
Tensor image(const Tensor& x) { return x.reshape({1, 1, 4, 4}); }

std::vector<Row> lower_everywhere() {
  return {
      {"mm", [](const Tensor& x) { return mm(x, x); }},
      {"bmm", [](const Tensor& x) { return bmm(batch(x), batch(x)); }},
      {"matmul", [](const Tensor& x) { return matmul(batch(x), x); }},
      {"matmul of vectors", [](const Tensor& x) { return matmul(x[0], x[1]); }},
      {"einsum",
       [](const Tensor& x) {
         return einsum("ij,jk->ik", {x, x});
       }},
      {"addmm", [](const Tensor& x) { return addmm(x, x, x); }},
      {"baddbmm", [](const Tensor& x) { return baddbmm(batch(x), batch(x), batch(x)); }},
      {"addbmm", [](const Tensor& x) { return addbmm(x, batch(x), batch(x)); }},
      {"linear", [](const Tensor& x) { return linear(x, x, x[0]); }},
      {"conv1d", [](const Tensor& x) { return conv1d(batch(x), batch(x).slice(2, 0, 2)); }},
      {"conv2d", [](const Tensor& x) { return conv2d(image(x), image(x), x[0].narrow(0, 0, 1)); }},
      {"conv3d", [](const Tensor& x) { return conv3d(image(x), image(x).unsqueeze(0)); }},
      {"conv_transpose1d",
       [](const Tensor& x) {
         return conv_transpose1d(batch(x), x.expand({4, 4, 4}));
       }},
      {"conv_transpose3d",
       [](const Tensor& x) { return conv_transpose3d(image(x), image(x).unsqueeze(0)); }},
      {"conv_transpose2d", [](const Tensor& x) { return conv_transpose2d(image(x), image(x)); }},
      {"prelu", [](const Tensor& x) { return prelu(x, x[0]); }},
      {"scaled_dot_product_attention",
       [](const Tensor& x) {
         return nn::functional::scaled_dot_product_attention(batch(x), batch(x), batch(x));
       }},
  };
}

std::vector<Row> recurrent() {
  const auto gates = [](const Tensor& x, int64_t n) { return x.repeat({n, 1}); };
  return {
      {"lstm",
       [=](const Tensor& x) {
         const Tensor h = x.unsqueeze(0), w = gates(x, 4);
         return std::get<0>(lstm(batch(x), {h, h}, {w, w}, false, 1, 0, false, false, false));
       }},
      {"rnn_tanh",
       [](const Tensor& x) {
         const Tensor h = x.unsqueeze(0);
         return std::get<0>(rnn_tanh(batch(x), h, {x, x}, false, 1, 0, false, false, false));
       }},
      {"rnn_relu",
       [](const Tensor& x) {
         const Tensor h = x.unsqueeze(0);
         return std::get<0>(rnn_relu(batch(x), h, {x, x}, false, 1, 0, false, false, false));
       }},
      {"rnn_tanh_cell", [](const Tensor& x) { return rnn_tanh_cell(x, x, x, x); }},
      {"rnn_relu_cell", [](const Tensor& x) { return rnn_relu_cell(x, x, x, x); }},
  };
}

/// Their results on the host are as wide as the states that they begin with.
std::vector<Row> with_states() {
  const auto gates = [](const Tensor& x, int64_t n) { return x.repeat({n, 1}); };
  return {
      {"gru",
       [=](const Tensor& x) {
         const Tensor h = x.unsqueeze(0), w = gates(x, 3);
         return std::get<0>(gru(batch(x), h, {w, w}, false, 1, 0, false, false, false));
       }},
      {"lstm_cell",
       [=](const Tensor& x) {
         return std::get<0>(lstm_cell(x, {x, x}, gates(x, 4), gates(x, 4)));
       }},
      {"gru_cell", [=](const Tensor& x) { return gru_cell(x, x, gates(x, 3), gates(x, 3)); }},
  };
}

std::vector<Row> lower_on_accelerators() {
  return {
      {"mv", [](const Tensor& x) { return mv(x, x[0]); }},
      {"addmv", [](const Tensor& x) { return addmv(x[0], x, x[0]); }},
      {"addr", [](const Tensor& x) { return addr(x, x[0], x[1]); }},
  };
}

std::vector<Row> float32_everywhere() {
  return {
      {"prod", [](const Tensor& x) { return prod(x); }},
      {"prod along", [](const Tensor& x) { return prod(x, 1); }},
      {"mse_loss", [](const Tensor& x) { return mse_loss(x, x); }},
      {"l1_loss", [](const Tensor& x) { return l1_loss(x, x); }},
      {"smooth_l1_loss", [](const Tensor& x) { return smooth_l1_loss(x, x); }},
      {"huber_loss", [](const Tensor& x) { return huber_loss(x, x); }},
      {"binary_cross_entropy_with_logits",
       [](const Tensor& x) { return binary_cross_entropy_with_logits(x, x); }},
      {"kl_div", [](const Tensor& x) { return kl_div(x, x, Reduction::Sum); }},
      {"poisson_nll_loss", [](const Tensor& x) { return poisson_nll_loss(x, x); }},
      {"hinge_embedding_loss", [](const Tensor& x) { return hinge_embedding_loss(x, x); }},
      {"soft_margin_loss", [](const Tensor& x) { return soft_margin_loss(x, x); }},
      {"nll_loss", [](const Tensor& x) { return nll_loss(x, classes(x)); }},
      {"cross_entropy", [](const Tensor& x) { return cross_entropy(x, classes(x)); }},
      {"cross_entropy, smoothed",
       [](const Tensor& x) {
         return cross_entropy(x, classes(x), {}, Reduction::Mean, -100, 0.1);
       }},
      {"margin_ranking_loss", [](const Tensor& x) { return margin_ranking_loss(x, x, x); }},
      {"cosine_embedding_loss",
       [](const Tensor& x) { return cosine_embedding_loss(x, x, classes(x)); }},
      {"triplet_margin_loss", [](const Tensor& x) { return triplet_margin_loss(x, x, x); }},
      {"cdist", [](const Tensor& x) { return cdist(x, x); }},
      {"multi_margin_loss",
       [](const Tensor& x) { return nn::functional::multi_margin_loss(x, classes(x)); }},
      {"multilabel_margin_loss",
       [](const Tensor& x) { return nn::functional::multilabel_margin_loss(x, x.to(kLong)); }},
  };
}

std::vector<Row> float32_on_accelerators() {
  return {
      {"softmax", [](const Tensor& x) { return softmax(x, 1); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, 1); }},
      {"softmin", [](const Tensor& x) { return softmin(x, 1); }},
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"expm1", [](const Tensor& x) { return expm1(x); }},
      {"log", [](const Tensor& x) { return log(x); }},
      {"log2", [](const Tensor& x) { return log2(x); }},
      {"log10", [](const Tensor& x) { return log10(x); }},
      {"log1p", [](const Tensor& x) { return log1p(x); }},
      {"asin", [](const Tensor& x) { return asin(x); }},
      {"acos", [](const Tensor& x) { return acos(x); }},
      {"sinh", [](const Tensor& x) { return sinh(x); }},
      {"cosh", [](const Tensor& x) { return cosh(x); }},
      {"tan", [](const Tensor& x) { return tan(x); }},
      {"rsqrt", [](const Tensor& x) { return rsqrt(x); }},
      {"reciprocal", [](const Tensor& x) { return reciprocal(x); }},
      {"softplus", [](const Tensor& x) { return softplus(x); }},
      {"pow", [](const Tensor& x) { return pow(x, 2); }},
      {"pow of tensors", [](const Tensor& x) { return pow(x, x); }},
      {"pow of a number", [](const Tensor& x) { return pow(Scalar(2), x); }},
      {"sum", [](const Tensor& x) { return sum(x); }},
      {"sum along", [](const Tensor& x) { return sum(x, 1, true); }},
      {"cumsum", [](const Tensor& x) { return cumsum(x, 0); }},
      {"cumprod", [](const Tensor& x) { return cumprod(x, 0); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x, 1); }},
      {"norm", [](const Tensor& x) { return norm(x); }},
      {"norm along", [](const Tensor& x) { return norm(x, 2, 1); }},
      {"vector_norm", [](const Tensor& x) { return vector_norm(x); }},
      {"layer_norm", [](const Tensor& x) { return layer_norm(x, 4); }},
      {"group_norm", [](const Tensor& x) { return group_norm(x, 2); }},
      {"cosine_similarity", [](const Tensor& x) { return cosine_similarity(x, x); }},
  };
}

std::vector<Row> float32_on_the_host() {
  const auto regular = [](const Tensor& x) {
    return mm(x.to(kFloat), x.to(kFloat).t()).to(x.dtype()) + eye(4, x.options());
  };
  const auto volume = [](const Tensor& x) { return x.reshape({1, 1, 4, 2, 2}); };
  namespace F = nn::functional;
  return {
      {"trace", [](const Tensor& x) { return trace(x); }},
      {"quantile", [](const Tensor& x) { return quantile(x, 0.5); }},
      {"quantile of several",
       [](const Tensor& x) { return quantile(x, full({2}, 0.5, x.options())); }},
      {"nanquantile", [](const Tensor& x) { return nanquantile(x, 0.5); }},
      {"ctc_loss",
       [](const Tensor& x) {
         return ctc_loss(x.unsqueeze(1).log(), ones({1, 1}, kLong), {4}, {1});
       }},
      {"max_pool3d", [=](const Tensor& x) { return max_pool3d(volume(x), 2); }},
      {"max_pool3d_with_indices",
       [=](const Tensor& x) { return std::get<0>(max_pool3d_with_indices(volume(x), 2)); }},
      {"adaptive_avg_pool3d", [=](const Tensor& x) { return adaptive_avg_pool3d(volume(x), 1); }},
      {"adaptive_max_pool3d",
       [=](const Tensor& x) { return std::get<0>(adaptive_max_pool3d(volume(x), 1)); }},
      {"fractional_max_pool2d",
       [](const Tensor& x) {
         return std::get<0>(fractional_max_pool2d(image(x), 2, 2, rand({1, 1, 2}, x.options())));
       }},
      {"fractional_max_pool3d",
       [=](const Tensor& x) {
         return std::get<0>(fractional_max_pool3d(volume(x), 1, 1, rand({1, 1, 3}, x.options())));
       }},
      {"cholesky_ex",
       [=](const Tensor& x) { return std::get<0>(linalg::cholesky_ex(regular(x))); }},
      {"solve", [=](const Tensor& x) { return linalg::solve(regular(x), x); }},
      {"inv_ex", [=](const Tensor& x) { return std::get<0>(linalg::inv_ex(regular(x))); }},
      {"lu_factor_ex",
       [=](const Tensor& x) { return std::get<0>(linalg::lu_factor_ex(regular(x))); }},
      {"lu_solve",
       [=](const Tensor& x) { return linalg::lu_solve(regular(x), arange(1, 5, kInt), x); }},
      {"qr", [](const Tensor& x) { return std::get<0>(linalg::qr(x)); }},
      {"eigh", [](const Tensor& x) { return std::get<0>(linalg::eigh(x)); }},
      {"eigvalsh", [](const Tensor& x) { return linalg::eigvalsh(x); }},
      {"eig", [](const Tensor& x) { return real(std::get<0>(linalg::eig(x))); }},
      {"eigvals", [](const Tensor& x) { return real(linalg::eigvals(x)); }},
      {"svd", [](const Tensor& x) { return std::get<1>(linalg::svd(x)); }},
      {"svdvals", [](const Tensor& x) { return linalg::svdvals(x); }},
      {"pinv", [](const Tensor& x) { return linalg::pinv(x); }},
      {"matrix_rank", [](const Tensor& x) { return linalg::matrix_rank(x).to(kFloat); }},
      {"lstsq", [](const Tensor& x) { return std::get<0>(linalg::lstsq(x, x)); }},
      {"cholesky_solve", [=](const Tensor& x) { return cholesky_solve(x, regular(x)); }},
      {"cholesky_inverse", [=](const Tensor& x) { return cholesky_inverse(regular(x)); }},
      {"householder_product", [](const Tensor& x) { return linalg::householder_product(x, x[0]); }},
      {"ormqr", [](const Tensor& x) { return ormqr(x, x[0], x); }},
      {"geqrf", [](const Tensor& x) { return std::get<0>(geqrf(x)); }},
      {"triangular_solve", [](const Tensor& x) { return std::get<0>(triangular_solve(x, x)); }},
      {"polar", [](const Tensor& x) { return real(polar(x, x)); }},
      {"view_as_complex",
       [](const Tensor& x) {
         return real(view_as_complex(x.reshape({8, 2})));
       }},
      // Without a row in the table of operations.
      {"grid_sample",
       [](const Tensor& x) {
         return F::grid_sample(image(x), x.reshape({1, 4, 2, 2}));
       }},
      {"max_unpool",
       [](const Tensor& x) {
         return F::max_unpool2d(image(x), arange(16, kLong).reshape({1, 1, 4, 4}),
                                {.kernel_size = 1});
       }},
      {"reflected",
       [](const Tensor& x) {
         return F::pad(image(x), {1, 1, 1, 1}, kReflect);
       }},
      {"replicated",
       [](const Tensor& x) {
         return F::pad(image(x), {1, 1, 1, 1}, kReplicate);
       }},
  };
}

std::vector<Row> without_policy() {
  return {
      {"add", [](const Tensor& x) { return add(x, x); }},
      {"mul", [](const Tensor& x) { return mul(x, 2); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"mean", [](const Tensor& x) { return mean(x); }},
      {"avg_pool2d", [](const Tensor& x) { return avg_pool2d(image(x), 2); }},
      {"batch_norm",
       [](const Tensor& x) { return batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5); }},
      {"bilinear",
       [](const Tensor& x) {
         return nn::functional::bilinear(x, x, stack({x, x}));
       }},
  };
}

class AutocastPolicy : public testing::Test {
 protected:
  void SetUp() override {
    sim::configure(2);
    full_[0] = rand({4, 4}).mul(0.8).add(0.1);
    full_[1] = full_[0].to("sim:0");
  }
  /// The dtype of every row's result for an input of `dtype`, under autocast on device `d`.
  void expect(const std::vector<Row>& rows, int d, ScalarType input, ScalarType result) {
    const Tensor x = full_[d].to(input);
    const amp::autocast autocast(x.device());
    for (const Row& row : rows) EXPECT_EQ(row.run(x).dtype(), result) << row.name << " on " << d;
  }
  Tensor full_[2];
};

constexpr int kHost = 0, kAccelerator = 1;

TEST_F(AutocastPolicy, LowerPrecision) {
  expect(lower_everywhere(), kHost, kFloat, kBFloat16);
  expect(lower_everywhere(), kAccelerator, kFloat, kHalf);
  expect(recurrent(), kHost, kFloat, kBFloat16);
  expect(recurrent(), kAccelerator, kFloat, kHalf);
  expect(with_states(), kHost, kFloat, kFloat);
  expect(with_states(), kHost, kBFloat16, kBFloat16);
  expect(with_states(), kAccelerator, kFloat, kHalf);
  expect(lower_on_accelerators(), kAccelerator, kFloat, kHalf);
  expect(lower_on_accelerators(), kHost, kFloat, kFloat);
}

TEST_F(AutocastPolicy, Float32) {
  expect(float32_everywhere(), kHost, kBFloat16, kFloat);
  expect(float32_everywhere(), kAccelerator, kHalf, kFloat);
  expect(float32_on_accelerators(), kAccelerator, kHalf, kFloat);
  expect(float32_on_accelerators(), kAccelerator, kBFloat16, kFloat);
  expect(float32_on_accelerators(), kHost, kBFloat16, kBFloat16);
  expect(float32_on_the_host(), kHost, kBFloat16, kFloat);
}

/// Every policy that a declaration states is one of those tested here, with the same cast.
TEST(AutocastPolicies, AreThoseDeclared) {
  std::map<std::string, std::string> tested = {
      {"dot", "promote accelerators"},
      {"scatter_add", "promote accelerators"},
      {"index_put", "promote accelerators"},
      {"index_copy", "promote"},
      {"avg_pool3d", "float32 host"},
      {"binary_cross_entropy", "float32 host unsafe accelerators"}};
  const auto add = [&](const std::vector<Row>& rows, const std::string& policy) {
    for (const Row& row : rows) {
      const std::string name = row.name;
      tested[name.substr(0, name.find_first_of(" ,"))] = policy;
    }
  };
  add(lower_everywhere(), "lower");
  add(recurrent(), "lower");
  add(with_states(), "lower");
  add(float32_on_the_host(), "float32 host");
  add(lower_on_accelerators(), "lower accelerators");
  add(float32_everywhere(), "float32");
  add(float32_on_accelerators(), "float32 accelerators");
  int declared = 0;
  for (const Operation& o : operations()) {
    if (o.autocast.empty()) continue;
    ++declared;
    EXPECT_EQ(tested[std::string(o.name)], o.autocast) << o.name;
  }
  EXPECT_GT(declared, 70);
}

TEST_F(AutocastPolicy, TheRestKeepsItsDtype) {
  for (const ScalarType t : {kFloat, kBFloat16}) expect(without_policy(), kHost, t, t);
  for (const ScalarType t : {kFloat, kHalf}) expect(without_policy(), kAccelerator, t, t);
}

TEST_F(AutocastPolicy, DoublesIntegersAndOtherDevicesAreLeftAlone) {
  expect(lower_everywhere(), kHost, kDouble, kDouble);
  expect(float32_everywhere(), kHost, kDouble, kDouble);
  const amp::autocast autocast("sim");
  EXPECT_EQ(mm(full_[kHost], full_[kHost]).dtype(), kFloat);
  EXPECT_EQ(sum(ones({3}, TensorOptions(kInt).device("sim:0"))).dtype(), kLong);
}

TEST_F(AutocastPolicy, AnExplicitDtypeWins) {
  const Tensor x = full_[kAccelerator].to(kHalf);
  const amp::autocast autocast("sim");
  EXPECT_EQ(softmax(x, 1, kHalf).dtype(), kHalf);
  EXPECT_EQ(sum(x, kHalf).dtype(), kHalf);
  EXPECT_EQ(cumsum(x, 0, kDouble).dtype(), kDouble);
}

TEST_F(AutocastPolicy, OperandsArePromotedToTheWidest) {
  const Tensor wide = full_[kAccelerator], narrow = wide.to(kHalf);
  const Tensor rows = classes(wide), index = rows.expand({4, 4});
  EXPECT_THROW(dot(wide[0], narrow[1]), Error);
  const amp::autocast autocast("sim");
  EXPECT_EQ(cat({wide, narrow}).dtype(), kFloat);
  EXPECT_EQ(stack({narrow, wide}).dtype(), kFloat);
  EXPECT_EQ(cat({narrow, narrow}).dtype(), kHalf);
  EXPECT_EQ(addcmul(narrow, wide, narrow).dtype(), kFloat);
  EXPECT_EQ(addcdiv(narrow, narrow, wide).dtype(), kFloat);
  EXPECT_EQ(atan2(narrow, wide).dtype(), kFloat);
  EXPECT_EQ(dot(wide[0], narrow[1]).dtype(), kFloat);
  EXPECT_EQ(dot(narrow[0], narrow[1]).dtype(), kHalf);
  EXPECT_EQ(scatter_add(narrow, 0, index, wide).dtype(), kFloat);
  EXPECT_EQ(index_copy(wide, 0, rows, narrow).dtype(), kFloat);
  EXPECT_EQ(index_put(narrow, {TensorIndex(rows)}, wide).dtype(), kFloat);
}

TEST_F(AutocastPolicy, BinaryCrossEntropyIsUnsafeOnAcceleratorsOnly) {
  expect({{"bce", [](const Tensor& x) { return binary_cross_entropy(x, x); }}}, kHost, kBFloat16,
         kFloat);
  expect({{"avg_pool3d",
           [](const Tensor& x) {
             return avg_pool3d(image(x), {1, 2, 2});
           }}},
         kHost, kBFloat16, kFloat);
  const amp::autocast autocast("sim");
  try {
    binary_cross_entropy(full_[kAccelerator], full_[kAccelerator]);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("torch.nn.BCELoss are unsafe to autocast"));
  }
}

}  // namespace
}  // namespace taeda
